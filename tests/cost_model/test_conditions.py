"""Stated driver, build, threads and memory nodes in the speeds, ranges and commands."""

from dataclasses import replace

import numpy as np
import pytest

from advisor.advice.diagnosis.measured_run import measured_run
from advisor.advice.edits.changes import faster_changes
from advisor.advice.table.stack import Stack
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine.backends import Build, SoftwareEffect
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import IK_LLAMA_CPP, LLAMA_CPP, OLLAMA, VLLM

RESIDENT = PlacementStrategy.GPU_RESIDENT
RAM = PlacementStrategy.CPU_OFFLOAD
A770 = MachineSpec(gpu="Arc A770", backend="vulkan")
TWO = MachineSpec(gpu="none", cpu="2x EPYC 9654", ram_gb=256)
WORK = Workload()


def answer(
    spec: MachineSpec,
    strategy: PlacementStrategy = RESIDENT,
    runtime: Runtime = LLAMA_CPP,
    name: str = "Llama-3.1-8B",
    form: str = "Q4_K_M",
) -> Estimate:
    model = catalog.model(name, form)
    there = machine(spec)
    return estimate(model, there, WORK, runtime, strategy, Constants.fitted())


def token(run: Estimate) -> float:
    assert run.decode is not None
    return float(run.decode.value)


def prompt(run: Estimate) -> float:
    assert run.prefill is not None
    return float(run.prefill.value)


def width(run: Estimate) -> float:
    assert run.decode is not None
    return float(np.log(run.decode.high / run.decode.low))


def test_an_old_mesa_slows_an_arc_by_the_published_factor_and_widens_the_range() -> None:
    new = answer(A770)
    old = answer(replace(A770, driver="mesa 24.2.8"))
    # Arc B580 41.82 of 129.95, A770 39.14 of 96.42, Core Ultra 7 268V 13.75 of 36.87 tokens/s
    published = np.prod([41.82 / 129.95, 39.14 / 96.42, 13.75 / 36.87]) ** (1 / 3)
    assert token(old) / token(new) == pytest.approx(published, rel=0.02)
    assert prompt(old) / prompt(new) == pytest.approx(published, rel=0.05)
    assert width(old) > width(new)


def test_a_published_speed_with_an_old_mesa_lies_in_the_range() -> None:
    """An A770 with Mesa 24.0.9: 24.99 tokens/s of an 8B (llama.cpp, pull request 10597)."""
    stated = replace(A770, driver="mesa 24.0.9", build="2024-12")
    old = answer(stated)
    assert old.decode is not None
    assert old.decode.low < 24.99 < old.decode.high
    off = {spec.driver: abs(np.log(token(answer(spec)) / 24.99)) for spec in (A770, stated)}
    assert off["mesa 24.0.9"] < 0.3 < off[None]


def test_newer_mesa_changes_the_prompt_of_xe2_only() -> None:
    new = answer(replace(A770, gpu="Arc B580"))
    old = answer(replace(A770, gpu="Arc B580", driver="mesa 25.3"))
    assert token(old) == pytest.approx(token(new))
    assert width(old) == pytest.approx(width(new))
    assert prompt(old) / prompt(new) == pytest.approx(1 / np.sqrt(1.37 * 2.3), rel=0.05)
    assert token(answer(replace(A770, driver="mesa 25.3"))) == token(answer(A770))


def test_a_driver_does_not_touch_other_runtimes() -> None:
    amd = MachineSpec(gpu="MI300X")
    model = catalog.model("Llama-3.1-8B", "FP8")
    speeds = [
        token(estimate(model, machine(spec), WORK, VLLM, RESIDENT, Constants.fitted()))
        for spec in (amd, replace(amd, driver="rocm 6.4"), replace(amd, build="2024-01"))
    ]
    assert len(set(speeds)) == 1


def test_an_old_build_has_the_constants_of_its_time() -> None:
    amd = MachineSpec(gpu="RX 7900 XTX", backend="rocm")
    for month, kernels in (("2024-05", "2024"), ("2025-06", "2025"), ("2026-05", "")):
        run = answer(replace(amd, build=month))
        assert run.constants is not None
        assert run.constants.scope.build == kernels
    assert prompt(answer(replace(amd, build="2025-06"))) < prompt(answer(amd))
    forked = answer(replace(TWO, build="2024-05"), RAM, IK_LLAMA_CPP)
    assert forked.constants is not None
    assert forked.constants.scope.build == "ik"


def test_one_socket_of_two_is_as_fast_as_that_socket() -> None:
    alone = answer(replace(TWO, cpu="EPYC 9654"), RAM)
    for policy in ("isolate", "numactl"):
        bound = answer(replace(TWO, numa=policy), RAM)
        assert token(bound) == pytest.approx(token(alone), rel=1e-3)
        assert prompt(bound) == pytest.approx(prompt(alone), rel=1e-3)


def test_threads_of_a_bound_run_are_those_of_one_socket() -> None:
    # 128 of 256 cores, all on the socket that is bound: the same as that socket with 128 threads
    both = MachineSpec(gpu="none", cpu="2x Xeon 6980P", ram_gb=1536, numa="numactl")
    single = MachineSpec(gpu="none", cpu="Xeon 6980P", ram_gb=768)
    for threads in (None, 32, 128, 172, 256):
        bound = answer(replace(both, threads=threads), RAM, name="Llama-3.1-70B", form="Q8_0")
        alone = answer(replace(single, threads=threads), RAM, name="Llama-3.1-70B", form="Q8_0")
        assert token(bound) == pytest.approx(token(alone), rel=1e-6)
        assert prompt(bound) == pytest.approx(prompt(alone), rel=1e-6)
    told = " ".join(machine(replace(both, threads=172)).notes)
    assert "172 threads, more than the 128 cores" in told


def test_one_socket_has_its_own_memory_alone() -> None:
    # 141 GB in 256 GiB of both sockets, 128 GiB of one
    for policy, fits in ((None, True), ("distribute", True), ("isolate", False)):
        run = answer(replace(TWO, numa=policy), RAM, name="Llama-3.1-70B", form="F16")
        assert bool(run.fits) is fits
    assert bool(answer(replace(TWO, numa="isolate"), RAM, OLLAMA).fits)


def test_spread_pages_are_faster_and_less_certain() -> None:
    plain = answer(TWO, RAM, name="Llama-3.1-70B", form="F16")
    spread = answer(replace(TWO, numa="distribute"), RAM, name="Llama-3.1-70B", form="F16")
    assert 1.2 < token(spread) / token(plain) <= 1.55
    assert width(spread) > width(plain)
    assert token(answer(replace(TWO, cpu="EPYC 9654", numa="distribute"), RAM)) == token(
        answer(replace(TWO, cpu="EPYC 9654"), RAM)
    )


def test_policies_are_in_the_command() -> None:
    assert " --numa distribute" in answer(replace(TWO, numa="distribute"), RAM).command
    isolated = answer(replace(TWO, numa="isolate"), RAM).command
    assert " -t 96 --numa isolate" in isolated
    bound = answer(replace(TWO, numa="numactl"), RAM, IK_LLAMA_CPP).command
    assert bound.startswith("numactl --cpunodebind=0 --membind=0 llama-server")
    assert "-t 96 --numa numactl" in bound
    assert "--numa" not in answer(TWO, RAM).command


def test_ollama_has_no_such_option_and_says_so() -> None:
    bound = answer(replace(TWO, numa="isolate"), RAM, OLLAMA)
    plain = answer(TWO, RAM, OLLAMA)
    assert token(bound) == token(plain)
    assert "It has no --numa." in bound.format_note


def test_threads_past_the_cores_are_slower_by_what_was_published() -> None:
    xeon = MachineSpec(gpu="none", cpu="Xeon 6980P", ram_gb=768)
    best, past = (
        answer(replace(xeon, threads=count), RAM, name="Llama-3.1-70B", form="Q8_0")
        for count in (128, 172)
    )
    assert token(past) / token(best) == pytest.approx(5.05 / 6.60, abs=0.02)
    assert width(past) > width(best)


def test_threads_on_slower_cores_make_the_fast_ones_wait() -> None:
    hybrid = MachineSpec(gpu="none", cpu="i9-13900K")
    usual, fast, every = (
        token(answer(replace(hybrid, threads=count), RAM)) for count in (None, 8, 24)
    )
    assert usual == fast
    assert 0.55 < every / fast < 1.0
    there = machine(replace(hybrid, threads=24))
    assert any("slower cores beside the 8 fast ones" in note for note in there.notes)


def changes(spec: MachineSpec, strategy: PlacementStrategy = RESIDENT) -> dict[str, float]:
    run = answer(spec, strategy)
    offers = faster_changes(run.model, machine(spec), WORK, run)
    return {each.words: each.gain for each in offers}


def test_software_of_today_is_offered_for_a_stated_old_one() -> None:
    driver = changes(replace(A770, driver="mesa 24.2"))
    gain = driver["a graphics driver of today in place of Mesa 24.2"]
    assert gain == pytest.approx(1 / 0.365, rel=0.02)
    assert "SYCL in place of Vulkan" in driver
    build = changes(MachineSpec(gpu="RTX 4090", build="2024-05"))
    assert any(change.startswith("llama.cpp of today in place of May 2024") for change in build)


def test_backends_are_offered_both_ways_for_amd_and_intel() -> None:
    """The slower of two backends is offered the other one, whichever it is."""
    for gpu, pair in (("Radeon 8060S", ("rocm", "vulkan")), ("Arc Pro B70", ("sycl", "vulkan"))):
        speeds = {name: token(answer(MachineSpec(gpu=gpu, backend=name))) for name in pair}
        slow, fast = sorted(pair, key=lambda name: speeds[name])
        gain = speeds[fast] / speeds[slow]
        offered = changes(MachineSpec(gpu=gpu, backend=slow))
        swaps = [value for words, value in offered.items() if " in place of " in words]
        assert (pytest.approx(gain) in swaps) == (gain >= 1.02)
        back = changes(MachineSpec(gpu=gpu, backend=fast))
        assert not any(" in place of " in words and "CPU" not in words for words in back)


def test_memory_nodes_and_threads_are_offered() -> None:
    two = changes(TWO, RAM)
    assert "one socket alone, with its own memory (--numa isolate)" in two
    small = changes(replace(TWO, ram_gb=8), RAM)
    assert not any("isolate" in change for change in small)
    many = changes(replace(TWO, cpu="EPYC 9654", threads=150), RAM)
    assert "96 threads, one on each core, in place of 150" in many
    bound = changes(replace(TWO, threads=150, numa="isolate"), RAM)
    assert "96 threads, one on each core, in place of 150" in bound
    few = changes(replace(TWO, cpu="EPYC 9654", threads=4), RAM)
    assert "96 threads, one on each core, in place of 4" in few


def test_a_diagnosis_does_not_count_a_condition_twice() -> None:
    for spec, strategy in (
        (replace(A770, driver="mesa 24.2"), RESIDENT),
        (replace(TWO, numa="isolate"), RAM),
        (replace(TWO, threads=300), RAM),
    ):
        run = answer(spec, strategy)
        placed = measured_run(run).placed("", Settings()).of(run)
        assert token(placed) == pytest.approx(token(run))
        assert placed.machine == run.machine


def test_a_fleet_answers_as_single_estimates_do() -> None:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    specs = (
        A770,
        replace(A770, driver="mesa 24.2"),
        replace(A770, system="windows"),
        MachineSpec(gpu="RX 7900 XTX", build="2025-06"),
        MachineSpec(gpu="RTX 4090"),
    )
    there = Stack([machine(spec) for spec in specs]).speeds(model, WORK, LLAMA_CPP, RESIDENT)
    for place, spec in enumerate(specs):
        assert float(there.decode[place]) == pytest.approx(token(answer(spec)), rel=1e-9)
        run = answer(spec)
        assert run.decode is not None
        assert float(there.low[place]) == pytest.approx(float(run.decode.low), rel=1e-9)
    hosts = (
        TWO,
        replace(TWO, numa="isolate"),
        replace(TWO, numa="distribute"),
        replace(TWO, threads=300),
    )
    there = Stack([machine(spec) for spec in hosts]).speeds(model, WORK, LLAMA_CPP, RAM)
    for place, spec in enumerate(hosts):
        assert float(there.decode[place]) == pytest.approx(token(answer(spec, RAM)), rel=1e-9)


def test_linear_attention_of_builds_before_its_own_operation_takes_the_published_time() -> None:
    # Saved for each of 18, 24 and 48 layers on an M4 Max: 5.208 - 4.098, 19.685 - 17.544 and
    # 64.103 - 57.803 ms, 62, 89 and 131 us; 66 us again, 77 on an A100 and 409 on an Arc A770.
    apple = (61.7 * 89.2 * 131.2) ** (1 / 3)
    saved = (apple * 66.0 * 76.9 * 408.8) ** (1 / 4) * 1e-6
    assert saved == pytest.approx(117e-6, rel=0.02)
    card = MachineSpec(gpu="RTX 4090")
    new = answer(card, name="Qwen3.5-27B")
    old = answer(replace(card, build="2026-02"), name="Qwen3.5-27B")
    longer = 1.0 / token(old) - 1.0 / token(new)
    assert longer / 48 == pytest.approx(saved, rel=0.35)  # constants move with a fit
    assert width(old) > width(new)
    assert token(answer(replace(card, build="2026-03"), name="Qwen3.5-27B")) == token(new)
    assert token(answer(replace(card, build="2026-02"))) == token(answer(card))


def test_linear_attention_on_a_processor_of_builds_before_its_own_operation() -> None:
    # 36 layers: 81.3 - 27.8 ms on an M2 Max, 138.9 - 41.7 on a Threadripper 3995WX.
    saved = (53.5 / 36 * 97.2 / 36) ** 0.5 * 1e-3
    assert saved == pytest.approx(2.0e-3, rel=0.02)
    cores = MachineSpec(gpu="none", cpu="Ryzen 9 7950X")
    new = answer(cores, RAM, name="Qwen3.5-9B")
    old = answer(replace(cores, build="2026-02"), RAM, name="Qwen3.5-9B")
    longer = 1.0 / token(old) - 1.0 / token(new)
    assert longer / 24 == pytest.approx(saved, rel=0.5)  # constants move with a fit
    assert width(old) > width(new)


def test_an_older_build_is_named_and_state_space_layers_are_as_fast_in_it() -> None:
    old = MachineSpec(gpu="H100 SXM", build="2026-01")
    mamba = answer(old, name="Nemotron-H-56B", form="Q8_0")
    assert token(mamba) == token(
        answer(replace(old, build=None), name="Nemotron-H-56B", form="Q8_0")
    )
    assert any("linear attention" in note for note in machine(old).notes)


def test_a_build_without_a_kernel_for_a_format_is_as_slow_as_published() -> None:
    # SYCL had no kernel for a token in BF16 before April 2026: a quarter of the read rate.
    arc = MachineSpec(gpu="Arc Pro B70", backend="sycl")
    old = replace(arc, build="2026-03")
    ratio = token(answer(old, form="BF16")) / token(answer(arc, form="BF16"))
    assert 0.24 < ratio < 0.35
    assert token(answer(old)) == pytest.approx(token(answer(arc)))
    assert width(answer(old, form="BF16")) > width(answer(arc, form="BF16"))
    note = answer(old, form="BF16").format_note
    assert "no fast kernel for BF16 on SYCL: a token takes 4.0 times as long" in note
    assert note.endswith("F16 has one.")
    assert not answer(old).format_note
    assert not answer(arc, form="BF16").format_note
    assert any("but for models in BF16 and models in Q8_0" in told for told in machine(old).notes)


def test_a_format_named_instead_has_a_kernel_in_the_same_builds() -> None:
    rows = [row for row in SoftwareEffect.rows() if row.option == "kernel" and row.instead]
    assert rows
    for row in rows:
        last = max(each.before for each in SoftwareEffect.rows() if each.option == "kernel")
        for month in ("2025-01", row.before, last):
            assert row.instead not in Build(month).without_kernel(row.backend), row.value


def test_experts_on_arc_are_slow_with_mesa_before_the_release_that_mended_them() -> None:
    arc = MachineSpec(gpu="Arc Pro B70", backend="vulkan")
    old = replace(arc, driver="mesa 25.2.8")
    slow, now = (answer(spec, name="Qwen3.6-35B-A3B") for spec in (old, arc))
    assert 0.35 < token(slow) / token(now) < 0.7
    dense = token(answer(old)), token(answer(arc))
    assert dense[0] == pytest.approx(dense[1])


def test_layers_that_few_timed_on_a_backend_widen_the_range_and_are_named() -> None:
    common = answer(MachineSpec(gpu="Apple M4 Max 40c"), name="Qwen3-30B-A3B")
    assert not common.unmeasured
    rare = answer(MachineSpec(gpu="Apple M4 Max 40c"), name="Nemotron-3-Nano-30B-A3B")
    assert rare.unmeasured == ("state space",)
    assert width(rare) > width(common)
