"""Models of GGUF files against gguf.GGUFReader, byte for byte, and files that are refused."""

import struct
from pathlib import Path
from typing import Any

import pytest
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader, LlamaFileType
from gguf_files import F32, LLAMA_KEYS, Tensors, heads, layered, llama_tensors, table, write

from advisor.errors import InputError, Refusal
from advisor.model.architecture import Experts, Group
from advisor.model.formats import StorageType
from advisor.model.gguf.header import prefix, read_header
from advisor.model.gguf.read import describe_parts, describe_path, describe_prefix
from advisor.model.gguf.shards import named, numbered
from advisor.model.model import Described

Q4_K = GGMLQuantizationType.Q4_K
Q8_0 = GGMLQuantizationType.Q8_0
MXFP4 = GGMLQuantizationType.MXFP4


def described(path: Path) -> Described:
    return describe_path(path)


def llama(folder: Path, kind: GGMLQuantizationType = F32, **keys: Any) -> Path:
    return write(folder / "m.gguf", "llama", {**LLAMA_KEYS, **keys}, llama_tensors(kind))


def test_every_type_is_read_as_the_gguf_package_reads_it(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for kind in GGML_QUANT_SIZES:
        with subtests.test(kind.name):
            check_as_the_gguf_package(llama(tmp_path, kind))


def check_as_the_gguf_package(path: Path) -> None:
    oracle = GGUFReader(path)
    with path.open("rb") as file:
        header = read_header(prefix("m.gguf", file.read()))
    assert header.size == oracle.data_offset
    for ours, theirs in zip(header.tensors, oracle.tensors, strict=True):
        assert ours.name == theirs.name
        assert ours.shape == tuple(int(size) for size in theirs.shape)
        assert numbered("type")[ours.kind] == theirs.tensor_type.name
        assert header.size + ours.offset == theirs.data_offset
    model = described(path).model
    assert model is not None
    assert model.file_bytes == sum(int(tensor.n_bytes) for tensor in oracle.tensors)


def test_type_and_format_numbers_are_those_of_the_gguf_package() -> None:
    assert {kind.value: kind.name for kind in GGMLQuantizationType} == _of_llama_cpp("type")
    names = {
        kind.value: kind.name.removeprefix("MOSTLY_").removeprefix("ALL_").removesuffix("_MOE")
        for kind in LlamaFileType
        if kind is not LlamaFileType.GUESSED
    }
    assert names == _of_llama_cpp("file type")


def _of_llama_cpp(kind: str) -> dict[int, str]:
    """Numbers below those that ik_llama.cpp adds, from 133 on."""
    return {number: name for number, name in numbered(kind).items() if number < 133}


def test_bytes_lie_in_their_groups(tmp_path: Path) -> None:
    model = described(llama(tmp_path, Q4_K)).model
    assert model is not None
    # Q4_K packs 256 weights in 144 bytes: Q and output 2 x 256 x 256, K and V 2 x 256 x 128.
    assert list(model.bytes_per_layer[Group.ATTENTION]) == [(2 * 256 + 2 * 128) * 144] * 2
    assert list(model.bytes_per_layer[Group.DENSE_FFN]) == [3 * 512 * 144] * 2
    assert list(model.bytes_per_layer[Group.NORMS]) == [2 * 256 * 4] * 2
    assert model.embedding == 96 * 144
    assert model.output == 96 * 144 + 256 * 4
    assert model.decode_class == StorageType.by_name()["Q4_K"].decode_class


def test_a_tied_head_is_the_token_table(tmp_path: Path) -> None:
    tensors = {k: v for k, v in llama_tensors(Q8_0).items() if k != "output.weight"}
    path = write(tmp_path / "m.gguf", "llama", LLAMA_KEYS, tensors)
    outcome = described(path)
    assert outcome.architecture.tied
    assert outcome.model is not None
    assert outcome.model.output == outcome.model.embedding + 256 * 4
    assert outcome.model.file_bytes == sum(
        int(tensor.n_bytes) for tensor in GGUFReader(path).tensors
    )


def test_facts_and_names_are_the_files(tmp_path: Path) -> None:
    outcome = described(llama(tmp_path))
    assert outcome.format == "Q4_K_M"
    assert outcome.architecture.name == "Small Llama"
    assert outcome.architecture.vocab == 96
    assert outcome.architecture.max_context == 4096
    assert outcome.facts["llama.attention.head_count_kv"] == "2"
    assert outcome.source == "GGUF header of m.gguf"
    assert outcome.notes == ()


@pytest.mark.parametrize(("number", "form"), [(1024 + 18, "Q6_K"), (999, "Q8_0"), (4, "Q8_0")])
def test_a_guessed_or_unknown_file_type(tmp_path: Path, number: int, form: str) -> None:
    outcome = described(llama(tmp_path, Q8_0, **{"general.file_type": number}))
    assert outcome.format == form


def test_the_beginning_of_a_file_is_enough(tmp_path: Path) -> None:
    path = llama(tmp_path, Q8_0)
    start = path.read_bytes()[: read_header(prefix("m.gguf", path.read_bytes())).size]
    whole = described(path).model
    part = describe_prefix("m.gguf", start).model
    assert whole is not None
    assert part is not None
    assert whole.file_bytes == part.file_bytes


def test_a_file_that_ends_before_its_weights_is_noted(tmp_path: Path) -> None:
    path = llama(tmp_path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 500_000)
    assert "download is incomplete" in described(path).notes[0]


def split(folder: Path, *, parts: int = 3, no_tensors_first: bool = False) -> list[Path]:
    """The small Llama in parts, keys in the first one, as gguf-split writes them."""
    names = list(llama_tensors(Q8_0).items())
    groups: list[Tensors] = [dict(names[number::parts]) for number in range(parts)]
    if no_tensors_first:
        groups = [{}, *groups[1:-1], {**groups[-1], **groups[0]}]
    paths = []
    for number, tensors in enumerate(groups):
        keys = {
            **(LLAMA_KEYS if number == 0 else {}),
            "split.no": number,
            "split.count": parts,
            "split.tensors.count": len(names),
        }
        name = f"m-{number + 1:05}-of-{parts:05}.gguf"
        paths.append(write(folder / name, "llama", keys, tensors))
    return paths


@pytest.mark.parametrize("no_tensors_first", [False, True])
@pytest.mark.parametrize("given", [0, 2])
def test_all_parts_are_found_beside_any(tmp_path: Path, given: int, no_tensors_first: bool) -> None:
    paths = split(tmp_path, no_tensors_first=no_tensors_first)
    model = described(paths[given]).model
    assert model is not None
    stored = sum(int(tensor.n_bytes) for path in paths for tensor in GGUFReader(path).tensors)
    assert model.file_bytes == stored


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    paths = split(tmp_path)
    paths[1].unlink()
    with pytest.raises(InputError, match=r"m-00002-of-00003\.gguf is missing"):
        described(paths[0])


def test_one_part_alone_is_not_the_model(tmp_path: Path) -> None:
    paths = split(tmp_path)
    with pytest.raises(InputError, match="one of 3 parts"):
        describe_prefix(paths[0].name, paths[0].read_bytes())
    renamed = paths[0].rename(tmp_path / "model.gguf")
    with pytest.raises(InputError, match="one of 3 parts"):
        described(renamed)


def test_parts_out_of_order_or_of_other_models_are_refused(tmp_path: Path) -> None:
    paths = split(tmp_path)
    parts = [prefix(path.name, path.read_bytes()) for path in paths]
    with pytest.raises(InputError, match="should be part 2"):
        describe_parts([parts[0], parts[2], parts[1]])
    other = tmp_path / "other"
    other.mkdir()
    more = write(
        other / "x.gguf", "llama", {"split.no": 1, "split.count": 3}, layered(1, {"x": (32,)})
    )
    mixed = [parts[0], prefix("x.gguf", more.read_bytes()), parts[2]]
    with pytest.raises(InputError, match="of different files"):
        describe_parts(mixed)


@pytest.mark.parametrize("name", ["m-00000-of-00003.gguf", "m-00004-of-00003.gguf"])
def test_a_part_number_that_cannot_be(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no name of a part"):
        described(tmp_path / name)


def moe(path: Path, arch: str = "qwen3moe", **keys: Any) -> Path:
    tensors = {
        **table(tied=False),
        **layered(1, {"attn_q.weight": (64, 64), "attn_k.weight": (64, 16)}),
        "blk.0.ffn_gate_inp.weight": ((64, 8), F32),
        "blk.0.exp_probs_b.bias": ((8,), F32),
        "blk.0.ffn_gate_exps.weight": ((64, 32, 8), MXFP4),
        "blk.0.ffn_gate_exps.bias": ((32, 8), F32),
        "blk.0.ffn_up_shexp.weight": ((64, 32), Q8_0),
        "blk.0.ffn_gate_inp_shexp.weight": ((64,), F32),
    }
    base = {
        "block_count": 1,
        "embedding_length": 64,
        "expert_count": 8,
        "expert_used_count": 2,
        "attention.sliding_window": 0,
        **heads(4, 1, 16),
    }
    return write(path / "moe.gguf", arch, {**base, **keys}, tensors)


def test_experts_are_grouped_and_shared_among_tokens(tmp_path: Path) -> None:
    outcome = described(moe(tmp_path))
    assert outcome.architecture.experts == Experts(total=8, used=2)
    model = outcome.model
    assert model is not None
    routed = 64 * 32 * 8 // 32 * 17 + 32 * 8 * 4
    assert model.bytes_per_layer[Group.ROUTED_EXPERTS][0] == routed
    assert model.bytes_per_layer[Group.SHARED_EXPERTS][0] == 64 * 32 // 32 * 34
    assert model.bytes_per_layer[Group.ROUTER][0] == (64 * 8 + 8 + 64) * 4
    rest = model.file_bytes - routed - model.embedding
    assert model.read_bytes_per_token == rest + routed * 2 / 8 + 64 * 4


@pytest.mark.parametrize("used", [0, 9])
def test_experts_that_cannot_be(tmp_path: Path, used: int) -> None:
    with pytest.raises(InputError, match="expert_used_count"):
        described(moe(tmp_path, expert_used_count=used))


def test_prediction_layers_and_pictures_are_left_out(tmp_path: Path) -> None:
    tensors = {
        **llama_tensors(),
        "blk.2.attn_q.weight": ((256, 1024), F32),
        "blk.2.nextn.eh_proj.weight": ((512, 256), F32),
        "v.blk.0.attn_q.weight": ((256, 4096), F32),
    }
    keys = {**LLAMA_KEYS, "block_count": 3, "nextn_predict_layers": 1}
    outcome = described(write(tmp_path / "m.gguf", "glm4moe", keys, tensors))
    plain = described(write(tmp_path / "p.gguf", "llama", LLAMA_KEYS, llama_tensors()))
    assert outcome.architecture.layers == 2
    assert outcome.model is not None
    assert plain.model is not None
    assert outcome.model.file_bytes == plain.model.file_bytes
    assert len(outcome.notes) == 2
    assert "prediction" in outcome.notes[0]
    assert "image" in outcome.notes[1]


def test_unknown_names_are_counted_and_noted(tmp_path: Path) -> None:
    tensors = {
        **llama_tensors(),
        "blk.0.attn_novel.weight": ((256, 2), F32),
        "blk.0.mystery.weight": ((256, 3), F32),
        "elsewhere.weight": ((256, 4), F32),
    }
    path = write(tmp_path / "m.gguf", "llama", LLAMA_KEYS, tensors)
    outcome = described(path)
    assert "blk.0.mystery.weight, elsewhere.weight" in outcome.notes[0]
    assert outcome.model is not None
    assert outcome.model.file_bytes == sum(
        int(tensor.n_bytes) for tensor in GGUFReader(path).tensors
    )
    assert (
        outcome.model.bytes_per_layer[Group.DENSE_FFN][0]
        - outcome.model.bytes_per_layer[Group.DENSE_FFN][1]
        == 3072
    )


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("blk.3.ffn_down_exps.weight", Group.ROUTED_EXPERTS),
        ("blk.3.ffn_gate_up_exps.weight", Group.ROUTED_EXPERTS),
        ("blk.3.ffn_down.7.weight", Group.ROUTED_EXPERTS),
        ("blk.3.ffn_down.weight", Group.DENSE_FFN),
        ("blk.3.ffn_down_exps.scale", Group.ROUTED_EXPERTS),
        ("blk.3.ffn_norm_exps.weight", Group.NORMS),
        ("blk.3.post_ffw_norm_1.weight", Group.NORMS),
        ("blk.3.indexer.k_norm.bias", Group.NORMS),
        ("blk.3.attn_sinks.weight", Group.ATTENTION),
        ("blk.3.ssm_a", Group.ATTENTION),
        ("blk.3.shortconv.in_proj.weight", Group.ATTENTION),
        ("blk.3.time_mix_w1.weight", Group.ATTENTION),
        ("blk.3.channel_mix_key.weight", Group.DENSE_FFN),
        ("blk.3.inp_gate.weight", Group.DENSE_FFN),
        ("blk.3.exp_probs_b.bias", Group.ROUTER),
        ("blk.3.ffn_latent_up.weight", Group.SHARED_EXPERTS),
        ("per_layer_token_embd.weight", Group.EMBEDDING),
        ("rope_freqs.weight", Group.OUTPUT),
        ("output_norm.bias", Group.NORMS),
        ("v.patch_embd.weight", None),
    ],
)
def test_names(name: str, group: Group | None) -> None:
    outcome = named(name)
    assert outcome.group is group
    assert outcome.known
    assert outcome.layer == (3 if name.startswith("blk.") else None)


@pytest.mark.parametrize(
    ("arch", "why"),
    [
        ("bert", "embedding model"),
        ("clip", "encoder"),
        ("t5", "decoder"),
        ("deepseek41", "does not compute"),
    ],
)
def test_architectures_that_are_not_understood_are_refused(
    tmp_path: Path, arch: str, why: str
) -> None:
    with pytest.raises(Refusal, match=why):
        described(write(tmp_path / "m.gguf", arch, LLAMA_KEYS, llama_tensors()))


def test_an_architecture_that_nobody_described_is_read_by_its_keys(tmp_path: Path) -> None:
    known = described(write(tmp_path / "m.gguf", "llama", LLAMA_KEYS, llama_tensors()))
    new = described(write(tmp_path / "n.gguf", "brandnew", LLAMA_KEYS, llama_tensors()))
    assert new.model is not None
    assert known.model is not None
    assert new.model.file_bytes == known.model.file_bytes
    assert new.architecture.cache == known.architecture.cache
    assert new.architecture.unknown_kinds == ("brandnew",)
    assert any("Nobody described the architecture brandnew" in note for note in new.notes)


def test_layers_of_an_unknown_kind_are_counted_by_their_tensors(tmp_path: Path) -> None:
    tensors = {**table(), **layered(2, {"attn_future.weight": (64, 2)})}
    keys = {"block_count": 2, "embedding_length": 64, **heads(4, 1, 16)}
    new = described(write(tmp_path / "m.gguf", "brandnew", keys, tensors))
    assert new.model is not None
    # two layers of 64 x 2 weights in 32 bits
    assert sum(float(layer) for layer in new.model.bytes_per_layer[Group.ATTENTION]) == 2 * 512
    assert all(not layer.key_values for layer in new.architecture.cache)


def test_windows_that_a_file_does_not_place_are_refused(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.gguf",
        "gemma4",
        {**LLAMA_KEYS, "attention.sliding_window": 512},
        llama_tensors(),
    )
    with pytest.raises(Refusal, match="does not list which layers"):
        described(path)


def test_a_layer_without_known_attention_is_refused(tmp_path: Path) -> None:
    tensors = {**table(), **layered(1, {"attn_future.weight": (64, 2)})}
    keys = {"block_count": 1, "embedding_length": 64, **heads(4, 1, 16)}
    with pytest.raises(Refusal, match="neither attention nor a state"):
        described(write(tmp_path / "m.gguf", "llama", keys, tensors))


@pytest.mark.parametrize("kind", ["adapter", "mmproj", "imatrix"])
def test_files_of_other_kinds_are_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(Refusal, match="not a language model"):
        described(llama(tmp_path, **{"general.type": kind}))


def test_a_vocabulary_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="only a vocabulary"):
        described(write(tmp_path / "vocab.gguf", "llama", LLAMA_KEYS, {}))


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"block_count": 0}, "block_count is 0"),
        ({"block_count": 5000}, "block_count is 5000"),
        ({"block_count": 3}, "Layer 2 of 3 has no tensors"),
        ({"attention.head_count": [4]}, "1 entries for 2 layers"),
        ({"attention.head_count": "four"}, "whole number"),
        ({"attention.head_count": 4.5}, "whole number"),
        ({"attention.head_count": 0}, "0 heads"),
    ],
)
def test_keys_that_cannot_be(tmp_path: Path, keys: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        described(llama(tmp_path, **keys))


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    keys = {key: value for key, value in LLAMA_KEYS.items() if key != "embedding_length"}
    with pytest.raises(InputError, match=r"lacks the key llama\.embedding_length"):
        described(write(tmp_path / "m.gguf", "llama", keys, llama_tensors()))


def test_a_file_without_architecture_or_table(tmp_path: Path) -> None:
    path = llama(tmp_path)
    data = path.read_bytes().replace(b"general.architecture", b"general.architectura")
    with pytest.raises(InputError, match="does not name its architecture"):
        describe_prefix("m.gguf", data)
    data = path.read_bytes().replace(b"token_embd", b"token_ambd")
    with pytest.raises(InputError, match="no token table"):
        describe_prefix("m.gguf", data)


@pytest.mark.parametrize(("number", "why"), [(31, "Q4_0_4_4"), (77, "number 77")])
def test_types_that_are_not_known_are_named(tmp_path: Path, number: int, why: str) -> None:
    data = llama(tmp_path).read_bytes()
    at = data.index(b"blk.0.attn_q.weight") + len("blk.0.attn_q.weight") + 4 + 16
    changed = data[:at] + struct.pack("<I", number) + data[at + 4 :]
    with pytest.raises(InputError, match=why):
        describe_prefix("m.gguf", changed)


def test_rows_that_do_not_divide_into_blocks(tmp_path: Path) -> None:
    data = llama(tmp_path).read_bytes()
    at = data.index(b"blk.0.attn_q.weight") + len("blk.0.attn_q.weight") + 4
    changed = data[:at] + struct.pack("<QQI", 100, 256, Q4_K) + data[at + 20 :]
    with pytest.raises(InputError, match="blocks of 256"):
        describe_prefix("m.gguf", changed)


def test_no_file_no_permission(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        described(tmp_path / "none.gguf")
    with pytest.raises(InputError, match="cannot be read"):
        described(tmp_path)
