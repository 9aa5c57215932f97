"""A model from a name, a file, a folder, a paste or a repository, and in which format."""

import json
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType
from gguf_files import LLAMA_KEYS, llama_tensors, write
from llama_config import LLAMA, PARAMS

from advisor.cli.main import main
from advisor.errors import AdvisorError, InputError, Refusal, UnknownName
from advisor.failures import NetworkError
from advisor.model import catalog, hub, resolve
from advisor.model.config.read import describe as describe_config
from advisor.model.gguf.header import NeedMoreBytes
from advisor.model.resolve import ReferenceKind, find, way


@pytest.fixture
def gguf_file(tmp_path: Path) -> Path:
    tensors = llama_tensors(GGMLQuantizationType.Q4_K)
    return write(tmp_path / "small.gguf", "llama", LLAMA_KEYS, tensors)


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    folder = tmp_path / "My-Llama"
    folder.mkdir()
    path = folder / "config.json"
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Llama-3.1-70B", ReferenceKind.NAME),
        ("llama 3.1 70b", ReferenceKind.NAME),
        ("meta-llama/Llama-3.1-8B", ReferenceKind.NAME),  # the catalogue has it
        ("nobody/nothing-7b", ReferenceKind.REPOSITORY),
        ("nobody/nothing/else", ReferenceKind.NAME),
        ("model.gguf", ReferenceKind.PATH),
        ("folder/Config.JSON", ReferenceKind.PATH),
        ("/models/qwen", ReferenceKind.PATH),
        ("./qwen", ReferenceKind.PATH),
        ("../qwen", ReferenceKind.PATH),
        ("~/models/qwen", ReferenceKind.PATH),
        (r"C:\models\qwen", ReferenceKind.PATH),
        (r"\\server\models\qwen", ReferenceKind.PATH),
        ('{"model_type": "llama"}', ReferenceKind.CONFIG),
        ("", ReferenceKind.NAME),
    ],
)
def test_meaning_of_a_text(text: str, expected: ReferenceKind) -> None:
    assert way(text) is expected


def test_names_of_the_catalogue_get_the_usual_or_the_requested_format() -> None:
    assert resolve.find("Llama-3.1-8B").model.format == "Q4_K_M"
    resolved = resolve.find(" llama 3.1 8b ", "Q8_0")
    assert (resolved.model.name, resolved.model.format, resolved.stored) == (
        "Llama-3.1-8B",
        "Q8_0",
        "",
    )
    assert resolved.model.architecture.params == PARAMS
    assert resolved.source.startswith("https://")


def test_notes_on_a_name_are_shown() -> None:
    row = next(row for row in catalog.model_rows().values() if row.layers and row.note)
    (note,) = resolve.find(row.name).notes
    assert note[1:] == f"{row.note[1:]}."


def test_the_match_of_each_name_is_reported() -> None:
    resolved = resolve.find("somebody/Llama-3.1-8B-GGUF")
    assert resolved.taken_as == "Llama-3.1-8B"
    assert resolved.notes == ("somebody/Llama-3.1-8B-GGUF is taken as Llama-3.1-8B.",)
    literal = resolve.find("meta-llama/Llama-3.1-8B")
    assert (literal.taken_as, literal.notes) == ("", ())


def test_unknown_names_come_with_close_ones() -> None:
    with pytest.raises(UnknownName) as caught:
        resolve.find("Lama-3.1-70")
    assert "Llama-3.1-70B" in caught.value.close


def test_a_gguf_file_has_its_own_bytes_in_its_own_format(gguf_file: Path) -> None:
    resolved = resolve.find(str(gguf_file))
    assert (resolved.model.name, resolved.stored, resolved.model.format) == (
        "Small Llama",
        "Q4_K_M",
        "Q4_K_M",
    )
    # Q4_K is 144 bytes for 256 weights; norms are 4 bytes each. Two layers of 589,824 weights,
    # token table and head of 24,576 each, five norms of 256.
    assert resolved.model.file_bytes == (2 * 589_824 + 2 * 24_576) / 256 * 144 + 5 * 256 * 4


def test_another_format_of_a_gguf_file_is_worked_out(gguf_file: Path) -> None:
    own = resolve.from_file(gguf_file)
    resolved = resolve.from_file(gguf_file, "Q8_0")
    assert (resolved.stored, resolved.model.format) == ("Q4_K_M", "Q8_0")
    assert resolved.model.file_bytes > own.model.file_bytes


def test_the_beginning_of_a_gguf_file_is_enough(gguf_file: Path) -> None:
    data = gguf_file.read_bytes()
    assert resolve.from_prefix("cut.gguf", data[:4096]).model.layers == 2
    with pytest.raises(NeedMoreBytes):
        resolve.from_prefix("cut.gguf", data[:200])


def test_a_config_is_not_called_like_any_folder_and_keeps_its_path(config_file: Path) -> None:
    resolved = resolve.find(str(config_file))
    assert resolved.model.name == "llama model"
    assert resolved.source == str(config_file)
    assert resolved.model.architecture.params == PARAMS
    assert resolved.stored == resolved.model.format == "BF16-hf"


def test_a_folder_stands_for_its_config(config_file: Path) -> None:
    assert resolve.find(str(config_file.parent)).source == str(config_file)


def test_a_cached_repository_is_called_by_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "models--owner--Their-Model" / "snapshots" / ("a" * 40)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    assert resolve.from_file(folder).model.name == "Their-Model"


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ({"_name_or_path": "meta-llama/Llama-3.1-8B"}, "Llama-3.1-8B"),
        ({"_name_or_path": "C:\\models\\Mine\\"}, "Mine"),
        ({"_name_or_path": 5}, "llama model"),
        ({"_name_or_path": "\n\t"}, "Pasted model"),
        ({}, "llama model"),
    ],
)
def test_a_paste_is_named_by_its_content(origin: dict[str, object], name: str) -> None:
    resolved = resolve.find(json.dumps(LLAMA | origin))
    assert resolved.model.name == name
    assert resolved.model.architecture.params == PARAMS


@pytest.mark.parametrize("text", ["{", "{}", '{"model_type": "nobody"}'])
def test_errors_of_a_file_name_its_place_and_those_of_a_paste_say_so(
    text: str, tmp_path: Path
) -> None:
    folder = tmp_path / "my-run"
    folder.mkdir()
    (folder / "config.json").write_text(text, encoding="utf-8")
    (folder / "other.json").write_text(text, encoding="utf-8")
    for path, place in ((folder, "my-run"), (folder / "other.json", "other")):
        with pytest.raises(AdvisorError) as raised:
            resolve.find(str(path))
        assert place in str(raised.value) or "nobody" in str(raised.value)
        assert "asted" not in str(raised.value)


def test_a_format_that_states_no_bits_is_refused_with_its_range() -> None:
    odd = json.dumps(LLAMA | {"quantization_config": {"quant_method": "vptq"}})
    with pytest.raises(Refusal, match=r"vptq, .* 2 bits to .* 16"):
        resolve.from_config(odd)
    assert resolve.from_config(odd, form="Q4_K_M").model.format == "Q4_K_M"


@pytest.mark.parametrize("text", ["{", '{"hidden_size": 1}', "{}", "{" * 100_000])
def test_pastes_that_are_no_config(text: str) -> None:
    with pytest.raises((InputError, Refusal)):
        resolve.find(text)


@pytest.mark.parametrize(
    "text",
    ["absent.gguf", "/absent/config.json", "~nobody-here/a.gguf", "a\0b.gguf"],
)
def test_files_that_are_not_there(text: str) -> None:
    with pytest.raises(InputError, match="There is no file"):
        resolve.find(text)


def test_a_path_that_is_too_long_is_not_looked_for() -> None:
    with pytest.raises(InputError, match="5,001 letters; at most 300 are read"):
        resolve.find("/" + "x" * 5000)


def test_files_that_are_something_else(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"PK\x03\x04" * 100)
    with pytest.raises(InputError):
        resolve.find(str(wrong))
    huge = tmp_path / "config.json"
    with huge.open("wb") as file:
        file.truncate(resolve.LONGEST_CONFIG + 1)
    with pytest.raises(InputError, match="more than 4,000,000 bytes"):
        resolve.find(str(huge))


def test_a_repository_has_its_stored_format(monkeypatch: pytest.MonkeyPatch) -> None:
    request = []

    def describe(identity: str) -> object:
        request.append(identity)
        return describe_config(LLAMA, "nothing-7b")

    monkeypatch.setattr(hub, "describe_repository", describe)
    resolved = resolve.find("nobody/nothing-7b")
    assert request == ["nobody/nothing-7b"]
    assert (resolved.stored, resolved.model.format) == ("BF16-hf", "BF16-hf")
    assert resolve.find("nobody/nothing-7b", "Q4_K_M").model.format == "Q4_K_M"


def test_no_repository_without_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_OFFLINE", "1")
    with pytest.raises(NetworkError, match="switched off"):
        resolve.find("nobody/nothing")


def test_without_the_network_a_repository_is_read_from_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ADVISOR_OFFLINE", "1")
    resolved = resolve.find("nobody/nothing-7b")
    assert resolved.model.architecture.params == pytest.approx(7e9, rel=0.01)
    assert any("switched off" in note for note in resolved.notes)
    assert any("is not known. Its name says 7 B weights" in note for note in resolved.notes)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("gpt-oss-120b", "MXFP4"),
        ("qwen3:30b-a3b-q8_0", "Q8_0"),
        ("unsloth/Qwen3-4B-GGUF:UD-Q4_K_XL", "UD-Q4_K_XL"),
        ("Qwen3-8B-FP8", "FP8"),
        ("DeepSeek-V3", "Q4_K_M"),
    ],
)
def test_the_format_is_that_of_the_name_else_the_default(text: str, form: str) -> None:
    assert resolve.find(text).model.format == form


def test_the_makers_own_format_is_known_unless_a_format_was_chosen() -> None:
    assert resolve.find("DeepSeek-V3").model.native == "FP8"
    assert resolve.find("DeepSeek-V3", "q4_k_m").model.native == ""


def test_a_prompt_or_context_that_is_too_long_is_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    request = ["model", "Llama-3-8B", "--context", "16384", "--json"]
    assert main(request) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    # Llama 3 was trained for 8192 tokens (its model card).
    assert any("A context of 16,384 tokens is beyond the 8,192" in note for note in notes)
    given = ["estimate", "--model", "Llama-3-8B", "--prompt", "9000", "--ram-gb", "64", "--json"]
    assert main(given) == 0
    first, *_ = json.loads(capsys.readouterr().out)
    # 9,000 tokens and a reply of 256, in whole steps of 256
    assert "A context of 9,472 tokens is beyond the 8,192" in first["note"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Qwen3-4B", 40_960),
        ("Qwen3-4B-Instruct-2507", 262_144),
        ("Qwen/Qwen3-30B-A3B-Thinking-2507", 262_144),
        ("unsloth/Qwen3-235B-A22B-Instruct-2507", 262_144),
        ("Kimi-K2-Instruct-0905", 262_144),
    ],
)
def test_a_later_variant_has_the_context_of_its_own_files(text: str, tokens: int) -> None:
    # max_position_embeddings of the config.json of each repository of the maker
    assert resolve.find(text).model.architecture.max_context == tokens


def test_an_estimate_states_the_match_of_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    name = "unsloth/Qwen3-8B-GGUF"
    assert main(["estimate", "--model", name, "--ram-gb", "64", "--json"]) == 0
    assert {load["taken_as"] for load in json.loads(capsys.readouterr().out)} == {"Qwen3-8B"}


@pytest.mark.parametrize(
    "words",
    [
        ["advise"],
        ["diagnose", "--measured", "40", "--runtime", "llama.cpp"],
    ],
    ids=lambda words: words[0],
)
def test_every_answer_states_the_match_of_a_name(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rig = ["--model", "llama 8b", "--gpu", "RTX 4090", "--ram-gb", "64", "--json"]
    assert main([*words, *rig]) == 0
    answer = json.loads(capsys.readouterr().out)
    taken = {each["taken_as"] for each in (answer, *answer.get("estimates", []))}
    assert taken == {"Llama-3.1-8B"}


def test_a_very_narrow_file_has_a_speed(
    gguf_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # 64 values wide: fewer than any runtime's tile or block of cached values.
    assert main(["estimate", "--model", str(gguf_file), "--ram-gb", "16", "--json"]) == 0
    speeds = [each["decode_tps"] for each in json.loads(capsys.readouterr().out)]
    assert any(speed is not None and speed > 0 for speed in speeds)


@pytest.mark.parametrize(
    ("folder", "name"), [("download (2)", "llama model"), ("Qwen3-8B", "Qwen3-8B")]
)
def test_a_config_is_called_by_its_folder_where_that_is_a_model(
    folder: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / folder / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA | {"_name_or_path": ""}), encoding="utf-8")
    assert resolve.from_file(path).model.name == name


def test_a_size_of_several_generations_means_the_newest_and_is_reported() -> None:
    resolved = resolve.find("llama 70B")
    assert (resolved.model.name, resolved.taken_as) == ("Llama-3.3-70B", "Llama-3.3-70B")


def test_a_files_name_means_its_model_where_there_is_no_such_file() -> None:
    resolved = resolve.find("Qwen_Qwen3-32B-Q4_K_M.gguf")
    assert (resolved.model.name, resolved.model.format) == ("Qwen3-32B", "Q4_K_M")


@pytest.mark.parametrize(
    "text", ["Lama-3.1-70", "absent.gguf", "nobody/nothing", "{", "RadixArk/Kimi-K3-DSpark"]
)
def test_the_command_line_says_it_in_a_sentence(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADVISOR_OFFLINE", "1")
    assert main(["model", text]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("advisor: ")
    assert "Traceback" not in err


def test_the_command_line_describes_a_file(
    gguf_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["model", str(gguf_file), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["name"], answer["format"], answer["layers"]) == ("Small Llama", "Q4_K_M", 2)


class HeldFile:
    """A file of a repository whose bytes lie here."""

    def __init__(self, identity: str, name: str, held: Path) -> None:
        self.requested = f"{identity}/{name}"
        self.name = name
        self.size = held.stat().st_size
        self._bytes = held.read_bytes()

    def read_at(self, offset: int, count: int) -> bytes:
        return self._bytes[offset : offset + count]


def test_a_gguf_file_of_a_repository_is_read_by_its_header(
    monkeypatch: pytest.MonkeyPatch, gguf_file: Path
) -> None:
    monkeypatch.setattr(hub, "repository", str)  # its listing is its name here
    monkeypatch.setattr(hub, "RemoteFile", lambda repo, name: HeldFile(repo, name, gguf_file))
    remote = resolve.find("owner/name-GGUF/small.gguf")
    local = resolve.find(str(gguf_file))
    assert way("owner/name-GGUF/small.gguf") is ReferenceKind.HUB_FILE
    assert remote.model.file_bytes == local.model.file_bytes
    assert remote.model.format == local.model.format


def test_all_parts_of_a_split_file_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def none(identity: str, name: str) -> HeldFile:
        texts.append(f"{identity}/{name}")
        if len(texts) == 3:
            raise NetworkError("enough")
        return HeldFile(identity, name, Path(__file__))

    monkeypatch.setattr(hub, "repository", str)
    monkeypatch.setattr(hub, "RemoteFile", none)
    with pytest.raises(NetworkError):
        resolve.find("o/n/Q4/big-00002-of-00003.gguf")
    assert texts == [f"o/n/Q4/big-0000{part}-of-00003.gguf" for part in (1, 2, 3)]


def test_a_dense_model_whose_name_says_mxfp4_is_counted_in_four_and_a_half_bits() -> None:
    known = resolve.from_name("amd/Llama-3.3-70B-Instruct-MXFP4")
    assert known.model.format == "NVFP4"
    assert any("counted as NVFP4" in note for note in known.notes)
    assert resolve.from_name("gpt-oss-20b-MXFP4").model.format == "MXFP4"


def test_published_files_of_unsloths_own_formats_have_their_size() -> None:
    for row in resolve.dynamic_sizes():
        resolved = find(row.model, row.format)
        assert resolved.model.file_bytes == pytest.approx(row.gb * 1e9, rel=1e-6)
        assert row.format in " ".join(resolved.notes)


def test_sizes_are_on_record_beside_those_of_the_usual_recipe() -> None:
    for row in resolve.dynamic_sizes():
        model = find(row.model, row.format).model
        recipe = catalog.in_format(model.architecture, model.format)
        assert row.gb * 1e9 / recipe.file_bytes == pytest.approx(row.of_recipe, abs=0.006)
        assert row.experts == model.has_experts


def test_other_files_of_unsloths_are_counted_like_those_of_their_maker_and_kind() -> None:
    # UD-Q5_K_XL of GLM-4.6 and of GLM-4.7-Flash: 1.007 and 1.020 of Q5_K_M, 1.0135 in the middle
    model = find("GLM-4.5", "UD-Q5_K_XL").model
    recipe = find("GLM-4.5", "Q5_K_M").model
    assert model.file_bytes / recipe.file_bytes == pytest.approx(1.0135, abs=0.001)
    # no file of a dense model is on record in UD-IQ1_M: one with experts, 1.367
    dense = find("Qwen3-8B", "UD-IQ1_M")
    recipe = find("Qwen3-8B", "IQ1_M").model
    assert dense.model.file_bytes / recipe.file_bytes == pytest.approx(1.367, abs=0.001)
    assert "publishes no rule" in " ".join(dense.notes)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Qwen3-8B-UD-Q2_K_XL-00001-of-00002.gguf", "UD-Q2_K_XL"),
        ("unsloth/Qwen3.8-27B-GGUF:Q3_K_XL", "UD-Q3_K_XL"),
        ("bartowski/Qwen3-8B-GGUF:Q3_K_XL", ""),  # its own, with a table in Q8_0
        ("Qwen3-8B Q4_K_M", ""),
    ],
)
def test_formats_of_unsloths_own_in_a_name(text: str, form: str) -> None:
    assert resolve.dynamic_format(text) == form


def test_usual_formats_have_no_remark_on_unsloth() -> None:
    assert "Unsloth" not in " ".join(find("Qwen3-30B-A3B", "Q4_K_M").notes)
