"""Measured curves, and figures over time."""

from collections.abc import Iterable, Mapping, Sequence

from advisor.calibration.measurement_file import moment
from advisor.probes.measurement import CurvePoint, Measurement, size, title
from advisor.reports.charts import Line, LineChart
from advisor.units import GB

COPIES = ("h2d_pinned", "h2d_pageable", "d2h_pinned", "d2h_pageable")
HEADLINES = ("ram_read", "disk_read_direct", "h2d_pinned", "device_read")
"""Figures whose history is drawn."""
DAY = 86400.0
"""Seconds of a day [s]."""


def curves(latest: Mapping[str, Measurement]) -> list[LineChart]:
    """Charts of the measurements that have at least two points."""
    known = {name: each.curve for name, each in latest.items() if len(each.curve) > 1}
    ram, blocks = known.get("ram_read", ()), dict[int, list[CurvePoint]]()
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
        for name in COPIES if name in known
    }  # fmt: skip
    charts = (
        (ram, "RAM against threads", "threads that read at once", threads),
        (depths, "Drive against block and depth", "reads waiting at once (queue depth)", depths),
        (copies, "Copies against their size", "bytes of one copy", copies),
    )
    return [_chart(head, label, lines) for there, head, label, lines in charts if there]


def over_time(name: str, history: Iterable[Measurement]) -> LineChart:
    """Figure against the days since it was first measured."""
    own = [each for each in history if each.name == name]
    first = min(moment(each.when) for each in own)
    days = [((moment(each.when) - first).total_seconds() / DAY, each.value) for each in own]
    return _chart(f"{title(name)} over time", "days since the first", {name: days}, powers=False)


def measured_again(history: Sequence[Measurement]) -> list[str]:
    """Main figures with at least two measurements."""
    names = [measurement.name for measurement in history]
    return [name for name in HEADLINES if names.count(name) > 1]


def _chart(
    head: str, x_label: str, lines: Mapping[str, Sequence[tuple[float, float]]], *,
    powers: bool = True,
) -> LineChart:  # fmt: skip
    return LineChart(
        name=head, title=head, alt=f"{head}, in GB/s", x_label=x_label, y_label="GB/s",
        x_powers=powers, y_powers=False,
        lines=tuple(
            Line(name=name, x=tuple(x for x, _ in points), y=tuple(y / GB for _, y in points),
                 colour=place)
            for place, (name, points) in enumerate(lines.items())
        ),
    )  # fmt: skip
