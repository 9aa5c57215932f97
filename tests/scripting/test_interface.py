"""The Python interface: its names, its documentation, its answers beside the command line's."""

import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import advisor
from advisor import (
    AdvisorError,
    Workload,
    advise,
    compare,
    describe_machine,
    estimate,
    find_model,
    sweep,
)
from advisor.cli.main import main
from advisor.errors import InputError
from advisor.runtimes import RUNTIMES
from advisor.scripting import TakenForAnother, combinations

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.fixture(scope="module")
def machine():
    return describe_machine(gpu="RTX 3090", ram_gb=64, ram_gbs=40)


def test_no_name_is_a_folder_or_a_file():
    inside = {path.stem for path in (ROOT / "advisor").iterdir()}
    assert inside.isdisjoint(advisor.__all__)


def test_every_name_is_there_and_documented():
    for name in advisor.__all__:
        assert getattr(advisor, name) is not None
        assert re.search(rf"^\| `{name}\b", DOCUMENT, re.MULTILINE), name


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_such"):
        advisor.nothing_such  # noqa: B018  the access is what is tested


def test_importing_loads_nothing():
    code = "import advisor, sys; print([name for name in sys.modules if 'advisor.' in name])"
    done = subprocess.run(
        (sys.executable, "-c", code), cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_examples_run():
    assert EXAMPLES
    names = {}
    for example in EXAMPLES:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(example, "docs/python.md", "exec"), names)
        assert printed.getvalue(), example


def test_it_answers_as_the_command_line(machine, capsys):
    options = ("--gpu", "RTX 3090", "--ram-gb", "64", "--ram-gbs", "40", "--users", "2")
    assert main(("estimate", "--model", "Qwen3-30B-A3B", *options, "--json")) == 0
    printed = json.loads(capsys.readouterr().out)
    answers = compare("Qwen3-30B-A3B", machine, Workload(users=2))
    assert len(answers) == len(printed)
    for answer, record in zip(answers, printed, strict=True):
        assert (answer.runtime.name, answer.strategy) == (record["runtime"], record["placement"])
        if record["decode_tps"] is not None:
            assert answer.decode.value == record["decode_tps"]


def test_a_model_may_be_named_or_found(machine):
    model = find_model("Llama-3.1-8B", "Q8_0")
    assert model.format == "Q8_0"
    named = estimate("Llama-3.1-8B", machine)
    assert estimate(find_model("Llama-3.1-8B"), machine).decode.value == named.decode.value


def test_without_a_placement_the_fastest_that_fits_is_given(machine):
    answers = compare("Llama-3.1-70B", machine, runtime="llama.cpp")
    fitting = [float(answer.decode.value) for answer in answers if bool(answer.fits)]
    assert float(estimate("Llama-3.1-70B", machine).decode.value) == max(fitting)


def test_a_split_is_kept(machine):
    placed = estimate("Llama-3.1-70B", machine, placement="cpu-offload", gpu_layers=20)
    assert float(placed.placement.gpu_layers) == 19  # beside the head, as `-ngl 20`
    assert "-ngl 20 " in placed.command


def test_advice_is_of_the_runtime_named(machine):
    assert advise("Llama-3.1-70B", machine, runtime="Ollama").chosen.name == "Ollama"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda _: describe_machine(), "named_machine"),
        (lambda _: describe_machine(gpu="RTX 3090", ram=64), "has no ram; it has gpu"),
        (lambda _: describe_machine(gpu="RTX 3090", ram_gb=-1), "allowed is"),
        (lambda _: describe_machine(gpu="RTX 3091"), "RTX 3090"),
        (lambda m: estimate("Llama-3.1-8B", m, placement="gpu"), "gpu-resident"),
        (lambda m: estimate("Llama-3.1-8B", m, placement="nvme-offload", runtime="vLLM"), "drive"),
        (lambda m: estimate("Llama-3.1-8B", m, runtime="lama"), "lama"),
        (lambda m: compare("Llama-3.1-8B", m, users=4), "Workload"),
        (lambda m: sweep("Llama-3.1-8B", m, user=[1, 2]), "user cannot be varied"),
        (lambda m: sweep("Llama-3.1-8B", m, users=["two"]), "give a number"),
        (lambda m: sweep("Llama-3.1-8B", m, users=[]), "give a number"),
        (lambda m: sweep("Llama-3.1-8B", m, users=[1, 0]), "users"),
        (lambda m: sweep([], m), "no model"),
    ],
)
def test_an_invalid_input_states_what_is_allowed(machine, call, words):
    with pytest.raises(AdvisorError, match=re.escape(words)):
        call(machine)


def test_combinations_are_all_of_them():
    grid = combinations({"users": [1, 2, 4], "context": [8192, 32768]})
    pairs = list(zip(grid["users"].tolist(), grid["context"].tolist(), strict=True))
    assert pairs == list(product([1, 2, 4], [8192, 32768]))
    with pytest.raises(InputError):
        combinations({"users": [[1, 2]]})


def test_every_row_of_a_sweep_is_an_estimate_of_its_own(machine):
    models = ("Llama-3.1-70B", "Qwen3-30B-A3B")
    contexts = (8192, 32768)
    users = (1, 4)
    table = sweep(models, machine, context=contexts, users=users)
    placements = sum(len(runtime.strategies) for runtime in RUNTIMES)
    assert len(table) == len(models) * len(contexts) * len(users) * placements
    rows = table.set_index(["model", "context", "users", "runtime", "placement"])
    for name, context, count in product(models, contexts, users):
        for alone in compare(name, machine, Workload(context=context, users=count)):
            row = rows.loc[
                (alone.model.name, context, count, alone.runtime.name, str(alone.strategy))
            ]
            assert row["fits"] == bool(alone.fits)
            assert row["note"] == (alone.refusal or alone.format_note)
            if row["fits"]:
                single = (alone.decode.value, alone.decode.low, alone.first_token.high)
                swept = (row["decode_tps"], row["decode_tps_low"], row["ttft_s_high"])
                assert np.allclose(swept, single, rtol=1e-9)
            else:
                assert np.isnan(row["decode_tps"])
                assert row["missing_bytes"] == pytest.approx(float(alone.missing))


def test_layers_are_swept(machine):
    table = sweep("Llama-3.1-70B", machine, runtime="llama.cpp", gpu_layers=range(0, 41, 10))
    speeds = table[table.placement == "cpu-offload"].decode_tps.to_numpy()
    assert (np.diff(speeds[np.isfinite(speeds)]) > 0).all()


def test_machines_are_swept(machine):
    table = sweep("Llama-3.1-8B", [machine, describe_machine(gpu="RTX 4090")], runtime="llama.cpp")
    resident = table[table.placement == "gpu-resident"]
    assert resident.decode_tps.is_monotonic_increasing
    assert resident.machine.nunique() == 2


WORDS = "3090 with 64 GB"


def test_every_function_takes_a_machine_in_words() -> None:
    assert advisor.estimate("Llama-3.1-8B", WORDS).decode is not None
    assert advisor.compare("Llama-3.1-8B", WORDS, runtime="llama.cpp")
    assert advisor.advise("Llama-3.1-8B", WORDS).judgement
    table = advisor.sweep(["Llama-3.1-8B"], [WORDS, "4090 with 64 GB"], runtime="llama.cpp")
    assert set(table["machine"]) == {
        advisor.named_machine(name).name for name in (WORDS, "4090 with 64 GB")
    }


def test_a_machine_that_nobody_knows_is_an_error_in_words() -> None:
    with pytest.raises(advisor.AdvisorError, match="No machine is called"):
        advisor.estimate("Llama-3.1-8B", "no such thing")


def test_what_a_notebook_shows_is_a_line() -> None:
    model = advisor.find_model("Llama-3.1-8B")
    machine = advisor.describe_machine(gpu="RTX 3090", ram_gb=64)
    advice = advisor.advise(model, machine)
    shown = (model, machine, advice, *advice.estimates, *advice.options, *advice.what_ifs[:1])
    for each in shown[:-1]:
        assert len(repr(each)) < 400, repr(each)[:200]
        assert "\n" not in repr(each)
    assert "Llama-3.1-8B" in repr(advice)
    html = advice._repr_html_()
    assert html.count("<br>") == 3
    assert "tokens a second" in html
    assert len(html) < 1500


def test_the_examples_of_the_interface_hold() -> None:
    import doctest

    from advisor import scripting

    names = (name for name in advisor.__all__ if hasattr(scripting, name))
    functions = [getattr(scripting, name) for name in names]
    for function in functions:
        if callable(function) and function.__module__ == "advisor.scripting":
            assert ">>>" in (function.__doc__ or ""), function.__name__
    assert doctest.testmod(scripting).failed == 0


def test_what_is_answered_by_something_near_it_is_a_warning() -> None:
    with pytest.warns(TakenForAnother, match="is not known"):
        advisor.estimate("Qwen9-8B", "RTX 3090 with 64 GB")
    with pytest.warns(TakenForAnother, match="'flux'"):
        advisor.estimate("Llama-3.1-8B", "RTX 3090 with 64 GB and a flux drive")
    with pytest.warns(TakenForAnother, match="IQ4_KS"):
        advisor.find_model("Llama-3.1-8B", quant="IQ4_KS")
