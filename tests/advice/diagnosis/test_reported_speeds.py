"""Speeds of one user in the files of other tools."""

import json

import pytest
from result_samples import BENCH, NEWER_BENCH, OLLAMA, PROMPT, PUBLISHED_OLLAMA, SERVE, THROUGHPUT

from advisor.advice.diagnosis import results
from advisor.advice.diagnosis.results import reported, reported_in
from advisor.errors import InputError
from advisor.machine import from_spec
from advisor.machine.spec import MachineSpec


def speeds(*rows):
    outcome = reported(json.dumps(rows).encode(), "run.json")
    return outcome.decode, outcome.prompt, outcome.source


def test_generation_and_prompt_at_the_same_depth():
    shallow = BENCH | {"n_depth": 0}
    assert speeds(PROMPT, shallow) == (10.0, 64.0, "llama-bench, qwen2 7B Q4_K - Medium")
    assert speeds(PROMPT, BENCH)[:2] == (10.0, None)  # tokens after 512 others, the prompt after 0


def test_of_several_generations_the_first_counts():
    later = BENCH | {"avg_ts": 9.0, "samples_ts": [9.0]}
    assert speeds(BENCH, later)[0] == 10.0


def test_each_tool_tells_its_own_way():
    decode, prompt, source = speeds(PUBLISHED_OLLAMA)
    assert (decode, prompt) == (pytest.approx(282 / 4.535599), pytest.approx(26 / 0.342546))
    assert source == "Ollama, llama3.2"
    assert speeds(SERVE) == (pytest.approx(25.0), None, "vLLM bench serve, Qwen/Qwen3-8B")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "run.json: The results hold no finished run"),
        (b"\x89PNG\r\n", "run.json is no text; give the JSON that a tool wrote"),
        (json.dumps(THROUGHPUT).encode(), "vLLM bench throughput reports no speed of generation"),
        (json.dumps([NEWER_BENCH]).encode(), "llama-bench reports no speed of generation"),
        (json.dumps(OLLAMA | {"eval_duration": 1}).encode(), "measured is 2.9e+11 tokens/s"),
    ],
)
def test_a_file_without_a_speed_is_reported(content, words):
    with pytest.raises(InputError, match=r"run\.json|measured is") as told:
        reported(content, "run.json")
    assert words in str(told.value)


def test_a_file_that_cannot_be_read_or_is_too_large(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"none\.json cannot be read: No such file"):
        reported_in(tmp_path / "none.json")
    monkeypatch.setattr(results, "LARGEST", 3)
    (tmp_path / "large.json").write_text("[1, 2, 3]")
    with pytest.raises(InputError, match="more than 3 bytes"):
        reported_in(tmp_path / "large.json")


PRINTED = """ggml_cuda_init: found 1 CUDA devices:
  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes
| model                  |     size | params | backend | ngl |  test |             t/s |
| ---------------------- | -------: | -----: | ------- | --: | ----: | --------------: |
| qwen3 8B Q4_K - Medium | 4.68 GiB | 8.19 B | CUDA    |  99 | tg128 | 121.20 ± 0.45 |
"""


@pytest.mark.parametrize(
    "content", [PRINTED, json.dumps([BENCH | {"gpu_info": "NVIDIA GeForce RTX 3090"}])]
)
def test_results_of_another_card_are_said_to_be_of_it(content):
    facts = reported(content.encode(), "run").facts
    other = from_spec.machine(MachineSpec(gpu="RTX 4090"))
    assert "RTX 3090" in results.of_other_gpu(facts, other)
    assert not results.of_other_gpu(facts, from_spec.machine(MachineSpec(gpu="RTX 3090")))


def test_the_figures_of_open_webui_are_read():
    text = (
        "response_token/s: 30.12\nprompt_token/s: 1923.1\nprompt_eval_count: 512\neval_count: 256"
    )
    measured = reported(text.encode(), "pasted")
    assert (measured.decode, measured.prompt, measured.prompt_tokens) == (30.12, 1923.1, 512.0)
