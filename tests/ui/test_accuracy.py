"""The Accuracy page: tables, filters, chart, the figure that was clicked, its states."""

import math

import pytest
from ui_app import app, page_text, run

from advisor.catalog.accuracy_points import PEERS, AccuracyPoint
from advisor.evidence.accuracy.months import MonthScore
from advisor.evidence.accuracy.regimes import FAMILIES, REGIMES, family_of
from advisor.evidence.accuracy.scoring import Floor, Ledger, scores
from advisor.ui.accuracy import months as page_months
from advisor.ui.accuracy import points
from advisor.ui.accuracy import points as chart
from advisor.ui.accuracy import scores as page_scores
from advisor.ui.parts.drawing import LIGHT

SOURCE = "https://example.com/runs"


def point(name, regime, measured, predicted, **more):
    return AccuracyPoint(
        **{
            "id": name,
            "regime": regime,
            "group": name,
            "gpu": "RTX 4090",
            "cpu": "",
            "model": "Llama-3.1-8B",
            "format": "Q4_K_M",
            "measured": measured,
            "predicted": predicted,
            "below": 0.2,
            "above": 0.2,
            "source": SOURCE,
            **more,
        }
    )


POINTS = (
    *(
        point(f"a{at}", "resident, dense", 100.0, 100.0 + at, peers="llmfit=120; LLMcalc=90")
        for at in range(20)
    ),
    *(point(f"b{at}", "CPU alone", 4.0, 6.0, gpu="", cpu="Ryzen 9 7950X") for at in range(20)),
    point(
        "c0", "experts in RAM", 9.0, 10.0, model="<img src=x>", gpu="RTX 3090", peers="llmfit=8.1"
    ),
)


@pytest.fixture(autouse=True)
def _small_ledger(monkeypatch):
    floor = Floor(pairs=23, settings=9, median=0.125)
    small = Ledger(points=POINTS, scores=scores(POINTS), floor=floor)
    monkeypatch.setattr(page_scores.scoring, "shipped_ledger", lambda: small)
    page_scores.judged.clear()
    yield
    page_scores.judged.clear()


def workshop(part="Every figure", **chosen):
    """How we know, at a part of the workshop, with figures chosen."""
    test = app("accuracy", knowledge="Workshop", bench=part)
    for name, values in chosen.items():
        test.multiselect(key=f"ledger_{name.replace('_', ' ')}").set_value(values)
    if chosen:
        return run(test)
    return test


def test_every_kind_of_run_is_of_one_family():
    for regime in REGIMES:
        of = [name for name, begins in FAMILIES.items() if regime.name.startswith(begins)]
        assert of == [family_of(regime.name)], regime.name


def test_the_picture_has_a_bar_for_each_family_and_other_tools_beside():
    text = page_text(app("accuracy"))
    # 20 figures that are 0 to 19 % off and one that is 11 % off; llmfit says 120 of 100 tokens/s
    # and LLMcalc 90: 10 %
    assert "In the GPU: <b>half within 10 %, 20 runs" in text
    assert "LLMcalc 10 % on 20 of them, where ours is 10 %" in text
    assert "Processor alone: <b>half within 50 %, 20 runs" in text
    assert "no other tool covers them" in text
    assert "From the drive: " not in text


def test_the_verdict_names_the_closest_and_the_farthest():
    # Errors of 0 to 19 % and of 50 %; experts in RAM, a single figure, is not named.
    text = page_text(app("accuracy"))
    assert "All 41 published figures, each predicted without its source" in text
    assert "On machines new to us, half of the predictions were within" in text
    kinds = (
        "Kinds of run with 20 figures and more: from 10 % (resident, dense) to 50 % (CPU alone)."
    )
    assert kinds in text


def test_regimes_stand_beside_the_best_public_formula():
    text = page_text(workshop("Kinds of run"))
    for words in ("resident, dense", "20 groups", "CPU alone", "experts in RAM", "all together"):
        assert words in text
    # LLMcalc says 90 of 100: 10 %, and llmfit 120: 20 %.
    assert "10.0 %, LLMcalc" in text
    assert "none covers it" in text


def test_it_says_how_far_sources_differ_and_how_figures_are_judged():
    text = page_text(app("accuracy"))
    assert "differ by 12 % at the median (23 pairs of 9 settings)" in text
    assert "each predicted without its source" in text


def test_every_public_formula_is_there_with_its_source():
    text = page_text(workshop("Other tools"))
    for peer in PEERS:
        assert peer.name in text
        assert peer.source in text
        assert peer.date in text


def test_filters_narrow_chart_and_table():
    test = workshop(GPU=["RTX 3090", "no GPU"])
    assert "21 of 41 figures" in page_text(test)
    assert len(test.dataframe[0].value) == 21
    narrower = workshop(GPU=["RTX 3090", "no GPU"], Kind_of_run=["CPU alone"])
    assert "20 of 41 figures" in page_text(narrower)


def test_no_two_kinds_of_run_look_the_same(monkeypatch):
    monkeypatch.setattr(chart, "palette", lambda: LIGHT)
    kinds = [point(regime.name, regime.name, 1.0, 1.0) for regime in REGIMES]
    marks = [trace.marker for trace in chart.scatter(kinds, range(len(kinds))).data[3:]]
    assert len({(mark.symbol, mark.color) for mark in marks}) == len(kinds)


def test_filters_that_leave_nothing_say_so():
    test = workshop(GPU=["RTX 3090"], Kind_of_run=["CPU alone"])
    assert "No published figure has all of these" in page_text(test)
    assert not test.dataframe


def test_each_row_of_the_table_opens_its_source():
    shown = workshop().dataframe[0].value
    assert set(shown["Source"]) == {SOURCE}
    assert shown["Off by"].max() == pytest.approx(50.0)
    assert set(shown["In range"]) == {"yes", "no"}


def test_nothing_is_chosen_at_first():
    test = workshop()
    assert "Click a point" in page_text(test)
    assert not test.get("link_button")


def test_a_clicked_point_shows_its_figures_and_opens_its_source(monkeypatch):
    monkeypatch.setattr(points, "selected", lambda event, places: 40)
    test = workshop()
    text = page_text(test)
    for words in ("RTX 3090", "9.0 tokens/s", "10 tokens/s", "8.2 to 12", "11 % too fast", "c0"):
        assert words in text
    assert "&lt;img src=x&gt;" in text
    assert "<img" not in text
    (link,) = test.get("link_button")
    assert link.proto.url == SOURCE


def event(*points):
    return {"selection": {"points": list(points)}}


def test_a_click_carries_the_place_in_the_ledger():
    assert points.selected(event({"customdata": [7, "words"]}), [5, 7]) == 7
    assert points.selected(event(), [5, 7]) is None
    # A click from before a filter changed what is shown.
    assert points.selected(event({"customdata": [7, "words"]}), [5]) is None
    # The line of equals carries nothing.
    assert points.selected(event({"x": 1.0}), [5]) is None


def test_each_kind_of_run_has_a_look_of_its_own(monkeypatch):
    figure = chart.scatter(POINTS, range(len(POINTS)))
    marks = figure.data[3:]
    looks = {(mark.marker.symbol, mark.marker.color) for mark in marks}
    assert len(looks) == len({mark.marker.symbol for mark in marks}) == 3
    assert sum(len(mark.x) for mark in marks) == len(POINTS)
    again = chart.scatter(POINTS[20:40], range(20, 40))
    same = next(mark for mark in marks if mark.name == "CPU alone")
    assert again.data[3].marker == same.marker


def test_both_axes_have_the_same_ends_and_hold_every_point():
    layout = chart.scatter(POINTS, range(len(POINTS))).layout
    low, high = layout.xaxis.range
    assert layout.yaxis.range == (low, high)
    for point in POINTS:
        assert low < math.log10(point.measured) < high
        assert low < math.log10(point.predicted) < high


def test_the_band_is_a_quarter_either_way():
    below, above, equal = chart.scatter(POINTS, range(len(POINTS))).data[:3]
    for side, factor in ((below, 0.8), (above, 1.25), (equal, 1.0)):
        assert side.y == pytest.approx([factor * x for x in side.x])


def test_hover_escapes_names_and_says_how_far_off():
    text = chart.hover(POINTS[-1])
    assert "<img" not in text
    assert "11 % too fast" in text
    assert chart.off(point("x", "r", 10.0, 7.5)) == "25 % too slow"
    assert chart.off(point("x", "r", 10.0, 10.01)) == "right within half a percent"


def month_score(commit, error, **values):
    return MonthScore(
        **{
            "commit": commit,
            "day": "2026-11-28",
            "constants": "",
            "engine": "llama.cpp",
            "family": "In the GPU",
            "month": "2026-10",
            "rows": 40,
            "error": error,
            "held": 0.8,
            "width": 2.0,
            **values,
        }
    )


def test_an_alarm_stands_at_the_top_and_in_the_workshop(monkeypatch):
    kept = [month_score("aaaaaaaa", 0.1), month_score("bbbbbbbb", 0.15)]
    kept.append(month_score("bbbbbbbb", 0.2, engine="vLLM"))
    monkeypatch.setattr(page_months, "kept_scores", lambda: kept)
    sentence = "llama.cpp, In the GPU, 2026-10: error 10.0 % to 15.0 %."
    assert sentence in page_text(run(app("accuracy")))
    text = page_text(workshop("Watched"))
    assert sentence in text
    assert "Scores of commit bbbbbbbb (2026-11-28) beside those of aaaaaaaa" in text
    assert "was 10.0 %" in text
    assert "vLLM" in text


def test_without_an_alarm_nothing_stands_at_the_top(monkeypatch):
    kept = [month_score("aaaaaaaa", 0.1), month_score("bbbbbbbb", 0.1)]
    monkeypatch.setattr(page_months, "kept_scores", lambda: kept)
    assert "predicted worse" not in page_text(run(app("accuracy")))
    assert "No group got worse by the last change." in page_text(workshop("Watched"))
    monkeypatch.setattr(page_months, "kept_scores", list)
    assert "scores are kept yet." in page_text(workshop("Watched"))
