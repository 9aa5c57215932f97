"""The shipped constants equal the command's output, and the solver finds known solutions."""

import os
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pytest

from advisor.catalog.constants import FACTOR, ConstantRow, constant_rows
from advisor.catalog.csv_tables import DATA
from advisor.catalog.records import csv_text
from advisor.cost_model.uncertainty import NEW, THIN, Margins
from advisor.evidence.accuracy.scoring import ROLLING
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import PublishedRow
from advisor.model.model import Floats
from benchmarks.earned_factors import worths
from lab import spreads
from lab.__main__ import OF_HARDWARE, or_published, refitted
from lab.fit import FRAMEWORKS, LLAMA_CPP, Fit, Prior, newton, parameters, solve, without_each
from lab.frameworks import papers
from lab.llama_cpp import LEAST_GROUPS, published, rows_of, solved, task
from lab.rolling import rolling
from lab.spreads import COVERED, MANY_GROUPS, Errors, fitted, least, level
from lab.stack import Cases, Timed

ROW = {
    "id": "1", "category": "resident", "runtime": "llama.cpp", "gpu": "RTX 4090", "gpu_count": "1",
    "cpu": "", "threads": "", "ram_channels": "", "ram_mts": "", "ram_bw_gbs": "", "model":
    "Llama-3.1-8B", "params_b": "8.03", "quant": "Q4_K_M", "model_size_gib": "4.58", "ngl": "999",
    "n_cpu_moe": "", "context_depth": "0", "pp_tps": "", "tg_tps": "100", "date": "2026-01",
    "batch": "1", "source_url": "https://example.com", "source_note": "test=tg128",
    "doubtful": "False",
}  # fmt: skip


def constant(family: str, value: float, kind: str, source: str) -> ConstantRow:
    return ConstantRow(
        constant="kernel_share",
        family=family or None,
        value=value,
        unit="factor",
        kind=kind,
        source=source,
        rows=9 if kind == "fitted" else None,
    )


def test_a_factor_from_published_runs_outlives_an_expected_one() -> None:
    """Of four kinds of cores one is fitted, one has too few rows, one none, and one no source."""
    page = "https://example.com"
    fit = (("sse4", 0.16, "fitted", "fit"), ("scalar", 0.04, "derived", OF_HARDWARE),
           ("asimd", 0.17, "derived", OF_HARDWARE))  # fmt: skip
    former = (("sse4", 0.12, "derived", page), ("scalar", 0.035, "derived", page),
              ("lasx", 0.3, "derived", page), ("neon", 0.5, "fitted", "fit"))  # fmt: skip
    both = ([constant(*row) for row in rows] for rows in (fit, former))
    rows = {row.family: row.value for row in or_published(*both)}
    assert rows == {"sse4": 0.16, "scalar": 0.035, "asimd": 0.17, "lasx": 0.3}


def started(rows: Cases) -> dict[str, Floats]:
    return {
        name: np.full(len(rows.timed), parameter.start)
        for name, parameter in parameters(LLAMA_CPP).items()
    }


def timed_with(rows: Cases, **constants: float) -> Cases:
    """The same rows, taking exactly as long as some constants say."""
    values = started(rows)
    for name, value in constants.items():
        values[name][:] = value
    object.__setattr__(rows, "seconds", rows.predicted(values))
    return rows


def test_cores_unpack_trellis_formats_slowly() -> None:
    # An 8B in ik_llama.cpp, runs that no table has (pull requests 505 and 541, June 2025): 9.4
    # tokens/s on an M2 Max, 13.6 on a Ryzen 7950X, 4.79 on a 5700G with DDR4-2666.
    published_runs = (("IQ4_KT", "Apple M2 Max", "", 9.4), ("IQ4_KT", "Ryzen 9 7950X", "", 13.6),
                      ("IQ3_KT", "Ryzen 7 5700G", "2666", 4.79))  # fmt: skip
    of_cores = {"category": "cpu", "runtime": "ik_llama.cpp CPU", "gpu": "", "gpu_count": "",
                "model_size_gib": "", "ngl": "0", "date": "2025-06-20"}  # fmt: skip
    ratios = []
    for quant, cpu, ram_mts, measured in published_runs:
        cells = {**ROW, **of_cores, "cpu": cpu, "quant": quant, "ram_mts": ram_mts}
        speed = np.asarray(understood(PublishedRow(cells)).estimate.decode_tps, dtype=float)
        ratios.append(float(speed) / measured)
    assert np.exp(np.mean(np.log(ratios))) == pytest.approx(1.0, abs=0.15)
    assert max(np.abs(np.log(ratios))) < np.log(1.6)


def test_layers_divided_over_cards_are_timed_with_values_run_by_run() -> None:
    """Two exchanges a layer of 20 us each: 40 us more for each of 32 layers."""
    divided = {**ROW, "runtime": "llama.cpp -sm tensor", "gpu_count": "2"}
    rows = rows_of((PublishedRow(divided),))
    values = started(rows)
    slow = {**values, "all_reduce": np.array([40e-6])}
    quick = {**values, "all_reduce": np.array([20e-6])}
    more = rows.predicted(slow) - rows.predicted(quick)
    assert more == pytest.approx([64 * 20e-6])


@pytest.mark.skipif("ADVISOR_SOAK" not in os.environ, reason="takes minutes; `make soak` runs it")
def test_the_shipped_tables_equal_the_commands_output() -> None:
    written = refitted()
    assert {path.name for path in written} >= {"efficiency.csv", "left_out.csv"}
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text


@pytest.mark.skipif("ADVISOR_SOAK" not in os.environ, reason="takes minutes; `make soak` runs it")
def test_the_table_by_date_equals_the_commands_output() -> None:
    table = csv_text(list(rolling(rows_of(published()))))
    assert ROLLING.read_text(encoding="utf-8") == table


def test_no_month_knows_of_a_later_one() -> None:
    # a card whose runs of 2025-08 are three times slower leaves the scores of months before alone
    speeds = {"2024-05": 100.0, "2024-11": 98.0, "2025-02": 102.0}

    def scores(later: float) -> list[tuple[str, float, float, float]]:
        dated = [*speeds.items(), ("2025-08", later)]
        rows = [
            PublishedRow(
                {
                    **ROW,
                    "id": f"{month}{place}",
                    "date": month,
                    "tg_tps": str(speed + place),
                    "source_url": f"https://example.com/{place}",
                }
            )
            for month, speed in dated
            for place in range(4)
        ]
        months = rolling(rows_of(rows))
        return [(row.origin, row.error, row.held, row.width) for row in months]

    usual = scores(100.0)
    slower = scores(30.0)
    assert [row[0] for row in usual] == ["2024-10", "2025-01", "2025-07"]
    assert usual[:2] == slower[:2]
    assert usual[2][1] < 0.1 < slower[2][1]


def test_rows_are_timed_by_the_cost_model_itself() -> None:
    # 8B in Q4_K_M: 4.92 GB less the embedding, at 1008 GB/s and a share of 0.85; 32 layers. The
    # cores unpack 8 operations a weight beside, at 82.6 TFLOP/s: 1 % more, as both overlap.
    rows = rows_of([PublishedRow(ROW)])
    load = rows.timed[0].parts[0][1].stages[0][0].load
    assert load is not None
    reading = load.weights / (0.85 * 1008e9)
    unpacking = load.flops / 2.0 * 8.0 / 82.6e12
    weights = (reading**2.5 + unpacking**2.5) ** 0.4
    by_hand = weights + load.kv / (0.6 * 1008e9) + 32 * 45e-6 + 200e-6
    assert rows.predicted(started(rows))[0] == pytest.approx(float(by_hand), rel=1e-6)
    assert 4.4e9 < float(load.weights) < 4.92e9


def test_runs_of_an_older_engine_are_timed_as_that_engine() -> None:
    # Ollama's own engines, until June 2026, took 1 / 0.165 times 40 us for such a layer.
    hybrid = {**ROW, "model": "Qwen3.5-27B", "params_b": "27", "runtime": "Ollama"}
    rows = rows_of([PublishedRow({**hybrid, "date": date}) for date in ("2026-05", "2026-07")])
    old, new = rows.predicted(started(rows))
    assert old - new == pytest.approx(48 * (1 / 0.165 - 1) * 40e-6, rel=1e-6)


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


def test_rows_of_a_division_that_no_runtime_has_teach_nothing() -> None:
    note = "sm-row/pp2048; tp=4; split mode row; gen 256 tokens"
    assert not rows_of([PublishedRow({**ROW, "source_note": note})]).timed


def rows_of_sources(sources: str, formats: Sequence[str] = ("Q4_K_M", "Q8_0")) -> Cases:
    """Rows of five models in some formats on one card, from each of some sources."""
    models = ("Llama-3.2-3B", "Llama-3.1-8B", "Qwen2.5-14B", "Qwen2.5-32B", "Llama-3.1-70B")
    return rows_of(
        PublishedRow(
            {
                **ROW,
                "id": f"{name} {form} {source}",
                "model": name,
                "params_b": "",
                "quant": form,
                "model_size_gib": "",
                "gpu": "RTX PRO 6000 Blackwell",
                "source_url": source,
            }
        )
        for name in models
        for form in formats
        for source in sources
    )


def test_rows_made_with_known_constants_give_them_back() -> None:
    # Rows of nine sources whose time is exactly 0.75 of peak and 60 us a layer; fewer leave the
    # constants nearer to where they are expected.
    rows = rows_of_sources("abcdefghi")
    rows = timed_with(rows, gpu_read_share=0.75, gpu_layer=60e-6)
    done = solved(rows)
    best = done.fit.task.values(done.fit.logs)
    assert np.allclose(rows.predicted(best), rows.seconds, rtol=0.02)
    assert np.allclose(done.predicted, rows.seconds, rtol=0.04)
    share = best["gpu_read_share"]
    assert np.allclose(share, 0.75, rtol=0.03)


def test_a_factor_earns_its_place_where_other_sources_have_it_too() -> None:
    # In all of four sources Q8_0 is read at 0.72 of the peak, Q4_K_M at 0.9; families, backends and
    # builds are one each, so that their factors say nothing more.
    rows = rows_of_sources("abcd")
    values = started(rows)
    eights = rows.column("decode_class") == "q8"
    values["gpu_read_share"] = np.where(eights, 0.72, 0.9)
    object.__setattr__(rows, "seconds", rows.predicted(values))
    known = {(worth.constant, worth.columns): worth for worth in worths(rows)}
    earned = known.pop(("gpu_read_share", ("decode_class",)))
    assert earned.earned
    assert (earned.rows, earned.groups) == (len(rows.timed), 4)
    assert earned.dropped > 1.25 * earned.kept
    assert known
    assert max(worth.dropped - worth.kept for worth in known.values()) < 0.01


def test_a_source_is_predicted_by_a_fit_that_does_not_know_it() -> None:
    # One source reaches 0.5 of the peak and one 0.85: each is predicted as from the other alone.
    def of(source: str, share: float) -> Cases:
        formats = ("Q3_K_M", "Q4_0", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "IQ4_XS")
        return timed_with(rows_of_sources(source, formats), gpu_read_share=share)

    slow = of("a", 0.5)
    fast = of("b", 0.85)
    both = rows_of(row.row for rows in (slow, fast) for row in rows.timed)
    object.__setattr__(both, "seconds", np.concatenate([slow.seconds, fast.seconds]))
    fit = solved(both)
    alone = solved(fast).fit
    expected = slow.predicted(task(slow).values(alone.logs))
    assert fit.predicted[: len(slow.timed)] == pytest.approx(expected, rel=0.01)


@cache
def fit_of_a_part() -> Fit:
    """Fit of every thirteenth published row; its time grows with the square of their number."""
    return solve(task(rows_of(published()[::13])))


def test_a_part_of_the_rows_is_fitted_in_a_moment_and_explains_them() -> None:
    off = np.abs(fit_of_a_part().residuals)
    assert len(off) > 300
    assert float(np.median(off)) < 0.15


def test_runs_side_by_side_take_as_long_as_each_alone() -> None:
    # Formats, links, drives and engines differ among frameworks' runs, and with them their kernels.
    runs = papers()[::3]
    values = {name: parameter.start for name, parameter in parameters(FRAMEWORKS).items()}

    def timed(*some: Timed) -> Floats:
        return Cases(some).predicted({name: np.full(len(some), values[name]) for name in values})

    assert len(runs) > 100
    assert timed(*runs) == pytest.approx(np.array([timed(run)[0] for run in runs]), rel=1e-9)


def test_a_step_without_a_cluster_is_the_fit_without_it() -> None:
    # Two terms, five rows; linear, so that one step is exact: compared with solving anew.
    slopes = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]])
    measured = np.array([0.1, 0.2, 0.5, 0.1, 0.9])
    weights = np.array([4.0, 1.0, 2.0, 3.0, 1.0])
    prior = Prior(value=np.zeros(2), width=np.array([0.5, 0.3]))
    best = newton(prior, np.zeros(2), slopes, weights, measured)
    clusters = ("a", "a", "b", "c", "c")
    floats = without_each(prior, best, slopes, weights, measured - slopes @ best, clusters)
    for row, cluster in enumerate(clusters):
        kept = np.array([name != cluster for name in clusters])
        alone = newton(prior, np.zeros(2), slopes[kept], weights[kept], measured[kept])
        assert floats[row] == pytest.approx(alone)


def constants() -> list[ConstantRow]:
    return [
        row for row in constant_rows(DATA / "generated" / "efficiency.csv") if row.kind == "fitted"
    ]


def test_constants_lie_where_physics_allows() -> None:
    known = constants()
    outside = []
    for name, parameter in parameters(LLAMA_CPP).items():
        rows = [row for row in known if row.constant == name and row.unit != FACTOR]
        (own,) = (row for row in rows if row.runtime == (parameter.runtime or None))
        values = (parameter.start, own.value)
        inside = all(parameter.least <= value <= parameter.most for value in values)
        if not inside or parameter.start <= 0.0 or own.unit != parameter.unit:
            outside.append(name)
    assert not outside


def test_every_constant_of_every_row_lies_where_physics_allows() -> None:
    fit = fit_of_a_part()
    for name, values in fit.task.values(fit.logs).items():
        parameter = parameters(LLAMA_CPP)[name]
        assert parameter.least <= float(values.min()), name
        assert float(values.max()) <= parameter.most, name


def test_factors_of_few_groups_keep_their_expected_values() -> None:
    fit = fit_of_a_part()
    known = zip(fit.task.terms, fit.logs, fit.groups, fit.task.prior.value, strict=True)
    few = [
        (value, expected)
        for (_, scope), value, groups, expected in known
        if scope and groups < LEAST_GROUPS
    ]
    assert few
    assert np.allclose(*zip(*few, strict=True), atol=1e-4)


def errors(off: Floats, **more: object) -> Errors:
    count = len(off)
    groups = more.get("groups", np.arange(count).astype(str))
    usual = {
        "groups": groups, "publishers": groups, "backends": np.full(count, "cuda"),
        "builds": np.full(count, ""), "on_gpu": np.ones(count), "traits": {},
    }  # fmt: skip
    return Errors(off=off, **{**usual, **more})  # type: ignore[arg-type]


def values(off: Errors, **scope: str) -> dict[str, float]:
    """Constants of the ranges in one scope, by name."""
    every = {"family": None, "backend": None, "build": None, **scope}
    return {
        row.constant: row.value
        for row in fitted(off, Margins.IN_DECODE)
        if all(getattr(row, column) == value for column, value in every.items())
    }


def reach(off: Errors) -> float:
    """How far the range of a GPU's row reaches to either side."""
    half = values(off, family="resident")[Margins.IN_DECODE]
    return half * values(off, backend="cuda")[Margins.IN_DECODE]


def test_a_range_holds_as_many_as_it_should_and_treats_sides_alike() -> None:
    # Errors from -0.5 to 0.3 spread evenly: 80 in 100 lie within 0.34 to either side.
    assert reach(errors(np.linspace(-0.5, 0.3, 801))) == pytest.approx(0.34, abs=0.01)


def test_a_level_promises_a_group_never_seen_its_share() -> None:
    # Nine publishers, off by 0.1 to 0.9: 80 % of ten, one of them never seen, are eight.
    off = np.linspace(0.1, 0.9, 9)
    assert level(errors(off), np.ones(9)) == pytest.approx(0.8, abs=1e-6)


def test_a_level_is_of_publishers_by_whom_nothing_was_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The others err a tenth as much and decide nothing.
    own = MANY_GROUPS + 8
    off = np.concatenate([np.linspace(-0.5, 0.5, own), np.linspace(-0.05, 0.05, 400)])
    chosen = np.arange(len(off)) >= own
    monkeypatch.setattr(spreads, "set_widths", lambda names: ~chosen[: len(names)])
    scale = level(errors(off), np.ones(len(off)))
    assert scale == pytest.approx(0.5 * COVERED * (own + 1) / own, rel=0.1)


def test_a_publisher_with_a_sweep_counts_as_much_as_one_with_a_single_run() -> None:
    # 90 rows of two machines of a publisher beside nine single runs: ten publishers of weight 1;
    # 80 rows of the first machine weigh as much as 10 of the second.
    groups = ["sweep on a"] * 80 + ["sweep on b"] * 10 + [str(each) for each in range(9)]
    publishers = ["sweep"] * 90 + [str(each) for each in range(9)]
    sweep = errors(np.zeros(99), groups=np.array(groups), publishers=np.array(publishers))
    assert sweep.weights.sum() == pytest.approx(10)
    assert sweep.weights[:80].sum() == pytest.approx(0.5)
    assert sweep.weights[80:90].sum() == pytest.approx(0.5)
    assert sweep.weights[90:] == pytest.approx(1.0)


def test_a_model_of_kinds_that_nobody_timed_gets_the_range_of_whole_architectures() -> None:
    # Predicted without their architecture rows err twice as far as without their publisher.
    off = np.linspace(-0.3, 0.3, 400)
    rows = errors(off, new=2.0 * off, kinds=np.where(np.arange(400) % 2, "full + new", "latent"))
    assert values(rows, family=NEW)["spread_by"] == pytest.approx(2.0, rel=0.05)
    assert values(errors(off), family=NEW)["spread_by"] == pytest.approx(1.0)


def test_cases_farther_from_evidence_get_a_wider_range() -> None:
    # Families that few measured err three times as much in one table, a third as much in another.
    off = np.linspace(-0.3, 0.3, 400)
    few = np.arange(400) % 2
    for factor, wider in ((3.0, True), (1 / 3, False)):
        rows = errors(off * np.where(few, factor, 1.0), traits={THIN: few.astype(float)})
        widened = values(rows, family=THIN)["spread_by"]
        assert widened > 2.0 if wider else widened == pytest.approx(1.0)


def test_a_separate_build_has_a_range_of_its_own() -> None:
    # LocalScore's rows err twice as much as the others and decide nothing of theirs.
    off = np.linspace(-0.2, 0.2, 400)
    old = np.arange(400) % 2 > 0
    builds = np.where(old, "llamafile", "")
    rows = errors(off * np.where(old, 2.0, 1.0), builds=builds)
    alone = errors(off[~old])
    assert reach(rows) == pytest.approx(reach(alone), abs=0.01)
    apart = values(rows, family="resident", build="llamafile")[Margins.IN_DECODE]
    assert apart == pytest.approx(2.0, rel=0.1)


def test_ik_llama_cpp_on_processors_shares_the_range_of_llama_cpp() -> None:
    # Half of the rows are of the fork; errors to 0.3 on both sides, 80 in 100 of them within 0.24.
    off = np.linspace(-0.3, 0.3, 400)
    fork = np.arange(400) % 2 > 0
    where = {"on_gpu": np.zeros(400), "backends": np.full(400, "cpu")}
    rows = errors(off, builds=np.where(fork, "ik", ""), **where)
    assert values(rows, family="in_place")[Margins.IN_DECODE] == pytest.approx(
        COVERED * 0.3, rel=0.03
    )
    assert not values(rows, family="in_place", build="ik")


@pytest.mark.parametrize(("groups", "width"), [(40, 0.5), (5, 1.0)])
def test_few_groups_of_a_build_never_narrow_its_range(groups: int, width: float) -> None:
    # Rows of MLX that err half as much as the others, of many groups and of few.
    off = np.linspace(-0.2, 0.2, 400)
    own = np.arange(400) % 2 > 0
    names = np.where(own, np.arange(400) // 2 % groups, np.arange(400) + 1000).astype(str)
    builds = np.where(own, "mlx", "")
    rows = errors(off * np.where(own, 0.5, 1.0), builds=builds, groups=names)
    factor = values(rows, family="resident", build="mlx")[Margins.IN_DECODE]
    assert factor == pytest.approx(width, rel=0.12)


def test_the_search_gives_the_same_numbers_twice_and_finds_the_least() -> None:
    def loss(numbers: Mapping[str, float]) -> float:
        return abs(numbers["a"] - 1.0) + (numbers["b"] + 2.0) ** 2

    outcome = least(loss, {"a": 0.0, "b": 0.0}, {"b": (-1.0, 1.0)})
    assert outcome == least(loss, {"a": 0.0, "b": 0.0}, {"b": (-1.0, 1.0)})
    assert outcome["a"] == pytest.approx(1.0, abs=0.01)
    assert outcome["b"] == -1.0
