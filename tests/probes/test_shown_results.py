"""Results of tools without what is private: every figure stays, no word of a person does."""

import json
import re

import pytest
from result_samples import (
    BENCH,
    BENCHY,
    OLLAMA,
    PROMPT,
    PUBLISHED_BENCH,
    SERVE,
    STUDIO_0,
    STUDIO_1,
    THROUGHPUT,
    as_csv,
    as_sql,
)

from advisor.probes.llama_cpp.printed_results import read
from advisor.probes.llama_cpp.shown_results import hardware_in, printed_parts, shown_result

SECRETS = ("Rosebud", "ada.lovelace", "10.20.30.40", "hf_abcdefghij", "example.org", "secretdir")
ANSWER = (
    "Dear Rosebud, mail ada.lovelace@example.org at 10.20.30.40, token hf_abcdefghijk, "
    "see https://example.org/x and /home/secretdir/notes.txt"
)
VERBOSE = """>>> {answer}
{answer}

total duration:       18.293521648s
prompt eval count:    21 token(s)
prompt eval rate:     15.60 tokens/s
eval count:           160 token(s)
eval rate:            9.54 tokens/s
"""
TABLE = """$ ./llama-bench -m /home/secretdir/models/Rosebud.gguf
ggml_cuda_init: found 1 CUDA devices:
  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes
| model | size | params | backend | ngl | test | t/s |
| --- | ---: | ---: | --- | --: | --: | --: |
| qwen3 8B Q4_K - Medium | 4.68 GiB | 8.19 B | CUDA | 99 | tg128 | 110.2 ± 0.1 |

build: 8cf427ff (5163)
Rosebud: thanks!
"""
PRIVATE_JSON = {
    "Ollama": OLLAMA | {"response": ANSWER, "context": [1, 2, 3], "prompt": ANSWER},
    "LM Studio, older": STUDIO_0 | {"choices": [{"message": {"content": ANSWER}}]},
    "LM Studio": STUDIO_1 | {"output": [{"content": ANSWER}]},
    "vLLM": SERVE | {"generated_texts": [ANSWER], "tokenizer_id": ANSWER},
    "llama-benchy": BENCHY | {"base_url": "http://10.20.30.40:8000"},
    "llama-bench": BENCH | {"model_filename": "/home/secretdir/models/Qwen3-8B.gguf"},
}


@pytest.mark.parametrize(
    "text",
    [
        VERBOSE.format(answer=ANSWER),
        TABLE,
        *map(json.dumps, PRIVATE_JSON.values()),
        json.dumps([BENCH, PROMPT | {"model_filename": r"C:\Users\secretdir\Qwen3-8B.gguf"}]),
    ],
)
def test_what_is_private_goes(text: str) -> None:
    shown = shown_result(text)
    assert not [secret for secret in SECRETS if secret in shown]


@pytest.mark.parametrize(
    "text",
    [
        VERBOSE.format(answer="Hello"),
        TABLE,
        *map(json.dumps, (OLLAMA, STUDIO_0, STUDIO_1, SERVE, THROUGHPUT, BENCHY)),
        json.dumps([BENCH, PROMPT, PUBLISHED_BENCH]),
        "\n".join(map(json.dumps, (BENCH, PROMPT))),
        as_csv(BENCH, PROMPT),
        as_sql(BENCH, PROMPT),
        "test pp512@d4096\neval rate: 9.5 tokens/s",
    ],
)
def test_every_figure_stays(text: str) -> None:
    before = read(text)
    after = read(shown_result(text))
    assert len(before) == len(after)
    for run, same in zip(before, after, strict=True):
        for name in (
            "tool",
            "decode",
            "prompt",
            "prompt_tokens",
            "output_tokens",
            "depth",
            "users",
            "gpu_layers",
            "samples",
            "when",
            "engine",
        ):
            assert getattr(run, name) == getattr(same, name), name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TABLE, [("gpu", "NVIDIA GeForce RTX 3090")]),
        (
            json.dumps(PUBLISHED_BENCH),
            [("gpu", "NVIDIA GeForce RTX 4080"), ("cpu", "AMD Ryzen 7 7800X3D 8-Core Processor")],
        ),
        (
            "ggml_vulkan: 0 = AMD Radeon RX 7900 XT (RADV NAVI31) (radv) | uma: 0",
            [("gpu", "AMD Radeon RX 7900 XT")],
        ),
        ("ggml_metal_device_init: GPU name:   MTL0 (Apple M1 Max)", [("gpu", "Apple M1 Max")]),
        ("ggml_metal_device_init: GPU name:   MTL0", []),
        ("Maya 1.1.77; GPUs: V100 16 GB; 64 GB RAM", [("gpu", "V100 16 GB")]),
        ("eval rate: 9 tokens/s", []),
    ],
)
def test_hardware_is_named_as_tools_print_it(text: str, expected: list[tuple[str, str]]) -> None:
    assert list(hardware_in(text)) == expected


@pytest.mark.parametrize("text", ["", "[[[[", "{" * 5000, "null", '"x"', "[" * 100_000])
def test_another_text_shows_nothing_private(text: str) -> None:
    assert len(shown_result(text)) <= 40_000


def test_every_row_names_a_part_by_one_group_and_its_source() -> None:
    for row in printed_parts():
        assert row.part in ("gpu", "cpu")
        assert row.expression.groups == 1
        assert re.search(r", read 20\d\d-\d\d-\d\d$", row.source)
