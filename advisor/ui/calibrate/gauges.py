"""Measured figures: bars with the datasheet value as a mark, curves, figures over time."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from advisor.calibration.measurement_file import Fingerprint, moment
from advisor.errors import UnknownName
from advisor.formatting import quantity, rate
from advisor.machine import from_catalog
from advisor.machine.catalog import HOSTS
from advisor.machine.from_spec import TYPICAL
from advisor.machine.machine import Link
from advisor.probes.gpu.detect import figure_name
from advisor.probes.measurement import ENGINE, UNSTEADY, CurvePoint, Measurement, size, title
from advisor.reports.charts import Line, LineChart
from advisor.ui.parts.markup import block, joined
from advisor.units import GB

STEADY = 0.05
FAIR = 0.12
"""Half the range of the repeats over their median, up to which a figure is called so."""
BEYOND = 1.12  # length of a gauge, in its mark; longer where more than the mark was measured

BEST = (
    ("ram_read", "of RAM reads alone", ("ram_read_while_copying",)),
    ("disk_read_direct", "of direct reads", ("disk_read_mmap", "disk_read_buffered")),
    ("h2d_pinned", "of pinned copies", ("h2d_pageable", "zero_copy_read", "h2d_while_reading")),
    ("d2h_pinned", "of pinned copies", ("d2h_pageable",)),
)
"""Figures, and those that could reach them at best."""


@dataclass(frozen=True, kw_only=True)
class GaugeMark:
    """Value that a figure is compared with."""

    value: float  # value in the unit of the figure
    words: str  # origin of the value, to follow "of the 77 GB/s"


def marks(latest: Mapping[str, Measurement], seen: Fingerprint | None) -> dict[str, GaugeMark]:
    """Marks by name of the figure; empty without published values."""
    typical = from_catalog.disk(TYPICAL.disk).sequential
    by_figure = {
        "disk_read_direct": GaugeMark(
            value=float(typical.value), words="of a typical PCIe 4 drive (yours is not known)"
        ),
        **_of_others(latest),
    }
    if seen is not None:
        with suppress(UnknownName):
            row = HOSTS.find(seen.cpu)
            if row.bandwidth_gbs is not None:
                words = f"in the datasheet of {row.name}"
                by_figure["ram_read"] = GaugeMark(value=row.bandwidth_gbs * GB, words=words)
        for place, name in enumerate(seen.gpus):
            by_figure |= _of_gpu(name, place, latest)
    return by_figure


def _of_others(latest: Mapping[str, Measurement]) -> dict[str, GaugeMark]:
    """Measured figures that are upper limits of others."""
    engine = [name for name in latest if name.startswith(ENGINE)]
    return {
        name: GaugeMark(value=latest[best].value, words=words)
        for best, words, names in (*BEST, ("ram_read", "of RAM reads", engine))
        if best in latest
        for name in names
    }


def _of_gpu(name: str, place: int, latest: Mapping[str, Measurement]) -> dict[str, GaugeMark]:
    try:
        card = from_catalog.gpu(name)
    except UnknownName:
        return {}
    link = card.link
    generation, lanes = (
        latest.get(figure_name(part, place)) for part in ("pcie_generation", "pcie_width")
    )
    if generation and lanes and link.name.startswith("PCIe"):
        link = Link.pcie(round(generation.value), round(lanes.value))
    usual = GaugeMark(value=float(link.pinned.value), words=f"usual for {link.name}")
    return {
        figure_name("h2d_pinned", place): usual,
        figure_name("d2h_pinned", place): usual,
        figure_name("device_read", place): GaugeMark(
            value=float(card.bandwidth.value), words=f"in the datasheet of {card.name}"
        ),
    }


def gauges(shown: Iterable[Measurement], known: Mapping[str, GaugeMark]) -> Markup:
    """Measured figures, each with a bar that compares it with the datasheet's."""
    present = datetime.now(UTC)
    cards = (_gauge(measurement, known.get(measurement.name), present) for measurement in shown)
    return block("oa-gauges", joined(cards))


def _gauge(measurement: Measurement, mark: GaugeMark | None, now: datetime) -> Markup:
    head = Markup("<div class='oa-head'><span class='oa-name'>{}</span><b>{}</b></div>")
    parts = [head.format(title(measurement.name), quantity(measurement.value, measurement.unit))]
    told = "No datasheet figure is known to set it against."
    if mark is not None:
        share = measurement.value / mark.value
        end = max(BEYOND, share * 1.02)
        bar = (
            "<div class='oa-scale'><i style='width:{:.2f}%'></i><b style='left:{:.2f}%'></b></div>"
        )
        parts.append(Markup(bar).format(100 * share / end, 100 / end))  # noqa: S704  fixed above
        told = f"{100 * share:.0f} % of the {rate(mark.value)} {mark.words}"
    when = f"{steadiness(measurement.spread)}. Measured {ago(measurement.when, now)}."
    parts += block("oa-part", told), block("oa-soft", when)
    return block("oa-gauge", joined(parts))


def steadiness(spread: float) -> str:
    """Words on the spread of the repeats."""
    names = {STEADY: "Steady", FAIR: "Fairly steady", UNSTEADY: "Uneven", math.inf: "Unsteady"}
    name = next(name for most, name in names.items() if spread <= most)
    return f"{name}: repeats within {100 * spread:.0f} %"


def ago(when: str, now: datetime) -> str:
    """Words on an age; the date from a week on."""
    then = moment(when)
    age = now - then
    if age < timedelta(minutes=2):
        return "just now"
    if age < timedelta(hours=2):
        return f"{age.total_seconds() / 60:.0f} minutes ago"
    if age < timedelta(days=2):
        return f"{age.total_seconds() / 3600:.0f} hours ago"
    if age < timedelta(days=7):
        return f"{age.days} days ago"
    return f"on {then.day} {then:%B %Y}"


# Measured curves, and figures over time.


COPIES = ("h2d_pinned", "h2d_pageable", "d2h_pinned", "d2h_pageable")
HEADLINES = ("ram_read", "disk_read_direct", "h2d_pinned", "device_read")
"""Figures whose history is drawn."""
DAY = 86400.0  # seconds of a day [s]


def curves(latest: Mapping[str, Measurement]) -> list[LineChart]:
    """Charts of the measurements that have at least two points."""
    known = {name: each.curve for name, each in latest.items() if len(each.curve) > 1}
    ram = known.get("ram_read", ())
    blocks = dict[int, list[CurvePoint]]()
    for point in known.get("disk_read_direct", ()):
        blocks.setdefault(point.block, []).append(point)
    threads = {
        "middle of the repeats": [(point.threads, point.value) for point in ram],
        "fastest repeat": [(point.threads, point.best) for point in ram],
    }
    depths = {
        f"blocks of {size(block)}": [(point.threads, point.value) for point in points]
        for block, points in sorted(blocks.items(), reverse=True)
    }
    copies = {
        title(name): [(point.block, point.value) for point in known[name]]
        for name in COPIES
        if name in known
    }
    charts = (
        (ram, "RAM against threads", "threads that read at once", threads),
        (depths, "Drive against block and depth", "reads waiting at once (queue depth)", depths),
        (copies, "Copies against their size", "bytes of one copy", copies),
    )
    return [_chart(head, label, lines) for there, head, label, lines in charts if there]


def over_time(history: Sequence[Measurement]) -> Iterator[LineChart]:
    """Main figures with at least two measurements, against the days since the first."""
    for name in HEADLINES:
        own = [each for each in history if each.name == name]
        if len(own) > 1:
            first = min(moment(each.when) for each in own)
            days = [((moment(each.when) - first).total_seconds() / DAY, each.value) for each in own]
            head = f"{title(name)} over time"
            yield _chart(head, "days since the first", {name: days}, powers=False)


def _chart(
    head: str,
    x_label: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    *,
    powers: bool = True,
) -> LineChart:
    return LineChart(
        name=head,
        title=head,
        alt=f"{head}, in GB/s",
        x_label=x_label,
        y_label="GB/s",
        x_powers=powers,
        y_powers=False,
        lines=tuple(
            Line(
                name=name,
                x=tuple(x for x, _ in points),
                y=tuple(y / GB for _, y in points),
                colour=place,
            )
            for place, (name, points) in enumerate(lines.items())
        ),
    )
