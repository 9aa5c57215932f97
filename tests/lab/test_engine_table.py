"""The shipped constants of serving engines, and the runs that they may rest on."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from advisor.catalog.constants import FACTOR, ConstantRow, Constants, Scope, constant_rows
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.uncertainty import BY_TRAIT, THIN, Margins, of_few
from advisor.machine.catalog import GPUS
from lab.__main__ import constant_table
from lab.engine_tables import EngineLeftOutRow, Rows, ordered_generations
from lab.engines import cases
from lab.held_out import READ
from lab.points.engine import margins
from lab.published import published_rows


def test_no_constant_is_stated_twice() -> None:
    rows = tuple(constant_rows(DATA / "generated/engine_kernels.csv"))
    keys = Counter(
        (row.constant, row.runtime, row.family, row.backend, row.build, row.decode_class)
        for row in rows
    )
    assert [key for key, count in keys.items() if count > 1] == []


def test_every_generation_has_its_own_count_of_publishers() -> None:
    """Without one, a lookup would take the count of llama.cpp's publishers."""
    rows = tuple(constant_rows(DATA / "generated/engine_kernels.csv"))
    counts = {(row.runtime, row.family): row.value for row in rows if row.constant == "sources"}
    families = {card.family for card in GPUS.rows().values()}
    assert {family for engine, family in counts if engine == "vllm"} >= families
    # On Hopper: TensorRT-LLM's and vLLM's own runs, NIM, Argonne, DeutscheKI, the simulator.
    assert (counts["vllm", "RDNA 3"], counts["vllm", "Hopper"]) == (0.0, 7.0)


def test_a_prompt_is_not_read_faster_than_the_datasheet_allows() -> None:
    # 512 tokens of 11 to 12 billion weights are 1.2e13 FLOP: 0.16 s at the 71 TFLOP/s of a 3090.
    path = DATA / "measurements/frameworks_more.csv"
    rows = {row.id: row for row in published_rows(path)}
    first_tokens = {
        name: [case.seconds for case in cases(rows[name]) if case.timed == READ]
        for name in ("n3530", "n3565")
    }
    assert "ttft_p50_ms=51" in rows["n3530"].other_metric
    assert first_tokens["n3530"] == []
    assert first_tokens["n3565"] == [0.24266]


def rows_of(name: str, values: dict[str, tuple[float, str]]) -> Rows:
    """Rows of a constant by family, each with its value and kind."""
    return {
        (name, "", family): ConstantRow(
            constant=name, family=family, value=value, unit="s", kind=kind, source="", date=""
        )
        for family, (value, kind) in values.items()
    }


def test_a_generation_without_evidence_is_not_better_than_the_next() -> None:
    # Nobody measured the A100's start of latent attention; its FlashMLA is Hopper's alone.
    measured = {"Hopper": (90e-6, "fitted"), "Ada": (160e-6, "fitted")}
    assumed = rows_of("latent_layer", {**measured, "Ampere HBM": (90e-6, "assumed")})
    known = rows_of("latent_layer", {**measured, "Ampere HBM": (95e-6, "fitted")})
    unmeasured = ordered_generations(assumed)["latent_layer", "", "Ampere HBM"].value
    fitted = ordered_generations(known)["latent_layer", "", "Ampere HBM"].value
    assert (unmeasured, fitted) == (160e-6, 95e-6)


def test_runtimes_and_families_with_the_same_row_share_a_line(tmp_path: Path) -> None:
    # Two runtimes have the same range of two parts; a third has its own, and a factor stays alone.
    def row(runtime: str, family: str, value: float, unit: str = "share") -> ConstantRow:
        return ConstantRow(
            constant="spread",
            runtime=runtime,
            family=family,
            value=value,
            unit=unit,
            kind="fitted",
            source="python -m lab",
            date="2026-11",
        )

    parts = ("resident", "layers")
    same = [row(key, part, 0.2) for key in ("vllm", "sglang") for part in parts]
    others = [row("flexgen", "resident", 0.3), row("vllm", "cuda", 1.5, FACTOR)]
    table = tmp_path / "table.csv"
    table.write_text(constant_table([*same, *others]))
    lines = table.read_text().splitlines()[1:]
    assert [line.split(",")[1:3] for line in lines] == [
        ["vllm|sglang", "resident|layers"],
        ["flexgen", "resident"],
        ["vllm", "cuda"],
    ]
    assert {str(each) for each in constant_rows(table)} == {str(each) for each in (*same, *others)}


def test_a_scored_range_adds_traits_as_the_program_does() -> None:
    # Half a trait adds half of what its square adds: w sqrt(1 + (f^2 - 1) / 2).
    table = Constants.fitted().bound(Scope(runtime="vllm"))
    factor = table.value(BY_TRAIT[Margins.IN_DECODE], THIN)
    few = of_few(table.value("engine_publishers"))
    case = EngineLeftOutRow(
        id="x",
        group="x",
        evidence="published",
        seconds=1.0,
        predicted=1.0,
        tokens=1.0,
        experts=0.0,
        several=0.0,
        together=0.0,
        thin=0.5,
    )
    below = table.value(Margins.IN_DECODE, "resident") * np.sqrt(1 + (factor**2 - 1) / 2) * few
    assert margins(case, "vLLM", first=False).below == pytest.approx(below)
