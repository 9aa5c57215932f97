"""Names of runtimes as people type them: taken for one, and said, or refused with the reason."""

import pytest

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError, UnknownName
from advisor.request import texts
from advisor.request.request import Request
from advisor.runtimes import ASIDE, RUNTIMES, RuntimeNameRow, row_of, runtime

ROWS = read(DATA / "runtimes/runtime_names.csv", RuntimeNameRow)
KNOWN = {known.name for known in (*RUNTIMES, *ASIDE)}


def spellings(row: RuntimeNameRow) -> list[str]:
    return [row.name, *filter(None, row.spellings.split("; "))]


def varied(name: str) -> list[str]:
    """A name in other case, with other signs between its words."""
    dashed = name.replace(" ", "-")
    return [name.upper(), f" {name} ", dashed, name.replace("-", "_"), name.replace(".", "")]


def test_each_row_answers_as_a_runtime_or_says_why_not() -> None:
    for row in ROWS:
        assert row.runtime in KNOWN or (not row.runtime and row.note), row.name
        assert bool(row.source) == bool(row.retrieved), row.name
        assert not row.source or row.source.startswith("https://"), row.name


def test_each_spelling_means_one_row_in_any_case_and_with_any_sign() -> None:
    for row in ROWS:
        for spelling in spellings(row):
            for written in varied(spelling):
                assert row_of(written) == row or runtime(written).name == row.runtime, written


def test_every_runtime_answers_to_its_own_name() -> None:
    for known in (*RUNTIMES, *ASIDE):
        for written in varied(known.name):
            assert runtime(written) is known, written


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_a_name_was_taken_for_is_said_at_each_door(row: RuntimeNameRow) -> None:
    request = Request(model="Qwen3-8B", gpu="RTX 3090", runtime=row.name)
    if not row.runtime:
        for door in (
            lambda: request.nouns().runtime,
            lambda: texts.from_texts({"runtime": row.name}),
        ):
            with pytest.raises(InputError, match="known and not modelled") as refused:
                door()
            assert row.note in str(refused.value)
        return
    answered = request.nouns()
    assert answered.runtime is not None
    assert answered.runtime.name == row.runtime
    assert texts.from_texts({"runtime": row.name}).runtime == row.runtime
    told = [note for note in answered.notes if row.name in note and row.runtime in note]
    assert len(told) == bool(row.source)


def test_a_name_of_nothing_is_refused_with_those_that_are_near() -> None:
    with pytest.raises(UnknownName, match=r"No runtime is called 'llama.cop'.*llama.cpp"):
        runtime("llama.cop")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("koboldcpp.exe", "llama.cpp"),
        ("koboldcpp_cu12.exe", "llama.cpp"),
        ("KoboldCpp-1.99", "llama.cpp"),
        ("llama-server.exe", "llama.cpp"),
        ("llama.cpp-b6715", "llama.cpp"),
        ("llama-b6715-bin-win-cuda", "llama.cpp"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda", "llama.cpp"),
        ("LM Studio.app", "LM Studio"),
        ("GPT4All 3", "llama.cpp"),
        ("ollama (docker)", "Ollama"),
        ("ollama/ollama", "Ollama"),
        ("vllm[flashinfer]", "vLLM"),
        ("vllm==0.11.0", "vLLM"),
        ("vllm/vllm-openai:latest", "vLLM"),
        ("sglang[all]", "SGLang"),
        ("trtllm-bench", "TensorRT-LLM"),
        ("mlx_lm.generate", "MLX"),
    ],
)
def test_what_stands_around_a_name_is_no_part_of_it(typed: str, name: str) -> None:
    assert runtime(typed).name == name


AROUND = ("{}.exe", "{} 1.2", "{}-v0.3.1", "{}:latest", "owner/{}", "{} (docker)", "{}[all]")


@pytest.mark.parametrize("around", AROUND)
def test_every_name_is_read_with_what_people_write_around_it(around: str) -> None:
    for row in ROWS:
        read_as = row_of(around.format(row.name))
        assert read_as is not None, row.name
        assert read_as.runtime == row.runtime, row.name
