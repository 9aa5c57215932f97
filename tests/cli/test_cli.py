"""Every command: its output, its JSON for other programs, its refusals."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest

import advisor
from advisor.calibration import local_machine
from advisor.calibration.local_machine import Calibration
from advisor.catalog.csv_tables import DATA, read
from advisor.cli.main import main
from advisor.cli.parser import COMMANDS, OthersOption, option_names, parsed, parser
from advisor.errors import InputError, Refusal
from advisor.failures import ProbeError, StoreError
from advisor.formatting import aligned
from advisor.machine import from_spec
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.probes import suite
from advisor.probes.gpu import detect
from advisor.probes.gpu.detect import GpuFacts
from advisor.probes.measurement import Measurement, ProbeStep
from advisor.request import estimates
from advisor.runtimes import RUNTIMES

# The keys that the design promises to other programs.
MODEL_KEYS = {
    "name", "architecture", "params", "active_params", "layers", "weight_bytes",
    "read_bytes_per_token", "kv_bytes_per_token", "kv_bytes", "source",
}  # fmt: skip
ESTIMATE_KEYS = {
    "runtime", "placement", "routes", "fits", "missing_bytes", "decode_tps", "decode_tps_low",
    "decode_tps_high", "decode_tps_total", "prefill_tps", "prefill_tps_low", "prefill_tps_high",
    "ttft_s", "ttft_s_low", "ttft_s_high", "load_s", "vram_bytes", "ram_bytes", "disk_bytes",
    "seconds", "bottleneck", "command", "assumptions",
}  # fmt: skip
PROBE_KEYS = {"name", "value", "unit", "spread", "threads", "when", "note", "curve"}

MACHINE = ("--gpu", "RTX 4090", "--ram-gb", "64", "--ram-gbs", "60", "--disk-gbs", "5")
LLAMA = ("--model", "Llama-3.1-70B")
RAM = Measurement(
    name="ram_read",
    value=38.3e9,
    unit="B/s",
    spread=0.03,
    threads=8,
    when="2026-11-20T10:00:00+00:00",
    note="8: 38.3 GB/s",
)
LINK = replace(RAM, name="pcie_generation", value=4.0, unit="generation", spread=0.0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own."""
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("ADVISOR_DATABASE_URL", raising=False)
    return tmp_path / "data"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """Runs a command: its exit code, what it printed, what it complained of."""

    def run(*arguments: object) -> tuple[object, str, str]:
        try:
            code: object = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse leaves after a help
            code = stop.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def answers(run):
    """Runs a command that must succeed and print JSON."""

    def answers(*arguments: object):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return answers


def test_version_and_help(run) -> None:
    assert run("--version")[:2] == (0, f"{advisor.__version__}\n")
    code, out, _ = run("--help")
    assert code == 0
    assert all(
        name in out for name in ("model", "estimate", "advise", "predict", "probe", "report")
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--json"], "COMMAND must be given."),
        (["modell", "x"], "No command is called 'modell'. Did you mean model?"),
        (["report", "lst"], "No action is called 'lst'. Did you mean list?"),
        (
            ["report", "export", "1", "--format", "pfd"],
            "No format is called 'pfd'. Did you mean pdf",
        ),
        (["report", "show", "x"], "ID is 'x'; it should be a whole number."),
        (["estimate", "--modle", "x"], "`estimate` has no option --modle. Did you mean --model?"),
        (
            ["model", "x", "--gpu", "y"],
            "`model` has no option --gpu. It is an option of `short`, `estimate`",
        ),
        (
            ["advise", "rtx 3090", "qwen3-8b", "x"],
            "'x' is one word too many. Put a name of several words in",
        ),
        (["machine", "2x", "3090"], "'3090' is one word too many. Put a name of several words in"),
        (["estimate", "--model"], "--model has no value."),
        (["estimate", "--json"], "--model must be given."),
        (["diagnose", "--model", "x"], "One of --measured --results must be given."),
        (["estimate", "--model", "x", "--ram-g", "6"], "--ram-g may mean --ram-gb, --ram-gbs"),
        (
            ["estimate", "--model", "x", "--ram", "6"],
            "`estimate` has no option --ram. It is --ram-gb here.",
        ),
        (
            ["advise", "--model", "x", "--budget=900"],
            "`advise` has no option --budget. It is --max-usd here.",
        ),
        (
            ["advise", "-ngl", "99"],
            "`advise` has no option -ngl. What llama.cpp calls -ngl is --gpu-layers here.",
        ),
        (["watch", "u", "--model", "x", "--every", "y"], "--every is 'y'; it should be a number."),
    ],
)
def test_words_that_are_not_taken_get_a_sentence_and_where_to_look(words, sentence, run) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"advisor: {sentence}")
    assert " --help` says what it takes.\n" in err
    assert len(err.splitlines()) == 1


def test_every_command_is_parsed_alone_and_with_all_others() -> None:
    names = list(dict.fromkeys(row.command.split()[0] for row in COMMANDS))
    assert names_of("") == names
    assert [names_of(name) for name in names] == [[name] for name in names]


def test_every_command_has_a_function() -> None:
    for row in COMMANDS:
        if row.run:
            module, _, function = row.run.partition(".")
            assert callable(getattr(import_module(f"advisor.cli.{module}"), function)), row.command


def names_of(command: str) -> list[str]:
    """Commands that a parser takes."""
    (commands,) = (action.choices for action in parser(command)._actions if action.choices)
    return list(commands)


class TestModel:
    """`model NAME`."""

    def test_json(self, answers) -> None:
        result = answers("model", "Llama-3.1-8B", "--quant", "BF16", "--context", "4096")
        assert result.keys() >= MODEL_KEYS
        assert (result["name"], result["layers"]) == ("Llama-3.1-8B", 32)
        # 8,030,261,248 weights of 2 bytes; K and V of 8 heads x 128 in 32 layers of 2 bytes
        assert result["params"] == 8_030_261_248
        assert result["weight_bytes"] == pytest.approx(2 * 8_030_261_248, rel=1e-3)
        assert result["kv_bytes_per_token"] == 2 * 8 * 128 * 32 * 2
        assert result["kv_bytes"] == 131_072 * 4096

    def test_the_cache_depends_on_its_type_and_users(self, answers) -> None:
        half = answers("model", "Llama-3.1-8B", "--kv-type", "Q8_0", "--users", "2")
        # q8_0 keeps 32 values and their scale in 34 bytes
        assert half["kv_bytes"] == pytest.approx(2 * 131_072 * 8192 / 2 * 34 / 32)

    def test_text(self, run) -> None:
        code, out, _ = run("model", "gpt-oss-120b", "--quant", "MXFP4")
        assert code == 0
        assert "4 of 128 experts" in out
        assert "source: https://" in out

    @pytest.mark.parametrize(
        ("name", "kind"),
        [("Gemma-4-E2B", "by layer"), ("deepseek-ai/DeepSeek-V4.1-Flash", "of n-grams")],
    )
    def test_tables_beside_the_layers_are_told(self, run, name: str, kind: str) -> None:
        _, printed, _ = run("model", name)
        assert f"of its weights are tables {kind}: a token reads a few rows" in printed
        assert "tables" not in run("model", "Llama-3.1-8B")[1]


class TestEstimate:
    """`estimate --model NAME`."""

    def test_json(self, answers) -> None:
        result = answers("estimate", *LLAMA, *MACHINE)
        pairs = [(item["runtime"], item["placement"]) for item in result]
        assert pairs == [
            (runtime.name, str(place)) for runtime in RUNTIMES for place in runtime.strategies
        ]
        for entry in result:
            assert entry.keys() >= ESTIMATE_KEYS
            assert {"layers", "crossings", "hidden"} <= entry["seconds"].keys()
            if entry["fits"]:
                assert entry["missing_bytes"] == 0
                for name in ("decode_tps", "prefill_tps", "ttft_s"):
                    assert 0 < entry[f"{name}_low"] <= entry[name] <= entry[f"{name}_high"]
            else:
                assert entry["missing_bytes"] > 0
                assert entry["decode_tps"] is entry["bottleneck"] is None

    def test_seconds_without_hidden_copies_are_one_token(self, answers) -> None:
        for answer in answers("estimate", *LLAMA, *MACHINE):
            if answer["fits"]:
                seconds = sum(
                    value for part, value in answer["seconds"].items() if part != "hidden"
                )
                assert seconds == pytest.approx(1 / answer["decode_tps"])

    def test_assumptions_have_their_origin(self, answers) -> None:
        for answer in answers("estimate", *LLAMA, *MACHINE):
            for assumed in answer["assumptions"]:
                assert assumed.keys() == {"what", "value", "unit", "kind", "source", "date"}
                assert assumed["source"]

    def test_a_split_is_taken_as_given(self, answers) -> None:
        result = answers(
            "estimate", *LLAMA, *MACHINE, "--runtime", "llama.cpp", "--gpu-layers", "30"
        )
        offloaded = [entry for entry in result if entry["placement"] != "gpu-resident"]
        assert [entry["gpu_layers"] for entry in offloaded] == [30, 30]
        # The number goes to llama.cpp as it is, and llama.cpp counts the output head first in it.
        assert all("-ngl 30 " in entry["command"] for entry in offloaded)
        assert not any("-ot" in entry["command"] for entry in offloaded)

    def test_a_load_mode_and_a_cache_in_ram_become_options_of_llama_cpp(self, answers) -> None:
        result = answers(
            "estimate",
            *LLAMA,
            *MACHINE,
            "--runtime",
            "llama.cpp",
            "--gpu-layers",
            "9",
            "--load-mode",
            "none",
            "--no-kv-offload",
        )
        offloaded = next(entry for entry in result if entry["placement"] == "cpu-offload")
        assert "-lm none" in offloaded["command"]
        assert "-nkvo" in offloaded["command"]

    def test_joined_machines_hold_more(self, answers) -> None:
        result = answers(
            "estimate",
            *LLAMA,
            "--gpu",
            "RTX 3090",
            "--machines",
            "4",
            "--network-gbs",
            "3",
            "--runtime",
            "vllm",
        )
        assert all(len(entry["vram_bytes"]) == 4 for entry in result)
        assert "--nnodes 4" in result[0]["command"]

    def test_each_gpu_has_its_memory(self, answers) -> None:
        result = answers(
            "estimate", *LLAMA, "--gpu", "RTX 3090", "--gpu-count", "3", "--runtime", "llama.cpp"
        )
        assert all(len(entry["vram_bytes"]) == 3 for entry in result)

    def test_the_page_cache_is_in_gb_as_memory_is_sold(self, run, monkeypatch) -> None:
        seen = []
        real = estimates.compare
        monkeypatch.setattr(estimates, "compare", lambda *a, **k: seen.append(k) or real(*a, **k))
        assert run("estimate", *LLAMA, *MACHINE, "--cache-gb", "8")[0] == 0
        assert seen[0]["settings"].page_cache == 8 * 2**30

    def test_text_has_a_title_and_a_line_for_each(self, run) -> None:
        code, out, _ = run("estimate", *LLAMA, *MACHINE)
        assert code == 0
        title, empty, *lines = out.splitlines()
        assert title.startswith("Llama-3.1-70B, Q4_K_M, on RTX 4090")
        assert not empty
        assert lines.index("") == sum(len(runtime.strategies) for runtime in RUNTIMES)
        converted = "as AWQ, since it does not take Q4_K_M here"
        assert f"vLLM, SGLang: {converted}" in lines
        # Few publishers timed TensorRT-LLM, which is said of it alone, in a sentence of its own.
        (alone,) = (line for line in lines if line.startswith("TensorRT-LLM: "))
        assert alone.startswith(f"TensorRT-LLM: {converted}. 5 publishers timed TensorRT-LLM: ")
        lines = lines[: lines.index("")]
        starts = {line.index(form) for line in lines for form in ("Q4_K_M", "AWQ") if form in line}
        assert len(starts) == 1

    def test_title_counts_the_cards(self, run) -> None:
        _, out, _ = run("estimate", *LLAMA, "--gpu", "2x 3090", "--gpu-count", "2")
        assert "on 4x RTX 3090" in out.splitlines()[0]
        assert "tokens/s" in out
        assert "does not fit: " in out

    def test_without_a_machine_it_is_this_one(self, answers, monkeypatch) -> None:
        here = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=96))
        monkeypatch.setattr(local_machine, "this_machine", lambda *_: here)
        result = answers("estimate", "--model", "Llama-3.1-8B")
        assert any(
            assumption["what"].startswith("RTX 3090") for assumption in result[0]["assumptions"]
        )


class TestAdvise:
    """`advise --model NAME`."""

    def test_json(self, answers) -> None:
        result = answers("advise", *LLAMA, *MACHINE, "--replies-per-day", "100")
        assert result["judgement"] in result["verdict"]
        assert len(result["verdict"].splitlines()) >= 2
        assert result["safe_choice_reason"]
        for key in ("safe_choice", "cheapest"):
            assert result[key] is None or result[key] in result["options"]
        assert result["another_model"].keys() == {"name", "format", "decode_tps", "quality"}
        assert all(estimate.keys() >= ESTIMATE_KEYS for estimate in result["estimates"])
        assert {"change", "cost", "decode_tps", "gain"} == result["what_ifs"][0].keys()

    def test_text(self, run) -> None:
        code, out, _ = run("advise", *LLAMA, *MACHINE)
        assert code == 0
        assert "a month" in out
        assert "times as fast" in out

    def test_saving_keeps_a_report(self, run, answers) -> None:
        code, _, err = run("advise", *LLAMA, *MACHINE, "--save", "My 70B")
        assert (code, err) == (0, "Saved as report 1.\n")
        (head,) = answers("report", "list")
        assert (head["id"], head["name"]) == (1, "My 70B")
        assert head["summary"].startswith("It runs, but slower than you read: ")

    def test_who_names_a_file_is_told_how_it_is_written(self, run) -> None:
        _, _, err = run("advise", *LLAMA, *MACHINE, "--save", "my 70b.pdf")
        assert err.endswith("advisor report export 1 --format pdf -o 'my 70b.pdf'\n")


class TestDiagnose:
    """`diagnose --model NAME --measured TPS`."""

    def test_json(self, answers) -> None:
        result = answers("diagnose", *LLAMA, *MACHINE, "--measured", "0.9")
        assert (result["runtime"], result["placement"]) == ("llama.cpp", "cpu-offload")
        assert result["outcome"] == "slower than predicted"
        assert result["measured_tps"] == 0.9 < result["decode_tps_low"] < result["decode_tps"]
        keys = {"cause", "words", "detail", "explains", "share_of_gap", "decode_tps", "prior",
                "weight", "test", "command", "fix", "source"}  # fmt: skip
        assert result["causes"]
        assert all(cause.keys() >= keys for cause in result["causes"])
        (needed,) = result["needed"]
        assert (needed["what"], needed["assumed"]) == ("the sustained read rate of RAM", 60e9)
        assert needed["needed"] < 60e9

    def test_text(self, run) -> None:
        code, out, err = run("diagnose", *LLAMA, *MACHINE, "--measured", "0.9")
        assert (code, err) == (0, "")
        assert out.startswith("llama.cpp, cpu-offload, Q4_K_M: 0.90 tokens/s measured, ")
        assert "\n1. " in out
        assert "   Fix:  " in out

    def test_a_placement_can_be_named_whether_it_fits_or_not(self, answers) -> None:
        for place in ("nvme-offload", "GPU-resident"):
            result = answers(
                "diagnose", *LLAMA, *MACHINE, "--measured", "0.1", "--placement", place
            )
            assert result["placement"] == place.lower()

    def test_the_prompts_speed_is_weighed_too(self, answers) -> None:
        text = ("diagnose", *LLAMA, *MACHINE, "--measured", "2.2")
        assert answers(*text)["outcome"] == "as predicted"
        result = answers(*text, "--measured-prompt", "10")
        assert result["outcome"] == "slower than predicted"
        assert result["measured_prompt_tps"] == 10

    def test_the_file_of_another_tool_has_both_speeds(self, answers, run, tmp_path) -> None:
        path = tmp_path / "bench.json"
        rows = [
            {"n_prompt": 512, "n_gen": 0, "avg_ts": 10},
            {"n_prompt": 0, "n_gen": 8, "avg_ts": 2},
        ]
        path.write_text(json.dumps(rows))
        result = answers("diagnose", *LLAMA, *MACHINE, "--results", str(path))
        assert (result["measured_tps"], result["measured_prompt_tps"]) == (2, 10)
        result = answers(
            "diagnose", *LLAMA, *MACHINE, "--results", str(path), "--measured-prompt", "20"
        )
        assert result["measured_prompt_tps"] == 20
        code, _, err = run("diagnose", *LLAMA, *MACHINE, "--results", str(tmp_path))
        assert code == 2
        assert "cannot be read" in err

    def test_a_machine_that_is_described_may_run_anything(self, answers) -> None:
        result = answers("diagnose", *LLAMA, *MACHINE, "--measured", "1.2")
        assert "spilled" in {cause["cause"] for cause in result["causes"]}

    def test_this_machine_has_no_causes_of_other_systems(self, answers, monkeypatch) -> None:
        here = from_spec.machine(MachineSpec(gpu="RTX 4090", ram_gb=64, ram_gbs=60))
        monkeypatch.setattr(local_machine, "this_machine", lambda *_: here)
        monkeypatch.setattr("advisor.advice.diagnosis.diagnose.operating_system", lambda: "linux")
        result = answers("diagnose", *LLAMA, "--measured", "1.2")
        assert "spilled" not in {cause["cause"] for cause in result["causes"]}


class TestProbe:
    """`probe [ram|disk|gpu ...]`."""

    @pytest.fixture(autouse=True)
    def instruments(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Probes that answer at once."""
        self.calls: list[tuple[str, float]] = []
        monkeypatch.setattr(suite, "measure", self.measure)
        card = GpuFacts(name="Radeon RX 7900 XTX", vendor="AMD")
        monkeypatch.setattr(detect, "gpus", lambda: ((card,), ("No GPU driver answers.",)))

    def measure(self, part, seconds, progress, path):
        self.calls.append((part, seconds))
        progress(ProbeStep(share=0.5, seconds_left=1.0, doing="it"))
        progress(ProbeStep(share=1.0, seconds_left=0.0))
        if part == "ram":
            return (RAM, LINK)
        raise ProbeError(f"The {part} cannot be measured.")

    def test_json(self, answers) -> None:
        result, _ = answers("probe", "ram")
        assert result.keys() == PROBE_KEYS
        assert (result["name"], result["value"], result["unit"]) == ("ram_read", 38.3e9, "B/s")

    def test_a_part_that_cannot_be_measured_is_reported_and_stops_nothing(self, run) -> None:
        code, out, err = run("probe")
        assert code == 0
        assert "38.30 GB/s  within 3%" in out
        assert re.search(r"pcie_generation +4 generation +within 0%", out)
        assert "advisor: The disk cannot be measured." in err
        assert "advisor: The gpu cannot be measured." in err
        assert "advisor: No GPU driver answers." in err
        assert "advisor: Radeon RX 7900 XTX: its speed is taken from the catalogue." in err

    @pytest.mark.parametrize("error", [InputError("no model."), Refusal("not understood.")])
    def test_a_model_that_cannot_be_timed_costs_no_other_figure(self, run, error, monkeypatch):
        def measure(part, *rest, **more):
            if part == "engine":
                raise error
            return self.measure(part, *rest, **more)

        monkeypatch.setattr(suite, "measure", measure)
        code, out, err = run("probe", "ram", "engine", "--save")
        assert code == 0
        assert "38.30 GB/s" in out
        assert f"advisor: {error}" in err
        assert local_machine.load().figure("ram_read").value == 38.3e9

    def test_where_nothing_was_measured_nothing_is_saved(self, run, tmp_path) -> None:
        path = tmp_path / "machine.json"
        code, _, err = run("probe", "disk", "--save", "--export", str(path))
        assert code == 0
        assert "Nothing was measured, so nothing is saved." in err
        assert not path.exists()

    def test_a_reader_that_goes_away_takes_nothing_with_it(self, monkeypatch) -> None:
        reads, writes = os.pipe()
        os.close(reads)
        with os.fdopen(writes, "w") as out, monkeypatch.context() as patched:
            patched.setattr("sys.stdout", out)
            assert main(["probe", "ram", "--save"]) == 0
        assert local_machine.load().figure("ram_read").value == 38.3e9

    def test_repeats_far_apart_are_reported(self, run, monkeypatch) -> None:
        assert "differ widely" not in run("probe", "ram")[2]
        monkeypatch.setattr(suite, "measure", lambda *_, **__: (replace(RAM, spread=1.13),))
        assert "Repeats differ widely (ram_read 113%, each way)" in run("probe", "ram")[2]

    def test_closed_outputs_are_no_trouble(self, monkeypatch) -> None:
        with monkeypatch.context() as patched:
            patched.setattr("sys.stdout", None)
            patched.setattr("sys.stderr", None)
            assert main(["probe", "ram", "disk", "--save"]) == 0
        assert local_machine.load().figure("ram_read").value == 38.3e9

    def test_it_takes_its_time_or_is_quick(self, run) -> None:
        run("probe", "ram", "gpu")
        run("probe", "ram", "--quick")
        assert self.calls == [
            ("ram", suite.FULL["ram"]),
            ("gpu", suite.FULL["gpu"]),
            ("ram", suite.QUICK["ram"]),
        ]

    def test_saved_figures_are_used_from_now_on(self, run) -> None:
        assert run("probe", "ram")[0] == 0
        assert local_machine.load() == Calibration()
        assert run("probe", "ram", "--save")[0] == 0
        assert local_machine.load().figure("ram_read").value == 38.3e9

    def test_a_result_that_cannot_be_saved_is_still_shown(self, run, monkeypatch) -> None:
        def full(_: object) -> None:
            raise StoreError("The folder cannot be written.")

        monkeypatch.setattr(local_machine, "save", full)
        code, out, err = run("probe", "ram", "--save")
        assert code == 2
        assert "38.30 GB/s" in out
        assert "advisor: The folder cannot be written." in err


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one report."""
    place = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()):
        patch.setenv("ADVISOR_DATA_DIR", str(place))
        patch.delenv("ADVISOR_DATABASE_URL", raising=False)
        assert main(["advise", *LLAMA, *MACHINE, "--save", "kept"]) == 0
    return place


class TestReport:
    """`report list|show|export|import|delete`."""

    @pytest.fixture
    def number(self, filled: Path, folder: Path) -> int:
        """The report of a copy of that folder."""
        shutil.copytree(filled, folder)
        return 1

    def test_nothing_saved(self, run, answers) -> None:
        assert run("report", "list")[:2] == (0, "No report is saved yet.\n")
        assert answers("report", "list") == []

    def test_show(self, run, answers, number: int) -> None:
        assert "Llama-3.1-70B" in run("report", "show", number)[1]
        assert answers("report", "show", number)["title"].startswith("Llama-3.1-70B, Q4_K_M")

    @pytest.mark.parametrize(
        ("form", "start"), [("html", "<!doctype html>"), ("md", "# "), ("json", "{"), ("csv", "")]
    )
    def test_export(self, run, number: int, tmp_path: Path, form: str, start: str) -> None:
        code, out, _ = run("report", "export", number, "--format", form)
        assert code == 0
        assert out.lower().startswith(start)
        path = tmp_path / f"report.{form}"
        assert run("report", "export", number, "--format", form, "-o", path)[:2] == (0, "")
        assert path.read_bytes().decode() == out
        path.unlink()
        assert run("report", "export", number, "-o", path)[:2] == (0, "")  # by the file's name
        assert path.read_bytes().decode() == out

    def test_an_export_can_be_imported(self, run, answers, number, tmp_path) -> None:
        path = tmp_path / "report.json"
        run("report", "export", number, "--format", "json", "-o", path)
        assert answers("report", "import", path) == {"id": number}  # it is there already
        assert answers("report", "import", path, "--name", "again") == {"id": 2}
        shown, again = (answers("report", "show", own) for own in (number, 2))
        differing = {key for key in shown if shown[key] != again[key]}
        assert differing == {"name", "saved"}

    def test_delete(self, run, answers, number: int) -> None:
        assert run("report", "delete", number)[1].startswith("Report 1 is deleted;")
        assert answers("report", "list") == []
        assert [row["id"] for row in answers("report", "list", "--deleted")] == [number]
        assert answers("report", "restore", number) == {"restored": number}
        assert [row["id"] for row in answers("report", "list")] == [number]

    def test_annotate_and_filters(self, run, answers, number: int) -> None:
        changed = answers(
            "report", "annotate", number, "--name", "new", "--notes", "why", "--tag", "lab"
        )
        assert changed == {"id": number, "name": "new", "notes": "why", "tags": ["lab"]}
        assert answers("report", "annotate", number, "--untag", "lab")["tags"] == []
        for option, value, count in (
            ("--search", "WHY", 1),
            ("--search", "absent", 0),
            ("--model", "Llama-3.1-70B", 1),
            ("--tag", "lab", 0),
            ("--since", "2020-01-01", 1),
            ("--until", "2020-01-01", 0),
        ):
            assert len(answers("report", "list", option, value)) == count
        assert "Nothing to change" in run("report", "annotate", number)[2]

    def test_compare(self, run, answers, number: int) -> None:
        assert run("advise", *LLAMA, *MACHINE, "--users", "4", "--save", "four")[0] == 0
        record = answers("report", "compare", number, 2)
        assert [row["name"] for row in record["reports"]] == ["kept", "four"]
        of_four = {"users": ["1", "4"], "replies a day": ["40", "160"]}  # 40 for each user
        assert record["differing_inputs"] == of_four
        text = run("report", "compare", number, 2)[1]
        assert "Inputs that differ" in text
        assert "in_place" not in text
        assert "A comparison needs two reports" in run("report", "compare", number)[2]

    def test_today_says_nothing_changed_where_nothing_did(self, answers, number: int) -> None:
        assert answers("report", "compare", number, "--today") == {
            "today": [{"id": number, "changes": []}]
        }

    def test_a_result_is_judged_and_contributed(self, run, answers, number: int) -> None:
        judged = answers("report", "attach", number, "--measured", "1000", "--note", "after all")
        assert judged["outcome"] == "above"
        assert "above the range" in run("report", "show", number)[1]
        assert "repeat with --agree" in run("report", "contribute", number)[2]
        made = answers("report", "contribute", number, "--agree")
        columns = (DATA / "measurements" / "llama_cpp.csv").read_text().splitlines()[0].split(",")
        (row,) = csv.DictReader([",".join(columns), made["line"]])
        assert (row["model"], row["tg_tps"], row["category"]) == (
            "Llama-3.1-70B",
            "1000",
            "partial",
        )
        assert "64.0 GB of RAM" in row["source_note"]
        assert (row["cpu"], row["ram_bw_gbs"]) == ("", "60")  # typed; nobody named a processor
        assert "9 is none" in run("report", "contribute", number, "--result", "9", "--agree")[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        # names, with what was meant
        (("model", "Llama-3.1-71B"), "Did you mean Llama-3.1-70B"),
        (("model", "Llama-3.1-8B", "--quant", "Q4_KX"), "Q4_K_M"),
        (("model", "Llama-3.1-8B", "--kv-type", "q9"), "use one of f32, f16"),
        (("model", "RadixArk/Kimi-K3-DSpark"), "does not run alone"),
        (("estimate", "--model", "3090", "--gpu", "Llama-3.1-8B"), "'3090' is a GPU (RTX 3090)"),
        (("model", "Llama-3.1-8B", "--quant", "Q"), "Common ones are Q4_K_M, Q6_K"),
        (("machine", "this"), "here` describes this machine"),
        # options that say nothing here
        (("find", *MACHINE, "--quant", "Q4_K_M"), "--quant is for finding machines"),
        (("advise", *LLAMA, *MACHINE, "--author", "Ada"), "give --save NAME, too"),
        (("advise", *LLAMA, *MACHINE, "--usd-rate", "0"), "give --currency, such as EUR"),
        # files
        (("model", "/dev/null"), "'/dev/null' is a pipe or a device"),
        (("model", "/dev"), "There is no config.json in '/dev'"),
        (("estimate", *LLAMA, "--gpu", "RTX 4909"), "Did you mean RTX 4090"),
        (("estimate", *LLAMA, "--cpu", "Ryzen 9 7951X"), "Did you mean Ryzen 9 7950X"),
        (("estimate", *LLAMA, *MACHINE, "--runtime", "llama.cop"), "Did you mean llama.cpp"),
        (("estimate", *LLAMA, *MACHINE, "--runtime", "MLC"), "MLC LLM is known and not modelled"),
        # sizes
        (("estimate", *LLAMA, "--ram-gb", "-64"), "RAM (--ram-gb) is -64.0; allowed is 0.5 to"),
        (("estimate", *LLAMA, "--ram-gb", "nan"), "RAM (--ram-gb) is nan; allowed is"),
        (("estimate", *LLAMA, "--ram-gbs", "1e30"), "RAM (--ram-gbs) is 1e+30; allowed is"),
        (
            ("estimate", *LLAMA, "--gpu", "L4", "--vram-gb", "inf"),
            "(--vram-gb) is inf; allowed is",
        ),
        (("estimate", *LLAMA, "--vram-gb", "24"), "say which with --gpu NAME"),
        (("estimate", *LLAMA, "--gpu-count", "2"), "say which with --gpu NAME"),
        (
            ("estimate", *LLAMA, "--gpu", "L4", "--gpu-count", "0"),
            "(--gpu-count) is 0; allowed is",
        ),
        (("estimate", *LLAMA, "--disk-gbs", "0"), "Drive (--disk-gbs) is 0.0; allowed is"),
        (
            ("estimate", *LLAMA, *MACHINE, "--gpu-layers", "-1"),
            "(--gpu-layers) is -1; allowed is",
        ),
        (("estimate", *LLAMA, *MACHINE, "--cpu-moe", "nan"), "(--cpu-moe) is nan; allowed is"),
        (("estimate", *LLAMA, *MACHINE, "--cache-gb", "inf"), "(--cache-gb) is inf; allowed is"),
        (
            ("model", "Llama-3.1-8B", "--context", "0"),
            "(--context) is 0; allowed is 1 to",
        ),
        (("model", "Llama-3.1-8B", "--users", "1e30"), "(--users) is 1e+30; allowed is 1 to"),
        (("model", "Llama-3.1-8B", "--output", "nan"), "(--output) is nan; allowed is 1 to"),
        (
            ("advise", *LLAMA, *MACHINE, "--usd-per-kwh", "-1"),
            "(--usd-per-kwh) is -1.0; allowed",
        ),
        (("advise", *LLAMA, *MACHINE, "--purchase-months", "0"), "(--purchase-months) is 0.0"),
        # measured speeds
        (("diagnose", *LLAMA, "--gpu", "L4", "--measured", "0"), "measured is 0 tokens/s; allowed"),
        (("diagnose", *LLAMA, "--gpu", "L4", "--measured", "-1"), "measured is -1 tokens/s"),
        (("diagnose", *LLAMA, "--gpu", "L4", "--measured", "nan"), "measured is nan tokens/s"),
        (("diagnose", *LLAMA, "--gpu", "L4", "--measured", "1e9"), "allowed is 0.0001 to 100,000"),
        (
            ("diagnose", *LLAMA, "--gpu", "L4", "--measured", "1", "--measured-prompt", "inf"),
            "measured prompt is inf tokens/s",
        ),
        (
            ("diagnose", *LLAMA, "--ram-gb", "64", "--measured", "1", "--runtime", "vllm"),
            "There is nothing to compare with. vLLM",
        ),
        (("estimate", *LLAMA, "--ram-gb", "lots"), "'lots' cannot be read; give memory"),
        # probes and reports
        (("probe", "keyboard"), "No probe is called 'keyboard'; choose from ram, disk, gpu"),
        (("report", "show", "99"), "99"),
        (("report", "export", "99"), "99"),
        (("report", "delete", "99"), "99"),
        (("report", "import", "absent.json"), "absent.json cannot be read: No such file"),
    ],
)
def test_an_invalid_value_is_reported_in_a_sentence(run, arguments, words: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--gpu-layers", "80"), "has 32 layers, fewer than the 80 of --gpu-layers"),
        (("--cpu-moe", "4"), "Llama-3.1-8B has no experts, so --cpu-moe changes nothing"),
        (("--machine", "Mac Studio M3 Ultra"), "A Mac with Apple's chips takes no RTX 3090"),
    ],
)
def test_what_an_option_cannot_do_is_said(run, options, sentence: str) -> None:
    command = ("estimate", "--model", "Llama-3.1-8B", "--gpu", "RTX 3090", "--runtime", "llama.cpp")
    assert sentence not in run(*command, "--gpu-layers", "33")[2]
    code, out, err = run(*command, *options)
    assert (code, sentence in err) == (0, True)
    assert out


def test_predictions_are_not_written_over_the_rows_that_are_read(run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("id,model\n1,Llama-3.1-8B\n")
    code, out, err = run("predict", rows, "-o", tmp_path / "." / "rows.csv")
    assert (code, out) == (2, "")
    assert "is the file that is read; give another name" in err
    assert rows.read_text().startswith("id,model\n")


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    rows = [("name", "speed"), ("a longer name", "7"), ("b", "123")]
    lines = [*aligned(rows, right=(1,))]
    assert lines == ["name           speed", "a longer name      7", "b                123"]
    assert [*aligned([])] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no rows"),
        ("id,category\n", "holds no rows"),
        ("id,gpu\n1,RTX 3090\n", "no column 'model' or 'params_b'"),
        (b"\xff\xfe\x00", "cannot be read as a CSV file"),
        (None, "cannot be read: No such file"),
    ],
)
def test_files_that_hold_no_rows_to_predict(run, tmp_path: Path, text, words: str) -> None:
    path = tmp_path / "rows.csv"
    if text is not None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    code, out, err = run("predict", path)
    assert (code, out) == (2, "")
    assert words in err
    assert str(path) in err


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 99}', '{"title": 5}'])
def test_files_that_are_no_report(run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    code, out, err = run("report", "import", path)
    assert (code, out) == (2, "")
    assert err.startswith("advisor: ")


def test_places_that_cannot_be_written(run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("id,category,model\n1,cpu,Llama-3.1-8B\n", encoding="utf-8")
    code, _, err = run("predict", rows, "-o", tmp_path / "absent" / "out.csv")
    assert code == 2
    assert "cannot be written: No such file or directory" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is full")
@pytest.mark.parametrize("form", [["--json"], []], ids=("JSON", "text"))
def test_an_output_that_takes_no_more_is_said(form: list[str]) -> None:
    command = [sys.executable, "-m", "advisor", "machine", "RTX 3060 12GB, 32 GB", *form]
    with Path("/dev/full").open("w") as full:
        told = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert told.returncode == 2
    assert told.stderr.startswith("advisor: The answer cannot be written whole: No space left")
    assert "Traceback" not in told.stderr
    assert "Exception ignored" not in told.stderr


def test_an_interrupt_ends_quietly(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(resolve, "find", interrupted)
    assert run("model", "Llama-3.1-8B") == (130, "", "")


def test_what_others_call_an_option_is_one_of_a_command_here_that_has_no_option_so_called() -> None:
    for other in read(DATA / "commands/others_options.csv", OthersOption):
        named = [set(option_names(row)) for row in COMMANDS]
        assert [names for names in named if other.option in names and other.word not in names]
        assert bool(other.of) is other.source.startswith("https://"), other


def test_an_option_that_is_given_twice_is_said_to_count_once(run) -> None:
    twice = ("--model", "Qwen3-8B", "--model", "Llama-3.1-8B")
    _, printed, told = run("estimate", *twice, "--gpu", "RTX 3090", "--ram-gb", 64)
    assert "Llama-3.1-8B" in printed
    assert "--model is given twice: Llama-3.1-8B counts, and Qwen3-8B does not." in told


def test_more_answers_than_a_machine_can_write_are_said_in_short(run) -> None:
    many = ("--replies-per-day", 1_000_000)
    _, printed, _ = run("RTX 3090", "Qwen3-8B", *many)
    assert printed.split("  ")[1] == "CANNOT KEEP UP"


def test_a_profiler_sees_the_end_of_a_command() -> None:
    command = [sys.executable, "-m", "cProfile", "-m", "advisor", "--version"]
    profiled = subprocess.run(command, capture_output=True, text=True, check=True)
    assert profiled.stdout.startswith(advisor.__version__)
    assert "function calls" in profiled.stdout


@pytest.mark.parametrize("command", ["advise", "estimate", "diagnose --measured=3", "find"])
def test_a_machine_and_a_model_may_stand_behind_their_command(command: str) -> None:
    name, *options = command.split()
    named = vars(parsed([name, "--machine", "rtx 3090", "--model", "qwen3-8b", *options]))
    assert vars(parsed([name, "rtx 3090", "qwen3-8b", *options])) == named
    assert vars(parsed([name, "rtx 3090", "--model", "qwen3-8b", *options])) == named
    assert vars(parsed([name, "qwen3-8b", "--machine=rtx 3090", *options])) == named


@pytest.mark.parametrize(("word", "taken"), [("qwen3-8b", "model"), ("rtx 3090", "machine")])
def test_one_word_behind_a_command_is_what_it_names(word: str, taken: str) -> None:
    assert vars(parsed(["find", word])) == vars(parsed(["find", f"--{taken}", word]))
