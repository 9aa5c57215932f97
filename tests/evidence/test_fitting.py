"""The shipped constants are what the command writes, and the solver finds what it should."""

import os

import numpy as np
import pytest

from advisor.catalog.constants import FACTOR, ConstantRow
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.uncertainty import IN_DECODE, LEAN
from advisor.evidence.fitting.__main__ import refitted
from advisor.evidence.fitting.gauss_newton import Prior, newton, without_each
from advisor.evidence.fitting.llama_cpp_fit import problem, solve
from advisor.evidence.fitting.llama_cpp_parameters import PARAMETERS
from advisor.evidence.fitting.llama_cpp_rows import Rows, published, rows_of
from advisor.evidence.fitting.spreads import Errors, fitted
from advisor.evidence.published.row import PublishedRow
from advisor.model.model import Floats

ROW = {
    "id": "1", "category": "resident", "runtime": "llama.cpp", "gpu": "RTX 4090", "gpu_count": "1",
    "cpu": "", "threads": "", "ram_channels": "", "ram_mts": "", "ram_bw_gbs": "", "model":
    "Llama-3.1-8B", "params_b": "8.03", "quant": "Q4_K_M", "model_size_gib": "4.58", "ngl": "999",
    "n_cpu_moe": "", "context_depth": "0", "pp_tps": "", "tg_tps": "100", "date": "2026-01",
    "batch": "1", "source_url": "https://example.com", "source_note": "test=tg128",
    "doubtful": "False",
}  # fmt: skip


def started(rows: Rows) -> dict[str, Floats]:
    return {name: np.full(len(rows.timed), one.start) for name, one in PARAMETERS.items()}


def timed_with(rows: Rows, **constants: float) -> Rows:
    """The same rows, taking exactly as long as some constants say."""
    values = started(rows)
    for name, value in constants.items():
        values[name][:] = value
    object.__setattr__(rows, "seconds", rows.predicted(values))
    return rows


@pytest.mark.skipif("ADVISOR_SOAK" not in os.environ, reason="takes minutes; `make soak` runs it")
def test_the_shipped_tables_are_what_the_command_writes() -> None:
    written = refitted()
    assert {path.name for path in written} >= {"efficiency.csv", "left_out.csv"}
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text


def test_rows_are_timed_by_the_cost_model_itself() -> None:
    # 8B in Q4_K_M: 4.92 GB less the embedding, at 1008 GB/s and a share of 0.85; 32 layers.
    rows = rows_of([PublishedRow(ROW)])
    load = rows.timed[0].schedule.stages[0].flows[0].load
    assert load is not None
    by_hand = load.weights / (0.85 * 1008e9) + load.kv / (0.6 * 1008e9) + 32 * 45e-6 + 200e-6
    assert rows.predicted(started(rows))[0] == pytest.approx(float(by_hand), rel=1e-6)
    assert 4.4e9 < float(load.weights) < 4.92e9


def test_several_users_are_timed_by_the_step_of_all() -> None:
    # 400 tokens a second of eight users are 8 tokens in a fiftieth of a second.
    (row,) = rows_of([PublishedRow({**ROW, "batch": "8", "tg_tps": "400"})]).timed
    assert row.seconds == pytest.approx(0.02)
    assert float(row.case.work.users) == 8


@pytest.mark.parametrize("speed", ["2000", "0.5"])
def test_rows_that_no_physics_explains_teach_nothing(speed: str) -> None:
    # 4.6 GB at 1008 GB/s are 4.6 ms: 2000 tokens/s cannot be, 0.5 is another program.
    assert not rows_of([PublishedRow({**ROW, "tg_tps": speed})]).timed
    assert len(rows_of([PublishedRow(ROW)]).timed) == 1
    assert not rows_of([PublishedRow({**ROW, "doubtful": "True"})]).timed


def test_rows_made_with_known_constants_give_them_back() -> None:
    # Rows of three sources whose time is exactly 0.75 of peak and 60 us a layer.
    models = ("Llama-3.2-3B", "Llama-3.1-8B", "Qwen2.5-14B", "Qwen2.5-32B", "Llama-3.1-70B")
    rows = rows_of(
        PublishedRow({**ROW, "id": f"{name} {form} {source}", "model": name, "params_b": "",
                      "quant": form, "model_size_gib": "", "gpu": "RTX PRO 6000 Blackwell",
                      "source_url": source})
        for name in models for form in ("Q4_K_M", "Q8_0") for source in "abc"
    )  # fmt: skip
    rows = timed_with(rows, gpu_read_share=0.75, gpu_layer=60e-6)
    task = problem(rows)
    found = solve(task)
    assert np.allclose(rows.predicted(task.values(found.values)), rows.seconds, rtol=0.02)
    assert np.allclose(found.held_out, rows.seconds, rtol=0.04)
    share = task.values(found.values)["gpu_read_share"]
    assert np.allclose(share, 0.75, rtol=0.03)


def test_a_tenth_of_the_rows_is_fitted_in_a_moment_and_explains_them() -> None:
    rows = rows_of(published()[::10])
    task = problem(rows)
    found = solve(task)
    off = np.abs(np.log(rows.predicted(task.values(found.values)) / rows.seconds))
    assert len(rows.timed) > 200
    assert float(np.median(off)) < 0.15


def test_a_step_without_a_cluster_is_the_fit_without_it() -> None:
    # Two terms, five rows; linear, so that one step is exact: compared with solving anew.
    slopes = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]])
    measured = np.array([0.1, 0.2, 0.5, 0.1, 0.9])
    weights = np.array([4.0, 1.0, 2.0, 3.0, 1.0])
    prior = Prior(value=np.zeros(2), width=np.array([0.5, 0.3]))
    best = newton(prior, np.zeros(2), slopes, weights, measured)
    clusters = ("a", "a", "b", "c", "c")
    found = without_each(prior, best, slopes, weights, measured - slopes @ best, clusters)
    for row, cluster in enumerate(clusters):
        kept = np.array([name != cluster for name in clusters])
        alone = newton(prior, np.zeros(2), slopes[kept], weights[kept], measured[kept])
        assert found[row] == pytest.approx(alone)


def constants() -> list[ConstantRow]:
    return [
        row
        for row in read(DATA / "generated" / "efficiency.csv", ConstantRow)
        if row.kind == "fitted"
    ]


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_constants_lie_where_physics_allows(name: str) -> None:
    parameter = PARAMETERS[name]
    assert parameter.start > 0.0
    assert parameter.least <= parameter.start <= parameter.most
    found = [row for row in constants() if row.constant == name and row.unit != FACTOR]
    own = [row for row in found if row.runtime == (parameter.runtime or None)]
    assert len(own) == 1
    assert own[0].unit == parameter.unit
    assert parameter.least <= own[0].value <= parameter.most


def test_every_constant_of_every_row_lies_where_physics_allows() -> None:
    rows = rows_of(published()[::7])
    task = problem(rows)
    for name, values in task.values(solve(task).values).items():
        parameter = PARAMETERS[name]
        assert parameter.least <= float(values.min()), name
        assert float(values.max()) <= parameter.most, name


def errors(off: Floats, **more: object) -> Errors:
    count = len(off)
    usual = {
        "groups": np.arange(count).astype(str), "backends": np.full(count, "cuda"),
        "builds": np.full(count, ""), "on_gpu": np.ones(count),
        "several": np.zeros(count, dtype=bool), "thin": np.zeros(count, dtype=bool),
        "ram_stated": np.ones(count, dtype=bool),
    }  # fmt: skip
    return Errors(off=off, **{**usual, **more})  # type: ignore[arg-type]


def test_a_range_holds_four_in_five_and_leans_as_errors_do() -> None:
    # Errors from -0.5 to 0.3 spread evenly: the middle four fifths are -0.42 to 0.22.
    found = {one.constant: one.value for one in fitted(errors(np.linspace(-0.5, 0.3, 801)),
                                                       IN_DECODE) if not one.factor}  # fmt: skip
    half, lean = found["spread_thin"], found[LEAN[IN_DECODE]]
    assert half == pytest.approx(0.0)
    (gpu,) = {
        one.value
        for one in fitted(errors(np.linspace(-0.5, 0.3, 801)), IN_DECODE)
        if one.constant == IN_DECODE and one.scope.get("family") == "resident"
    }
    assert gpu * (1 + lean) == pytest.approx(0.42, abs=0.01)
    assert gpu * (1 - lean) == pytest.approx(0.22, abs=0.01)


def test_each_group_weighs_the_same() -> None:
    # A sweep of 90 rows without error counts no more than each of nine others.
    off = np.concatenate([np.zeros(90), np.linspace(-0.4, 0.4, 9)])
    groups = np.array(["sweep"] * 90 + [str(each) for each in range(9)])
    wide = errors(off, groups=groups).width(np.ones(99, dtype=bool))
    assert wide > 0.3
