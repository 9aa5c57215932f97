"""docs/runtimes.md agrees with the code on every system."""

from pathlib import Path

from advisor.cost_model.placement import Settings, Tier
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model.catalog import model
from advisor.runtimes import ASIDE, DEEPSPEED, RUNTIMES, VLLM
from advisor.runtimes.compare import as_run
from advisor.runtimes.remarks import remarks_of
from advisor.runtimes.tiered import tiered_runtimes

TEXT = (Path(__file__).parents[2] / "docs" / "runtimes.md").read_text(encoding="utf-8")
ROWS = {
    row[0]: row
    for line in TEXT.split("<!-- systems -->")[1].split("<!-- /systems -->")[0].splitlines()[3:]
    if (row := [cell.strip() for cell in line.strip("| ").split("|")]) != [""]
}


def test_every_runtime_has_its_row_and_its_section() -> None:
    assert list(ROWS) == [how.name for how in RUNTIMES]
    for runtime in RUNTIMES:
        assert any(runtime.name in line for line in TEXT.splitlines() if line.startswith("## ")), (
            runtime.name
        )


def test_readme_counts_the_runtimes_and_leads_to_the_table() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    programs = {runtime.name.removesuffix(" -sm tensor") for runtime in (*RUNTIMES, *ASIDE)}
    assert "More than a dozen runtimes, as many engines that keep experts in tiers" in readme
    assert len(programs) > 12
    assert len(tiered_runtimes()) > 12
    assert "(docs/runtimes.md)" in readme


def test_versions_and_placements_are_the_code_s() -> None:
    for runtime in RUNTIMES:
        _, version, placements, *_ = ROWS[runtime.name]
        assert version == runtime.version
        assert placements.split(", ") == [str(strategy) for strategy in runtime.strategies]


def gpus_used(runtime: Runtime, count: int, machines: int) -> int:
    """GPUs that hold weights of a model that fits into none of them alone."""
    where = machine(
        MachineSpec(
            gpu="RTX 3090", gpu_count=count, machines=machines, ram_gb=1024, cpu="EPYC 9355"
        )
    )
    chosen = as_run(model("Qwen3-235B-A22B", "Q4_K_M"), runtime, where)
    placement = runtime.place(chosen, where, Workload(), runtime.strategies[0], Settings())
    used = [place for place, shares in placement.weights.items() if place.tier is Tier.VRAM]
    return len(used)


def test_runtimes_for_several_gpus_are_named() -> None:
    for runtime in RUNTIMES:
        several = ROWS[runtime.name][4]
        assert (gpus_used(runtime, 2, 1) == 2) == (several != "first GPU"), runtime.name


def test_the_software_that_joins_machines_is_named() -> None:
    for runtime in RUNTIMES:
        try:
            joined = gpus_used(runtime, 1, 2) == 2
        except Refusal:
            joined = False
        assert joined == (ROWS[runtime.name][5] != "no"), runtime.name


def test_training_only_software_is_named_in_both_places() -> None:
    assert any("ZeRO-Infinity" in note and "for training" in note for note in remarks_of(DEEPSPEED))
    assert "ZeRO-Infinity is for training" in TEXT


def test_the_note_on_swap_space_is_in_the_docs() -> None:
    assert "swap_space never held weights" in remarks_of(VLLM)[0]
    assert "`swap_space` never held weights" in TEXT
