"""Report documents: each survives JSON, and a wrong one is refused by the name of its field."""

import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from saved_reports import SAMPLE

from advisor.catalog.records import Size
from advisor.errors import InputError
from advisor.reports.document import (
    OPTIONS,
    AssumptionRow,
    OptionRow,
    PlacementCard,
    ReportDocument,
    SensitivityRow,
    SweepSeries,
    TierUse,
    TimePart,
    from_json,
    to_json,
)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
sizes = st.floats(min_value=0, max_value=1e24)
maybe_sizes = st.none() | sizes
placements = st.sampled_from(["gpu-resident", "cpu-offload", "nvme-offload"])
points = st.lists(st.tuples(*[st.floats(-1e24, 1e24)] * 2), max_size=4)


def sizes_of(record: type) -> list[str]:
    return [field.name for field in fields(record) if field.type == Size | None]


def _series(name: str, x_label: str, y_label: str, at: list[tuple[float, float]]) -> SweepSeries:
    return SweepSeries(
        name=name,
        x_label=x_label,
        y_label=y_label,
        x=tuple(x for x, _ in at),
        y=tuple(y for _, y in at),
    )


sweeps = st.builds(_series, texts, texts, texts, points)
cards = st.builds(
    PlacementCard,
    **dict.fromkeys(["runtime", "title", "bottleneck", "explanation", "command"], texts),
    **dict.fromkeys(sizes_of(PlacementCard), maybe_sizes),
    placement=placements,
    **dict.fromkeys(["fits", "shown"], st.booleans()),
)
options = st.builds(
    OptionRow,
    **dict.fromkeys(["name", "price_note", "price_date", "verdict"], texts),
    **dict.fromkeys(sizes_of(OptionRow), maybe_sizes),
    kind=st.sampled_from(list(OPTIONS)),
    saves_hours=st.none() | st.floats(-1e24, 1e24),
    pays=st.none() | st.booleans(),
)
uses = st.builds(
    TierUse,
    placement=placements,
    tier=st.sampled_from(["VRAM", "RAM", "disk"]),
    part=texts,
    bytes=sizes,
    capacity_bytes=maybe_sizes,
)
documents = st.builds(
    ReportDocument,
    **dict.fromkeys(["title", "verdict", "version", "command", "link", "model", "gpu"], texts),
    created_at=st.datetimes(timezones=st.just(UTC)).map(str),
    **dict.fromkeys(["inputs", "request"], st.dictionaries(texts, texts, max_size=3)),
    placements=st.lists(cards, max_size=3).map(tuple),
    options=st.lists(options, max_size=2).map(tuple),
    memory=st.lists(uses, max_size=3).map(tuple),
    token_time=st.lists(
        st.builds(TimePart, placement=placements, part=texts, seconds=sizes), max_size=3
    ).map(tuple),
    layer_sweep=st.none() | sweeps,
    cost_curves=st.lists(sweeps, max_size=2).map(tuple),
    **dict.fromkeys(["turns_on", "what_changes"], texts),
    sensitivity=st.lists(
        st.builds(
            SensitivityRow,
            name=texts,
            **dict.fromkeys(
                ["low", "high", "gain_low_usd", "gain_high_usd"], st.floats(-1e24, 1e24)
            ),
        ),
        max_size=2,
    ).map(tuple),
    assumptions=st.lists(
        st.builds(AssumptionRow, what=texts, value=texts, kind=texts, source=texts, date=texts),
        max_size=2,
    ).map(tuple),
)


@pytest.fixture
def data() -> dict[str, Any]:
    """The sample as JSON."""
    loaded: dict[str, Any] = json.loads(SAMPLE.read_text(encoding="utf-8"))
    return loaded


@given(documents)
def test_every_document_survives_json(document: ReportDocument) -> None:
    text = json.dumps(to_json(document), allow_nan=False)
    assert from_json(json.loads(text)) == document


def test_a_document_of_json_has_its_values(data: dict[str, Any]) -> None:
    document = from_json(data)
    assert document.title == "Llama 3.1 70B, Q4_K_M, on RTX 3090 24 GB + 64 GB DDR5"
    assert document.placements[0].missing_bytes == 19 * 2**30
    assert document.placements[1].decode_tps == 2.93
    assert document.cost_curves[1].y[-1] == 290.2
    assert document.cost_curves[0].y == tuple(data["cost_curves"][0]["y"])


def test_keys_of_a_later_version_are_left_out(data: dict[str, Any]) -> None:
    plain = from_json(data)
    data["colour"] = "red"
    data["placements"][0]["shape"] = [1, {"deep": None}]
    assert from_json(data) == plain


def test_keys_with_a_default_may_be_missing(data: dict[str, Any]) -> None:
    for key in ("format", "options", "layer_sweep", "link"):
        del data[key]
    del data["placements"][0]["ttft_s"]
    document = from_json(data)
    assert (document.options, document.layer_sweep, document.link) == ((), None, "")


def _set(*path: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        at: Any = data
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda data: data.pop("title"), "report.title is missing"),
        (lambda data: data["placements"][1].pop("fits"), "report.placements[1].fits is missing"),
        (_set("title", to=3), "report.title is 3"),
        (_set("title", to="x" * 20_001), "report.title has 20,001 characters"),
        (_set("title", to="a\0b"), "report.title"),
        (_set("title", to="\ud800"), "report.title"),
        (_set("inputs", to=[]), "report.inputs is list"),
        (_set("inputs", "gpu", to=None), "report.inputs['gpu'] is None"),
        (_set("placements", to={}), "report.placements is dict"),
        (_set("placements", 0, to="card"), "report.placements[0] is 'card'"),
        (_set("placements", 2, "placement", to="cloud"), "report.placements[2].placement"),
        (_set("placements", 2, "fits", to=1), "report.placements[2].fits is 1"),
        (_set("placements", 1, "decode_tps", to=math.nan), "report.placements[1].decode_tps"),
        (_set("placements", 1, "decode_tps", to=math.inf), "report.placements[1].decode_tps"),
        (_set("placements", 1, "decode_tps", to=10**400), "report.placements[1].decode_tps"),
        (_set("placements", 1, "decode_tps", to=True), "report.placements[1].decode_tps"),
        (
            _set("placements", 1, "ttft_s", to=-1),
            "report.placements[1].ttft_s is -1.0; it cannot be below zero",
        ),
        (_set("options", to="none"), "report.options is 'none'"),
        (_set("options", 0, "name", to=7), "report.options[0].name is 7"),
        (_set("options", 0, "decode_tps", to="fast"), "report.options[0].decode_tps is 'fast'"),
        (_set("memory", 0, "tier", to="tape"), "report.memory[0].tier"),
        (_set("memory", 0, "bytes", to=None), "report.memory[0].bytes is None"),
        (_set("layer_sweep", "x", to=[1]), "report.layer_sweep: SweepSeries"),
        (_set("layer_sweep", "y", 3, to="fast"), "report.layer_sweep.y[3] is 'fast'"),
        (_set("cost_curves", 0, "x", to=[0] * 10_001), "report.cost_curves[0].x is 10001"),
        (_set("created_at", to="yesterday"), "created_at is 'yesterday'"),
        (_set("created_at", to="2026-11-12"), "created_at"),
        (_set("created_at", to="0001-01-01T00:00:00+23:00"), "created_at"),
        (_set("format", to="1"), "report.format is '1'"),
        (_set("format", to=99), "format 99; this version of Offload Advisor reads format 2"),
        (_set("format", to=1), "older than the first release"),
    ],
)
def test_a_wrong_shape_is_refused_by_name(
    data: dict[str, Any], change: Callable[[dict[str, Any]], None], field: str
) -> None:
    change(data)
    with pytest.raises(InputError) as refused:
        from_json(data)
    assert field in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("junk", [None, [], "report", 7])
def test_json_other_than_an_object_is_refused(junk: object) -> None:
    with pytest.raises(InputError, match="A report is a JSON object"):
        from_json(junk)


def test_numbers_of_numpy_become_plain() -> None:
    size: Any = np.float32(1.5)
    use = TierUse(placement="cpu-offload", tier="RAM", part="weights", bytes=size)
    assert type(use.bytes) is float
    speed: Any = np.float64(2.0)
    row = OptionRow(kind="rent", name="L40S", decode_tps=speed)
    assert type(row.decode_tps) is float


def test_a_document_with_a_bad_number_cannot_be_made(data: dict[str, Any]) -> None:
    card = from_json(data).placements[1]
    with pytest.raises(InputError, match=r"PlacementCard\.decode_tps is nan"):
        replace(card, decode_tps=math.nan)
