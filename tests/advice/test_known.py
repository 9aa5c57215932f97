"""Known speeds in words, in files, kept, and which run would tell most."""

import json
from pathlib import Path

import numpy as np
import pytest
import result_samples as samples

import advisor
from advisor.advice.known import change, faults, judged, sentences
from advisor.advice.known_files import known_texts
from advisor.advice.next_run import BENCHES, command, next_run
from advisor.cli.main import main
from advisor.cost_model.estimate import Estimate
from advisor.errors import InputError
from advisor.request.estimates import estimates_of
from advisor.request.known_speed import read
from advisor.request.request import Request
from advisor.runtimes.compare import usable

HERE = {"gpu": "RTX 3090", "ram_gb": 64, "runtime": "llama.cpp"}
PARTS = {"gpu": "RTX 3090", "ram_gb": 64}


def best(request: Request) -> Estimate:
    return next(iter(usable(estimates_of(request.nouns()))))


def predicted(model: str) -> float:
    """Speed of a model without anything known [tokens/s]."""
    return float(best(Request(model=model, **HERE)).decode.value)


def told(model: str, *known: str) -> list[str]:
    nouns = Request(model=model, known=known, **HERE).nouns()
    return list(sentences(nouns.known, best(nouns.request)))


def test_a_slow_run_slows_and_narrows_another_model() -> None:
    slow = f"Qwen3-8B {0.8 * predicted('Qwen3-8B'):.1f}"
    plain = best(Request(model="Qwen3-14B", **HERE))
    taught = best(Request(model="Qwen3-14B", known=(slow,), **HERE))
    assert 0.75 < taught.decode.value / plain.decode.value < 0.95
    assert taught.decode.high / taught.decode.low < plain.decode.high / plain.decode.low
    assert taught.prefill.value < plain.prefill.value, "the card reads prompts, too"
    assert taught.known_factor == pytest.approx(taught.decode.value / plain.decode.value)
    (sentence,) = told("Qwen3-14B", slow)
    assert "slower than such machines usually are" in sentence


def test_a_run_as_predicted_moves_nothing() -> None:
    same = f"Qwen3-8B {predicted('Qwen3-8B')!r}"
    plain = best(Request(model="Qwen3-14B", **HERE))
    taught = best(Request(model="Qwen3-14B", known=(same,), **HERE))
    assert taught.decode.value == pytest.approx(plain.decode.value, rel=1e-9)
    assert taught.decode.high < plain.decode.high
    assert taught.decode.low > plain.decode.low


def test_words_of_a_change() -> None:
    assert change(1.101) == "10 % faster than such machines usually are"
    assert change(0.9) == "10 % slower than such machines usually are"
    assert change(1.004) == "as fast as such machines usually are"


def test_a_run_on_the_processor_by_mistake_is_a_fault_with_its_cause() -> None:
    slow = f"Qwen3-8B {predicted('Qwen3-8B') / 10:.1f}"
    nouns = Request(model="Qwen3-14B", known=(slow,), **HERE).nouns()
    assert faults(nouns.known) == list(nouns.known)
    assert judged(nouns.known)[0].weight < 0.01
    plain = float(best(Request(model="Qwen3-14B", **HERE)).decode.value)
    assert float(best(nouns.request).decode.value) == pytest.approx(plain, rel=0.02)
    (sentence,) = told("Qwen3-14B", slow)
    assert "10 times slower" in sentence
    assert "The GPU is not used" in sentence
    twice = Request(
        model="Qwen3-14B", known=(slow, f"Qwen3-4B {predicted('Qwen3-4B') / 10:.1f}"), **HERE
    )
    assert not faults(twice.nouns().known), "another run agrees"


def test_what_known_speeds_of_a_card_tell_of_another() -> None:
    slow = (f"Qwen3-8B {0.7 * predicted('Qwen3-8B'):.1f}",)
    plain = advisor.advise(Request(model="Qwen3-14B", **HERE))
    taught = advisor.advise(Request(model="Qwen3-14B", known=slow, **HERE))

    def speeds(advice: advisor.scripting.Advice) -> dict[str, float]:
        return {
            each.name: each.speed.decode
            for each in advice.options
            if each.speed and each.kind == "machine"
        }

    bought = speeds(plain)
    again = speeds(taught)
    shared = bought.keys() & again.keys()
    assert shared
    assert all(again[name] == pytest.approx(bought[name]) for name in shared)


@pytest.mark.parametrize(
    ("result", "texts"),
    [
        (samples.BENCH, ("qwen2 7B Q4_K - Medium 10 context 512 ngl 0 in llama.cpp",)),
        (samples.OLLAMA, ("gemma3 50 context 26 in Ollama", "gemma3 200 prompt 26 in Ollama")),
        (samples.STUDIO_1, ("ibm/granite-4-micro 29.75 context 646 in LM Studio",)),
        (samples.SERVE, ("Qwen/Qwen3-8B 25 context 512 users 16 in vLLM",)),
    ],
    ids=["llama-bench", "Ollama", "LM Studio", "vLLM"],
)
def test_results_of_tools_are_known_speeds(result: object, texts: tuple[str, ...]) -> None:
    assert known_texts(json.dumps(result).encode(), "a file") == texts
    for text in texts:
        read(text)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}", b"eval rate: 50.1 tokens/s\n"])
def test_a_file_without_a_model_and_a_speed_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match="a file"):
        known_texts(content, "a file")


def test_every_door_learns_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "Qwen3-8B Q4_K_M 90"
    table = (
        "| model | size | params | backend | ngl | test | t/s |\n|---|---|---|---|---|---|---|\n"
        "| qwen3 8B Q4_K - Medium | 4.68 GiB | 8.19 B | CUDA | 99 | tg256 @ d512 | 90.00 ± 0.1 |\n"
    )
    file = tmp_path / "bench.txt"
    file.write_text(table, encoding="utf-8")
    machine = advisor.with_known(advisor.describe_machine(**PARTS), text)
    speed = advisor.estimate("Qwen3-14B", machine).decode.value
    options = ["estimate", "--model", "Qwen3-14B", "--gpu", "RTX 3090", "--ram-gb", "64", "--json",
               "--runtime", "llama.cpp"]  # fmt: skip
    for words in (("--known", text), ("--known-file", str(file))):
        assert main([*options, *words]) == 0
        first = json.loads(capsys.readouterr().out)[0]
        assert first["decode_tps"] == pytest.approx(speed, rel=0.01)
        assert first["known_factor"] < 1
    assert main(options) == 0
    assert json.loads(capsys.readouterr().out)[0]["known_factor"] is None


def test_kept_runs_of_this_machine_teach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    file = tmp_path / "bench.json"
    file.write_text(json.dumps([samples.BENCH | {"avg_ts": 1.5, "n_gpu_layers": 0}]))
    before = Request(model="Qwen2.5-7B").nouns()
    assert before.known == ()
    assert main(["runs", "add", str(file), "--model", "Qwen2.5-7B"]) == 0
    (kept,) = Request(model="Qwen3-4B").nouns().known
    assert kept.run.measured == 1.5
    elsewhere = Request(model="Qwen3-4B", **HERE).nouns()
    assert elsewhere.known == (), "of another machine"
    assert main(["runs", "delete", "1"]) == 0
    assert Request(model="Qwen3-4B").nouns().known == ()
    capsys.readouterr()


def test_the_next_run_takes_the_parts_of_the_answer() -> None:
    on_gpu = next_run(best(Request(model="Qwen3-14B", **HERE)))
    in_ram = next_run(best(Request(model="Llama-3.3-70B", **HERE)))
    experts = next_run(best(Request(model="Qwen3-235B-A22B", gpu="RTX 3090", ram_gb=192)))
    assert on_gpu is not None
    assert in_ram is not None
    assert experts is not None
    assert "-ngl 0" not in on_gpu.command
    assert in_ram.command.endswith("-ngl 0")
    assert experts.command.endswith(("-ngl 0", "-ncmoe 99"))
    for run in (on_gpu, in_ram, experts):
        assert run.narrower < 1
        assert float(run.before.low) < float(run.after.low)
        assert float(run.after.high) < float(run.before.high)
        read(run.known.replace("TPS", "41"))


def test_the_range_after_the_next_run_is_the_one_that_it_leaves() -> None:
    question = Request(model="Llama-3.3-70B", **HERE)
    run = next_run(best(question))
    assert run is not None
    machine = question.nouns().machine
    in_ram = advisor.estimate("Qwen3-4B", machine, placement="cpu-offload", gpu_layers=0)
    text = run.known.replace("TPS", repr(float(in_ram.decode.value)))
    after = best(Request(model="Llama-3.3-70B", known=(text,), **HERE)).decode
    # Its prompt, and a context of 512 tokens in place of none, make a small difference.
    assert float(after.low) == pytest.approx(float(run.after.low), rel=0.03)
    assert float(after.high) == pytest.approx(float(run.after.high), rel=0.03)


def test_commands_name_repositories_that_are_known() -> None:
    for bench in BENCHES:
        assert ":Q4_K_M" in command(bench)
    assert len({command(bench) for bench in BENCHES}) == len(BENCHES)


def test_a_known_curve_is_taught_at_each_point() -> None:
    machine = advisor.with_known(advisor.describe_machine(**PARTS), "Qwen3-8B 90")
    swept = advisor.sweep("Qwen3-14B", machine, runtime="llama.cpp", prompt=[512, 4096])
    swept = swept[swept.placement == "gpu-resident"]
    for prompt, speed in zip(swept.prompt, swept.decode_tps, strict=True):
        work = advisor.Workload(prompt=int(prompt))
        single = advisor.estimate("Qwen3-14B", machine, work).decode.value
        assert np.isclose(speed, single)
