"""Charts as HTML: places, ticks, pictures, and text that stays text."""

import re
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.reports.charts import (
    MOST_TICKS,
    Bar,
    BarChart,
    BarPart,
    Line,
    LineChart,
    Note,
    Scale,
    scale_of,
)
from advisor.reports.document import SensitivityRow
from advisor.ui.advise.costs import tornado
from advisor.ui.parts.drawing import (
    Point,
    PointChart,
    bars,
    curves,
    lines,
    picture,
    points,
    stroke,
)

HOSTILE = "<img src=x onerror='alert(1)'>"


def test_a_value_lies_at_its_share_of_the_axis():
    assert Scale(low=10, high=50).place(20) == pytest.approx(25)
    # Ten is half way from 1 to 100 in powers of ten.
    assert Scale(low=1, high=100, powers=True).place(10) == pytest.approx(50)


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (Scale(low=0, high=80), [0, 20, 40, 60, 80]),
        (Scale(low=0, high=7), [0, 1, 2, 3, 4, 5, 6, 7]),
        (Scale(low=-0.4, high=0.4), [-0.4, -0.2, 0, 0.2, 0.4]),
        (Scale(low=1, high=1000, powers=True), [1, 10, 100, 1000]),
        (Scale(low=50, high=2000, powers=True), [50, 100, 200, 500, 1000, 2000]),
        (Scale(low=4, high=6, powers=True), [4, 4.5, 5, 5.5, 6]),
        (Scale(low=1e-3, high=1e6, powers=True), [1e-3, 1e-1, 1e1, 1e3, 1e5]),
    ],
)
def test_ticks_are_round_values_within_the_axis(scale, ticks):
    assert scale.ticks() == pytest.approx(ticks)


@given(
    st.lists(st.floats(1e-6, 1e9), min_size=1, max_size=9),
    st.booleans(),
    st.booleans(),
)
def test_an_axis_has_room_for_its_values_and_few_ticks(values, powers, from_zero):
    scale = scale_of(values, powers=powers, from_zero=from_zero and not powers)
    assert all(0 <= scale.place(value) <= 100 for value in values)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= MOST_TICKS
    assert all(-1e-6 <= scale.place(tick) <= 100 + 1e-6 for tick in ticks)


def test_an_axis_without_values_still_has_two_ends():
    scale = scale_of([float("nan")])
    assert scale.low < scale.high


def drawn(html):
    """The picture's SVG."""
    return unquote(re.search(r"data:image/svg\+xml,([^)]*)", str(html))[1])


def test_a_picture_counts_from_the_top_where_charts_count_from_the_bottom():
    svg = drawn(picture([stroke([(0, 0), (25, 100)], "#123456", "9 5")]))
    assert "points='0.00,100.00 25.00,0.00'" in svg
    assert "stroke='#123456'" in svg
    assert "stroke-dasharray='9 5'" in svg


def test_bars_are_as_wide_as_their_parts_and_say_what_they_are():
    parts = (BarPart(name="weights", size=30.0, colour=0), BarPart(name="KV", size=10.0, colour=1))
    bar = Bar(head="RAM", figure="40 GB of 50 GB", parts=parts, low=20.0, high=45.0, limit=50.0)
    html = bars(
        BarChart(name="m", title="M", alt="", bars=(bar,), unit="GB", mark="what it can hold")
    )
    # The mark at 50 is the right end: 30, 10 and the range from 20 to 45 are shares of it.
    assert re.findall(r"width:([\d.]+)%", html) == ["60.00", "20.00", "50.00"]
    assert re.findall(r"left:([\d.]+)%", html) == ["40.00", "100.00"]
    assert "<p>RAM: <b>40 GB of 50 GB</b></p>" in html
    assert "title='weights: 30.0 GB'" in html
    assert html.count("<span>") == 3  # two parts and the mark


def test_lines_have_their_values_names_and_notes():
    chart = LineChart(
        name="c",
        title="C",
        alt="cost against tokens",
        x_label="tokens",
        y_label="USD",
        lines=(
            Line(name="keep", x=(1.0, 10.0, 100.0), y=(1.0, 2.0, 4.0), colour=0),
            Line(name="rent", x=(1.0, 10.0, 100.0), y=(3.0, 3.0, 3.0), colour=1),
        ),
        x_powers=True,
        y_powers=False,
        notes=(Note(x=10.0, text="pays from 10"),),
    )
    html = lines(chart)
    assert "aria-label='cost against tokens'" in html
    assert html.count("data-tip=") == 6
    assert "data-tip='keep at 10: 2.00'" in html
    assert "pays from 10</em>" in html
    assert ">keep</em>" in html
    assert drawn(html).count("<polyline") == 3  # two lines and the note's upright


def test_curves_end_with_their_numbers_and_a_level_lies_at_its_height():
    at = np.array([1.0, 10.0, 100.0])
    named = {"each": (at, np.array([100.0, 10.0, np.nan])), "all": (at, np.array([100.0] * 3))}
    html = curves(
        named, {10.0: "memory ends"}, x_label="users", y_label="tokens/s", alt="", level=(10, "10")
    )
    assert html.count("data-tip='each at") == 2
    assert html.count("data-tip='all at") == 3
    assert "memory ends</em>" in html
    assert drawn(html).count("<polyline") == 4  # two curves, the mark and the level
    low = re.search(r"data-tip='each at 10: 10.0' style='left:[\d.]+%;bottom:([\d.]+)%", html)
    assert f"left:100.00%;bottom:{low[1]}%'>10</em>" in html


def test_words_of_marks_lie_on_no_line_and_on_no_other_words():
    at = np.array([1.0, 10.0, 100.0])
    named = {"each": (at, np.array([1.0, 1.0, 1.0])), "all": (at, np.array([1.0, 10.0, 100.0]))}
    marks = {90.0: "memory ends", 80.0: "at that speed"}
    html = curves(named, marks, x_label="users", y_label="tokens/s", alt="")
    place = r"bottom:([\d.]+)%'>{}</em>"
    ends, speed = (float(re.search(place.format(words), html)[1]) for words in marks.values())
    assert abs(ends - speed) >= 4
    lowest, highest = (
        float(height) for height in re.findall(r"bottom:([\d.]+)%;--size", html)[::5]
    )
    assert lowest + 1 < ends < highest - 4


def test_points_of_a_kind_share_a_shape_and_the_front_has_stairs():
    spots = (
        Point(kind="rent", x=10.0, y=1.0, tip="A"),
        Point(kind="rent", x=1000.0, y=8.0, tip="B", name="best"),
        Point(kind="rent", x=1000.0, y=4.0, tip="beaten", name="hidden"),
        Point(kind="rent", x=5.0, y=9.0, tip="undated", counts=False),
    )
    chart = PointChart(
        lead="Nothing beats",
        points=spots,
        shapes={"buy": "circle", "rent": "triangle"},
        x_label="USD",
        y_label="tokens/s",
        x_sign="$",
    )
    html = points(chart)
    assert html.count("oa-point oa-triangle") == 4
    assert html.count("oa-mark") == 1  # nothing is bought
    assert "$100</b>" in html
    assert "best</em>" in html
    assert "hidden</em>" not in html
    assert "aria-label='Nothing beats: A; B'" in html
    corners = re.search(r"points='([^']*)'", drawn(html))[1].split()
    assert len(corners) == 3  # along at the first point's height, then up to the second
    assert corners[0].split(",")[1] == corners[1].split(",")[1]
    assert corners[1].split(",")[0] == corners[2].split(",")[0]
    more = replace(chart, costs=False)  # more across is better as well
    assert [spot.tip for spot in more.front] == ["B"]


def test_text_of_others_stays_text_in_every_chart():
    bar = Bar(head=HOSTILE, figure=HOSTILE, parts=(BarPart(name=HOSTILE, size=1.0, colour=0),))
    line = Line(name=HOSTILE, x=(1.0, 2.0), y=(1.0, 2.0), colour=0)
    shown = (
        bars(BarChart(name="", title="", alt=HOSTILE, bars=(bar, bar), unit=HOSTILE, mark=HOSTILE)),
        lines(
            LineChart(
                name="",
                title="",
                alt=HOSTILE,
                lines=(line, line),
                x_label=HOSTILE,
                y_label=HOSTILE,
                x_powers=False,
                y_powers=False,
                notes=(Note(x=1.0, text=HOSTILE),),
            )
        ),
        points(
            PointChart(
                lead=HOSTILE,
                x_label=HOSTILE,
                y_label=HOSTILE,
                shapes={HOSTILE: "circle"},
                points=(Point(kind=HOSTILE, x=1.0, y=1.0, tip=HOSTILE, name=HOSTILE),),
            )
        ),
    )
    for html in shown:
        assert "&lt;img" in html
        assert "<img" not in html
        assert "onerror='" not in html


def test_a_tornado_reaches_from_the_gain_to_both_ends_and_marks_no_gain():
    row = SensitivityRow(
        name="price", low=500.0, high=900.0, gain_low_usd=30.0, gain_high_usd=-10.0
    )
    html = tornado((row,), 10.0)
    # The track goes from -10 to 30: 10 is its middle, 0 a quarter.
    arms = re.findall(r"left:([\d.]+)%;width:([\d.]+)%", html)
    assert arms == [("50.00", "50.00"), ("0.00", "50.00")]
    assert "<u style='left:25.00%'>" in html
