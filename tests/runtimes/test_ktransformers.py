"""KTransformers: experts in RAM, refusals, and published speeds."""

import shlex
from collections.abc import Iterable
from statistics import median
from typing import Any

import pytest
from flags import flags, listed
from measurements import measured

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.evidence.published.predict import answer
from advisor.evidence.published.row import PublishedRow
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.runtimes import KTRANSFORMERS
from advisor.runtimes.compare import compare


def run(name: str, form: str, work: Workload | None = None, **inputs: Any) -> Estimate:
    where = machine(MachineSpec(ram_gb=1024, **inputs))
    return estimate(
        catalog.model(name, form),
        where,
        work or Workload(),
        KTRANSFORMERS,
        PlacementStrategy.CPU_OFFLOAD,
        Constants.fitted(),
        Settings(),
    )


ONE_SOCKET = "KTR-004"
TWO_SOCKETS = "KTR-002"
"""Published rows that the runtime's own constants rest on, beside KTR-037."""
DEEPSEEK = ("KTR-006", "KTR-007", "KTR-008", "KTR-009", "KTR-010", "KTR-077", "KTR-080")
MINIMAX = tuple(f"KTR-{number:03d}" for number in range(24, 36))
"""Rows that nothing rests on: DeepSeek-V3 and R1 on four machines, MiniMax-M2.1 on four."""


def errors(ids: Iterable[str]) -> list[float]:
    """Predicted over published speed of rows of data/measurements/offload_papers.csv, less 1."""
    rows = {row["id"]: row for row in measured("offload_papers.csv")}
    return [
        float(str(answer(PublishedRow(rows[entry]))["tg_tps"])) / float(rows[entry]["tg_tps_total"])
        - 1
        for entry in ids
    ]


@pytest.mark.parametrize("ids", [DEEPSEEK, MINIMAX], ids=["DeepSeek", "MiniMax"])
def test_published_speeds_that_nothing_rests_on(ids: Iterable[str]) -> None:
    items = [abs(error) for error in errors(ids)]
    assert median(items) < 0.15
    assert max(items) < 0.4


def test_long_prompts_are_read_about_as_fast_as_published() -> None:
    # From 8,192 tokens on; computed in RAM they would take five to thirty times as long.
    rows = {row["id"]: row for row in measured("offload_papers.csv")}
    for number in (25, 26, 28, 29, 31, 32, 34, 35):
        row = rows[f"KTR-{number:03d}"]
        assert 0.5 < float(str(answer(PublishedRow(row))["pp_tps"])) / float(row["pp_tps"]) < 2.0


def test_experts_are_copied_for_a_long_prompt_of_a_native_format_alone() -> None:
    def routes(prompt: int, form: str) -> set[Route]:
        work = Workload(prompt=prompt, context=8192)
        estimate = run("Qwen3-235B-A22B", form, work, gpu="RTX 5090", cpu="2x EPYC 9355")
        return {route for route in Route if float(estimate.prompt.parts.get(route, 0.0)) > 0}

    assert routes(1000, "FP8") == {Route.RESIDENT, Route.IN_PLACE}
    assert routes(4000, "FP8") == {Route.RESIDENT, Route.STREAMED}
    assert routes(4000, "Q4_K+FP8") == {Route.RESIDENT, Route.IN_PLACE}


def test_two_gpus_share_each_layer() -> None:
    estimate, two = (
        run("Qwen3-235B-A22B", "FP8", gpu="RTX 5090", gpu_count=count, cpu="2x EPYC 9355")
        for count in (1, 2)
    )
    for each in (estimate, two):
        shares = [
            each.placement.weights[Location.vram(at)][Group.ROUTED_EXPERTS][0]
            for at in range(2)
            if Location.vram(at) in each.placement.weights
        ]
        kept = each.placement.weights[Location.RAM][Group.ROUTED_EXPERTS][0]
        assert sum(shares) + kept == pytest.approx(1.0)
    assert two.placement.weights[Location.vram(1)][Group.ATTENTION][0] == 0.5
    assert float(two.decode.value) > float(estimate.decode.value)
    assert "--tensor-parallel-size 2" in two.command
    assert "--tensor-parallel-size" not in estimate.command


def test_published_speeds_that_the_constants_rest_on() -> None:
    assert max(abs(error) for error in errors((ONE_SOCKET, TWO_SOCKETS, "KTR-037"))) < 0.15


def test_as_many_experts_as_fit_lie_on_the_gpu_alike_in_all_layers() -> None:
    estimate = run("Qwen3-30B-A3B", "FP8", gpu="RTX 4090", cpu="EPYC 9355")
    assert estimate.placement is not None
    hot = estimate.placement.weights[Location.vram(0)][Group.ROUTED_EXPERTS]
    cold = estimate.placement.weights[Location.RAM][Group.ROUTED_EXPERTS]
    assert set(hot + cold) == {1.0}
    assert len(set(hot)) == 1
    count = round(float(hot[0]) * 128)
    assert 0 < count < 128
    assert f"--kt-num-gpu-experts {count}" in estimate.command
    assert set(estimate.placement.kv) == {Location.vram(0)}


def test_more_memory_holds_more_experts_and_is_faster() -> None:
    small, large = (
        run("Qwen3-30B-A3B", "FP8", gpu="RTX 4090", cpu="EPYC 9355", vram_gb=size)
        for size in (12, 24)
    )
    assert small.decode is not None
    assert large.decode is not None
    assert float(large.decode.value) > float(small.decode.value)


def refusal(name: str, form: str = "Q4_K_M", **inputs: Any) -> str:
    where = machine(MachineSpec(ram_gb=512, **inputs))
    estimates = compare(catalog.model(name, form), where, Workload(), runtimes=[KTRANSFORMERS])
    return estimates[0].refusal


def test_models_and_machines_it_cannot_run_are_refused() -> None:
    assert "has none; use llama.cpp" in refusal("Llama-3.1-70B", gpu="RTX 4090", cpu="EPYC 9355")
    assert "AVX2" in refusal("Qwen3-30B-A3B", gpu="RTX 4090", cpu="Apple M4 Max")
    assert "compute capability 8" in refusal("Qwen3-30B-A3B", gpu="T4", cpu="EPYC 9355")
    assert "computes attention on a GPU" in refusal("Qwen3-30B-A3B", gpu="none", cpu="EPYC 9355")


@pytest.mark.parametrize(
    ("cpu", "text", "method"),
    [
        ("Xeon Platinum 8480+", "AWQ", "AMXINT4"),
        ("Xeon Platinum 8480+", "FP8", "FP8"),
        ("EPYC 9355", "Q4_K_M", "LLAMAFILE"),
        ("EPYC 9355", "Q8_0", "FP8"),
        ("EPYC 9355", "BF16", "BF16"),
        ("Ryzen 9 5950X", "FP8", "LLAMAFILE"),
    ],
)
def test_the_processor_decides_the_method(cpu: str, text: str, method: str) -> None:
    where = machine(MachineSpec(gpu="RTX 4090", cpu=cpu, ram_gb=512))
    estimates = compare(
        catalog.model("Qwen3-30B-A3B", text), where, Workload(), runtimes=[KTRANSFORMERS]
    )
    assert f"--kt-method {method} " in estimates[0].command


def test_every_option_is_in_the_release() -> None:
    for form in ("Q4_K+FP8", "BF16", "AMXINT8"):
        for kv_type in ("f16", "q8_0"):
            estimate = run(
                "Qwen3-30B-A3B",
                form,
                Workload(kv_type=kv_type),
                gpu="RTX 4090",
                cpu="Xeon Platinum 8480+",
            )
            assert flags(shlex.split(estimate.command)) - {"-m"} <= listed("ktransformers")


def share_rows(kind: str) -> tuple[str, ...]:
    """Rows that state the share of experts on the GPU, placed evenly or by how often they are
    asked for."""
    return tuple(
        row["id"]
        for row in measured("offload_papers.csv")
        if row["category"] == "moe_offload"
        and "gpu_expert_ratio" in row["other_metric"]
        and kind in row["runtime"]
    )


@pytest.mark.parametrize("kind", ["uniform", "frequency"])
def test_a_share_of_experts_that_is_stated_is_used(kind: str) -> None:
    # Nothing rests on these rows: Qwen3-Next-80B-A3B on 4 RTX 4090, of which one is counted.
    items = [abs(error) for error in errors(share_rows(kind))]
    assert len(items) == 10
    assert median(items) < 0.22


def test_the_most_used_experts_serve_more_than_their_share() -> None:
    where = machine(MachineSpec(ram_gb=1024, gpu="RTX 4090", cpu="EPYC 9355"))
    speeds = []
    for most_asked in (False, True):
        chosen = Settings(gpu_experts=0.2, most_asked=most_asked)
        answer = estimate(
            catalog.model("Qwen3-30B-A3B", "FP8"),
            where,
            Workload(),
            KTRANSFORMERS,
            PlacementStrategy.CPU_OFFLOAD,
            Constants.fitted(),
            chosen,
        )
        assert answer.placement is not None
        assert answer.decode is not None
        assert answer.placement.weights[Location.vram(0)][Group.ROUTED_EXPERTS] == pytest.approx(
            0.2
        )
        speeds.append(float(answer.decode.value))
    assert speeds[1] > speeds[0]
