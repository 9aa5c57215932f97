"""The engine probe: costs from times, files it leaves, failures.

The engine of most tests is a stub that takes exactly as long as a formula says, so that the probe
must find the formula's numbers again. No clock is judged.
"""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from engine import needs_engine

from advisor.failures import ProbeError
from advisor.model.architecture import ArchitectureSpec
from advisor.model.gguf.read import describe_path
from advisor.model.model import Model
from advisor.probes import host
from advisor.probes.llama_cpp import die_with_parent, engine, samples
from advisor.probes.llama_cpp.job import EngineJob, Timings, output_of
from advisor.probes.llama_cpp.programs import LLAMA_BENCH, XLLAMACPP
from advisor.probes.llama_cpp.synthetic_model import in_format, in_type, write
from advisor.probes.measurement import ProbeStep
from advisor.units import GIB, MIB

RATES = {"Q4_K": 20e9, "Q8_0": 24e9, "Q6_K": 22e9, "Q4_0": 18e9, "F16": 30e9, "Q4_K_M": 21e9}
PLAIN = {"Q4_K": 16e9, "Q4_0": 12e9}
LAYER = 120e-6
EXPERT_LAYER = 40e-6
ATTENTION = 15e9
PROMPT = 80.0
FACTS = replace(host.facts(), memory_available=int(16 * GIB), llc=int(32 * MIB), cores=2)
TINY = ArchitectureSpec(
    name="tiny",
    layers=2,
    hidden=256,
    intermediate=512,
    heads=4,
    kv_heads=2,
    head_dim=64,
    vocab=512,
)


def seconds(model: Model, rate: float, depth: int) -> float:
    return (
        model.read_bytes_per_token / rate
        + model.layers * LAYER
        + float(np.sum(model.per_layer.attention_flops)) * depth / ATTENTION
        + float(np.sum(model.per_layer.expert_layers)) * EXPERT_LAYER
    )


def exact(job: EngineJob, stop) -> Timings:
    """An engine that takes as long as the formula says."""
    stop()
    model = described(job.path)
    kind = max(model.stored, key=lambda entry: model.stored[entry])
    rate = (PLAIN if job.plain else RATES)[kind]
    return Timings(
        token_seconds={depth: (seconds(model, rate, depth),) * 3 for depth in job.depths},
        prompt_rates=(PROMPT,) * 2 if job.prompt else (),
    )


def described(path: Path) -> Model:
    model = describe_path(path).model
    assert model is not None
    return model


@pytest.fixture(autouse=True)
def stubbed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An exact engine on a machine with memory, and a folder for what it writes."""
    use(monkeypatch, exact)
    monkeypatch.setattr(host, "facts", lambda: FACTS)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def use(monkeypatch: pytest.MonkeyPatch, run) -> None:
    stub = SimpleNamespace(available=lambda: True, run=run)
    monkeypatch.setattr(engine, "ENGINES", {"stub": stub})


def open_files() -> int:
    folder = Path("/proc/self/fd")
    if folder.is_dir():
        return len(list(folder.iterdir()))
    return 0


def test_the_formula_is_reproduced() -> None:
    by_name = {item.name: item for item in engine.measure(600)}
    for kind in ("Q4_K", "Q8_0", "Q6_K", "Q4_0", "F16"):
        measurement = by_name[f"engine_read_{kind.casefold()}"]
        assert measurement.value == pytest.approx(RATES[kind], rel=1e-6)
        assert (measurement.unit, measurement.threads, measurement.spread) == ("B/s", 2, 0.0)
    for kind, rate in PLAIN.items():
        assert by_name[f"engine_plain_{kind.casefold()}"].value == pytest.approx(rate, rel=1e-6)
    assert by_name["engine_layer"].value == pytest.approx(LAYER, rel=1e-6)
    assert by_name["engine_layer"].unit == "s"
    assert by_name["engine_expert_layer"].value == pytest.approx(EXPERT_LAYER, rel=1e-6)
    for heads in ("128_4", "64_4", "64_8", "128_1", "64_1"):
        measurement = by_name[f"engine_attention_{heads}"]
        assert (measurement.value, measurement.unit) == (
            pytest.approx(ATTENTION, rel=1e-6),
            "FLOP/s",
        )


def test_a_prompt_skips_the_last_feed_forward_part() -> None:
    by_name = {measurement.name: measurement.value for measurement in engine.measure(600)}
    # A wide layer: attention of 4096 x (4096 + 1024 + 1024 + 4096) weights, then three matrices of
    # 4096 x 14336; two operations for each weight. 256 MiB hold one layer in Q8_0 and two in Q4_K.
    attention = 2 * 4096 * 10240
    feed_forward = 2 * 3 * 4096 * 14336
    assert by_name["engine_prompt_q8_0"] == pytest.approx(PROMPT * attention, rel=1e-3)
    assert by_name["engine_prompt_q4_k"] == pytest.approx(
        PROMPT * (2 * attention + feed_forward), rel=1e-3
    )


# The machine's speed over a probe: half of the usual at a turn in the middle, and so on.
PACES = {
    "slower and slower": lambda part: 1.0 + 0.4 * part,
    "faster and faster": lambda part: 1.0 / (1.0 + 0.4 * part),
    "a slow middle": lambda part: 1.2 if 0.3 < part < 0.7 else 1.0,
    "steady": lambda part: 1.0,
}


@pytest.fixture
def drifting(monkeypatch: pytest.MonkeyPatch):
    """An engine on a machine whose speed changes, with a clock that each sample moves by 1 s."""

    def install(pace) -> None:
        clock = SimpleNamespace(now=0.0)
        parts = len(samples.samples(FACTS))

        def run(job: EngineJob, stop) -> Timings:
            even = exact(job, stop)
            slow = pace((clock.now + 0.5) / parts)
            clock.now += 1.0
            return Timings(
                token_seconds={
                    depth: tuple(time * slow for time in times)
                    for depth, times in even.token_seconds.items()
                },
                prompt_rates=tuple(rate / slow for rate in even.prompt_rates),
            )

        use(monkeypatch, run)
        monkeypatch.setattr(engine, "now", lambda: clock.now)

    return install


def test_the_first_sample_is_timed_between_the_others() -> None:
    wanted = samples.samples(FACTS)
    places = [place for place, sample in enumerate(wanted) if sample == wanted[0]]
    assert places[0] == 0
    assert places[-1] == len(wanted) - 1
    assert max(after - before for before, after in pairwise(places)) <= samples.BETWEEN + 1


@pytest.mark.parametrize("kind", ["slower and slower", "faster and faster", "steady"])
def test_a_drift_of_the_machine_is_taken_out(drifting, kind: str) -> None:
    drifting(PACES[kind])
    by_name = {item.name: item for item in engine.measure(600)}
    # The pace at which all is compared: the mean of the reference's turns, on a logarithmic scale.
    wanted = samples.samples(FACTS)
    turns = [place for place, sample in enumerate(wanted) if sample == wanted[0]]
    paces = [PACES[kind]((place + 0.5) / len(wanted)) for place in turns]
    mean = float(np.exp(np.mean(np.log(paces))))
    assert by_name["engine_read_q8_0"].value == pytest.approx(RATES["Q8_0"] / mean, rel=0.01)
    assert by_name["engine_read_f16"].value == pytest.approx(RATES["F16"] / mean, rel=0.01)
    # Early and late samples together: a tenth of error in either would double a layer's cost.
    assert by_name["engine_layer"].value == pytest.approx(LAYER * mean, rel=0.1)
    drift = (max(paces) - min(paces)) / (2 * mean)
    told = f"Over {len(turns)} turns the machine's speed stayed within {drift:.0%} each way"
    assert told in by_name["engine_layer"].note
    assert ("which is taken out" in by_name["engine_layer"].note) == (kind != "steady")
    assert by_name["engine_read_q8_0"].spread == pytest.approx(drift)


def test_a_slow_stretch_is_said_and_widens_every_figure(drifting) -> None:
    drifting(PACES["a slow middle"])
    measured = engine.measure(600)
    # 1.2 beside 1.0: half the range over a mean between the two
    assert all(0.2 / 2.4 < item.spread < 0.2 / 2.0 for item in measured)
    assert all("which is taken out" in item.note for item in measured)


def test_one_turn_tells_nothing_of_steadiness() -> None:
    sample = samples.samples(FACTS)[0]
    turn = engine.Turn(sample=sample, timings=Timings(token_seconds={16: (0.1, 0.1)}), middle=0.5)
    timed, steadiness = engine.in_turns([turn])
    assert timed[sample.role, sample.kind][1].token_seconds == {16: (0.1, 0.1)}
    assert (steadiness.turns, steadiness.drift, steadiness.words) == (1, 0.0, "")
    assert engine.in_turns([]) == ({}, engine.Steadiness(turns=0, drift=0.0))


def test_progress_goes_up_to_its_end() -> None:
    told: list[ProbeStep] = []
    engine.measure(600, told.append)
    shares = [step.share for step in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert told[0].doing == "wide model in Q4_K"


@pytest.mark.parametrize("after", [0, 1, 5])
def test_cancelling_gives_nothing_and_leaves_nothing(stubbed, after) -> None:
    before = open_files()
    request = iter([False] * after + [True] * 1000)
    assert engine.measure(600, cancelled=lambda: next(request)) == ()
    assert list(stubbed.iterdir()) == []
    assert open_files() == before


def test_a_folder_in_memory_with_too_little_room_is_reported(monkeypatch, stubbed) -> None:
    # Reading a hole of a tmpfs that is full ends llama.cpp with SIGBUS.
    monkeypatch.setattr(engine, "filesystem", lambda _: "tmpfs")
    monkeypatch.setattr(engine.shutil, "disk_usage", lambda _: SimpleNamespace(free=20_000_000))
    used = []

    def small_only(job: EngineJob, stop) -> Timings:
        used.append(described(job.path).file_bytes)
        return exact(job, stop)

    use(monkeypatch, small_only)
    with suppress(ProbeError):
        engine.measure(600)
    assert max(used, default=0) <= 20_000_000
    monkeypatch.setattr(engine.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(ProbeError, match=r"lies on tmpfs and has 0.00 GB free.*set TMPDIR"):
        engine.measure(600)
    assert list(stubbed.iterdir()) == []


def test_on_a_drive_a_sample_takes_no_room(monkeypatch) -> None:
    monkeypatch.setattr(engine, "filesystem", lambda _: "ext4")
    monkeypatch.setattr(engine.shutil, "disk_usage", lambda _: SimpleNamespace(free=20_000_000))
    assert "engine_read_q4_k" in {measurement.name for measurement in engine.measure(600)}


def test_no_folder_for_temporary_files_is_reported(monkeypatch) -> None:
    def nowhere():
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    for begin in (lambda: engine.measure(600), lambda: output_of((sys.executable,), lambda: True)):
        with pytest.raises(ProbeError, match="Nowhere can temporary files be written"):
            begin()


def test_a_folder_that_cannot_hold_what_an_engine_prints_is_reported(monkeypatch) -> None:
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(ProbeError, match=r"cannot be written \(No space left"):
        output_of((sys.executable, "-c", ""), lambda: False)


def test_one_reason_is_reported_once(monkeypatch) -> None:
    def reads_only(job: EngineJob, stop) -> Timings:
        if len(job.depths) > 1 or job.plain:
            raise ProbeError("No room.")
        return exact(job, stop)

    use(monkeypatch, reads_only)
    measurements = engine.measure(600)
    assert {measurement.note.count("No room.") for measurement in measurements} == {1}


def test_a_sample_that_fails_leaves_the_others(monkeypatch) -> None:
    def shallow_only(job: EngineJob, stop) -> Timings:
        if len(job.depths) > 1:
            raise ProbeError("llama.cpp could not run the model: no deep caches.")
        return exact(job, stop)

    use(monkeypatch, shallow_only)
    by_name = {measurement.name: measurement for measurement in engine.measure(600)}
    assert not [name for name in by_name if name.startswith("engine_attention")]
    # Attention to the shallow cache is then taken for reading: hardly slower.
    assert by_name["engine_read_q4_k"].value == pytest.approx(RATES["Q4_K"], rel=0.02)
    assert "no deep caches" in by_name["engine_layer"].note


def test_an_engine_that_never_works_says_why(monkeypatch, stubbed) -> None:
    def broken(job: EngineJob, stop) -> Timings:
        raise ProbeError("llama.cpp could not run the model: no such instruction.")

    use(monkeypatch, broken)
    with pytest.raises(ProbeError, match="no such instruction"):
        engine.measure(600)
    assert list(stubbed.iterdir()) == []


def test_parts_that_were_not_finished_do_not_count(monkeypatch) -> None:
    use(monkeypatch, lambda job, stop: Timings())
    with pytest.raises(ProbeError, match="had not timed a model after 600 s"):
        engine.measure(600)


def test_no_time_is_reported() -> None:
    with pytest.raises(ProbeError, match="had not timed a model after 0 s"):
        engine.measure(0)


def test_no_engine_is_reported(monkeypatch) -> None:
    monkeypatch.setattr(engine, "ENGINES", {})
    with pytest.raises(ProbeError, match="put its llama-bench on the PATH, or install"):
        engine.measure()


def test_little_memory_is_reported(monkeypatch) -> None:
    monkeypatch.setattr(host, "facts", lambda: replace(FACTS, memory_available=int(GIB)))
    with pytest.raises(ProbeError, match="needs 2560 MB of free memory and 1024 MB is free"):
        engine.measure()


@pytest.mark.parametrize("free", [2.5 * GIB, 8 * GIB, 512 * GIB])
@pytest.mark.parametrize("llc", [None, 8 * MIB, 32 * MIB, 1024 * MIB])
def test_samples_stay_within_a_quarter_of_free_memory(free, llc) -> None:
    facts = replace(FACTS, memory_available=int(free), llc=llc and int(llc))
    for sample in samples.samples(facts):
        # Formats that are put in an order of their own are held twice; 16-bit floats never are.
        copies = 1 if sample.kind == "F16" else 2
        assert copies * sample.model.file_bytes < free / 4


def test_the_persons_own_model_is_timed_by_its_format(tmp_path) -> None:
    path = tmp_path / "own.gguf"
    facts = replace(TINY, layers=16, hidden=2048, intermediate=8192, heads=16, head_dim=128)
    with path.open("wb") as file:
        write(file, in_format(facts, "Q4_K_M"))
    before = path.read_bytes()[:4096]
    by_name = {measurement.name: measurement for measurement in engine.measure(600, path=path)}
    # The stub reads all of it at the rate of its commonest type.
    assert by_name["engine_read_q4_k_m"].value == pytest.approx(RATES["Q4_K"], rel=0.02)
    assert by_name["engine_layer"].value == pytest.approx(LAYER, rel=0.1)
    assert path.read_bytes()[:4096] == before


def test_a_model_too_large_for_a_probe_is_refused(tmp_path, monkeypatch) -> None:
    path = tmp_path / "own.gguf"
    with path.open("wb") as file:
        write(file, in_type(TINY, "Q8_0"))
    monkeypatch.setattr(host, "facts", lambda: replace(FACTS, memory_available=int(4 * MIB)))
    with pytest.raises(ProbeError, match="a probe takes at most a quarter of"):
        engine.measure(path=path)


def test_a_full_folder_is_reported(monkeypatch) -> None:
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(engine.synthetic_model, "write", full)
    with pytest.raises(ProbeError, match=r"cannot hold a small model \(No space left"):
        engine.measure(600)


def test_a_program_that_is_stopped_is_gone() -> None:
    marker = f"probe-test-{os.getpid()}"
    command = (sys.executable, "-c", f"import time; time.sleep(600)  # {marker}")
    assert output_of(command, lambda: True) == ("", "")
    left = [
        entry for entry in psutil.process_iter(["cmdline"]) if marker in str(entry.info["cmdline"])
    ]
    assert left == []


STARTS = """
import signal, sys
from advisor.probes.llama_cpp.job import output_of
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # what nohup starts ignores it
output_of((sys.executable, "-c", sys.argv[1]), lambda: False)
"""
WAITS = """
import os, time
with open({pid!r}, "w") as file:
    file.write(f"{{os.getpid()}}.")
time.sleep(3600)
"""


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends a program with its parent")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_any_engine_ends_with_a_probe_that_is_ended(tmp_path, number) -> None:
    path = tmp_path / "pid"
    command = (sys.executable, "-c", STARTS, WAITS.format(pid=str(path)))
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as probe:
        while probe.poll() is None and not (path.exists() and path.read_text().endswith(".")):
            time.sleep(0.01)
        engine_pid = int(path.read_text().rstrip("."))
        assert not gone(engine_pid)
        probe.send_signal(number)
    while not gone(engine_pid):  # it would wait for an hour
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends a program with its parent")
def test_an_engine_whose_probe_is_gone_already_does_not_begin(tmp_path) -> None:
    script = str(Path(die_with_parent.__file__))
    path = tmp_path / "begun"
    code = f"open({str(path)!r}, 'w')"
    not_its_parent = "1"
    done = subprocess.run((sys.executable, script, not_its_parent, sys.executable, "-c", code))
    assert done.returncode == die_with_parent.CANNOT_START
    assert not path.exists()


def test_a_program_returns_its_output() -> None:
    command = (sys.executable, "-c", "print('out')")
    assert output_of(command, lambda: False) == ("out\n", "")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("import sys; print('it broke', file=sys.stderr); sys.exit(3)", "code 3: ...it broke"),
        ("import os; os._exit(4)", "code 4"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "memory ran out"),
        ("import os; os.abort()", "code -6 (Aborted)"),
    ],
)
def test_a_program_that_fails_says_why(code, text) -> None:
    printed, failure = output_of((sys.executable, "-c", code), lambda: False)
    assert printed == ""
    assert text in failure


def test_a_program_that_is_missing_is_reported() -> None:
    with pytest.raises(ProbeError, match="cannot be started"):
        output_of(("/nowhere/llama-bench",), lambda: False)


FAKE_BENCH = """#!{python}
import json, os, sys
arguments = sys.argv[1:]
options = dict(zip(arguments[::2], arguments[1::2]))
assert open(options["-m"], "rb").read(4) == b"GGUF"
with open({log!r}, "a") as log:
    log.write(json.dumps(options) + "\\n")
rows = []
for depth in options.get("-d", "0").split(","):
    rows.append({{"n_prompt": 0, "n_gen": int(options["-n"]), "n_depth": int(depth),
        "avg_ts": 50.0, "samples_ts": [50.0, 40.0, 60.0], "backends": {backends!r}}})
    if options["-p"] != "0":
        rows.append(dict(rows[-1], n_prompt=int(options["-p"]), n_gen=0))
print(json.dumps(rows))
"""


def fake_bench(monkeypatch, folder: Path, backends: str = "CPU") -> Path:
    """A llama-bench on the PATH that answers alike to everything and keeps what it was asked."""
    log = folder / "log"
    program = folder / "llama-bench"
    program.write_text(
        FAKE_BENCH.format(python=sys.executable, log=str(log), backends=backends),
        encoding="utf-8",
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))
    return log


def test_llama_bench_on_the_path_is_used(monkeypatch, tmp_path) -> None:
    log = fake_bench(monkeypatch, tmp_path)
    assert LLAMA_BENCH.available()
    path = tmp_path / "tiny.gguf"
    with path.open("wb") as file:
        write(file, in_type(TINY, "Q8_0"))
    job = EngineJob(path=path, threads=3, vocab=512, depths=(16, 1024), prompt=128)
    timings = LLAMA_BENCH.run(job, lambda: False)
    assert timings.token_seconds == {16: (0.02, 0.025, 1 / 60), 1024: (0.02, 0.025, 1 / 60)}
    assert timings.prompt_rates == (50.0, 40.0, 60.0)
    (record,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert (record["-t"], record["-ngl"], record["-d"]) == ("3", "0", "16,1024")
    LLAMA_BENCH.run(replace(job, depths=(16,)), lambda: False)
    assert "-d" not in json.loads(log.read_text().splitlines()[-1])


def test_the_probe_prefers_the_persons_llama_bench(monkeypatch, tmp_path) -> None:
    log = fake_bench(monkeypatch, tmp_path)
    monkeypatch.setattr(engine, "ENGINES", {"llama-bench": LLAMA_BENCH, "xllamacpp": XLLAMACPP})
    tiny = [
        samples.Sample(role=role, kind="Q8_0", model=estimate.model, synthetic=estimate, prompt=128)
        for role, estimate in (("wide", in_type(TINY, "Q8_0")), ("plain", in_type(TINY, "Q8_0")))
    ]
    monkeypatch.setattr(engine, "samples", lambda _: tiny)
    by_name = {measurement.name: measurement for measurement in engine.measure(600)}
    assert set(by_name) == {"engine_read_q8_0", "engine_prompt_q8_0"}
    assert by_name["engine_read_q8_0"].note.startswith("llama.cpp by llama-bench, 1 model.")
    assert len(log.read_text().splitlines()) == 1


def test_prompts_of_a_gpu_build_say_nothing_of_the_processor(monkeypatch, tmp_path) -> None:
    fake_bench(monkeypatch, tmp_path, backends="CUDA,CPU")
    path = tmp_path / "tiny.gguf"
    with path.open("wb") as file:
        write(file, in_type(TINY, "Q8_0"))
    timings = LLAMA_BENCH.run(EngineJob(path=path, threads=1, vocab=512), lambda: False)
    assert timings.token_seconds
    assert timings.prompt_rates == ()


@pytest.mark.parametrize(("printed", "text"), [("[1]", "cannot be read"), ("[]", "cannot be read")])
def test_invalid_output_of_llama_bench_is_reported(printed, text) -> None:
    with pytest.raises(ProbeError, match=text):
        LLAMA_BENCH.timings(printed, EngineJob(path=Path(), threads=1, vocab=512))


def test_a_truncated_answer_keeps_its_whole_parts() -> None:
    whole = '{"depth": 16, "token_seconds": [0.1, 0.2]}\n'
    job = EngineJob(path=Path(), threads=1, vocab=1)
    kept = XLLAMACPP.timings(whole + '{"prompt": 128, "prom', job)
    assert kept == Timings(token_seconds={16: (0.1, 0.2)})
    assert LLAMA_BENCH.timings('[{"n_pro', job) == Timings()


@needs_engine
@pytest.mark.parametrize("experts", [0, 8])
@pytest.mark.parametrize("plain", [False, True])
def test_llama_cpp_loads_and_times_the_written_file(tmp_path, experts, plain) -> None:
    facts = replace(
        TINY, experts=experts, experts_per_token=experts and 2, moe_intermediate=experts and 256
    )
    path = tmp_path / "tiny.gguf"
    with path.open("wb") as file:
        write(file, in_type(facts, "Q4_K"), filled=True)
    job = EngineJob(
        path=path,
        threads=1,
        vocab=512,
        depths=(16, 64),
        prompt=32,
        tokens=8,
        seconds=0.1,
        plain=plain,
    )
    timings = XLLAMACPP.run(job, lambda: False)
    assert set(timings.token_seconds) == {16, 64}
    assert all(time > 0 for times in timings.token_seconds.values() for time in times)
    assert all(rate > 0 for rate in timings.prompt_rates)


@needs_engine
def test_the_whole_probe_with_llama_cpp_leaves_nothing(monkeypatch, stubbed) -> None:
    monkeypatch.setattr(engine, "ENGINES", {"xllamacpp": XLLAMACPP})
    synthetic = in_type(TINY, "Q4_K")
    sample = samples.Sample(role="wide", kind="Q4_K", model=synthetic.model, synthetic=synthetic)
    monkeypatch.setattr(engine, "samples", lambda _: [sample])
    before = open_files()
    (measurement,) = engine.measure(60)
    assert measurement.name == "engine_read_q4_k"
    assert measurement.value > 0
    assert list(stubbed.iterdir()) == []
    assert open_files() == before
    assert not [
        child for child in psutil.Process().children() if "engine_child" in str(child.cmdline())
    ]


@needs_engine
def test_a_file_that_llama_cpp_refuses_does_not_end_the_program(tmp_path) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(b"GGUF" + b"\xff" * 100)
    with pytest.raises(ProbeError, match=r"\(xllamacpp\) could not run the model"):
        XLLAMACPP.run(EngineJob(path=path, threads=1, vocab=512), lambda: False)
