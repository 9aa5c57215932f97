"""Measured result as a contribution: a CSV line and the text of a pull request.

Nothing is sent. Columns are those of data/measurements/llama_cpp.csv; what the report does not say
stays empty.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO

from advisor.catalog.csv_tables import DATA
from advisor.errors import InputError
from advisor.formatting import tokens_per_second
from advisor.reports.document import PlacementKey, ReportDocument
from advisor.reports.from_advice import JudgedResult
from advisor.reports.store.saved import SavedReport

FILE = DATA / "measurements" / "llama_cpp.csv"
CATEGORIES: dict[PlacementKey, str] = {
    "gpu-resident": "resident",
    "cpu-offload": "partial",
    "nvme-offload": "nvme",
}
TYPICAL = "(typical)"
"""Suffix of the names of typical processors, which are not products."""
RAM_RATE = "RAM, sustained read"
"""Among the figures of a report."""


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """Contribution that its author can send."""

    line: str  # line for the CSV file, without a line end
    title: str  # title of the pull request
    text: str  # text of the pull request


def contribution(report: SavedReport, number: int) -> Contribution:
    """Contribution of one result of a report, the first being 1."""
    if not 1 <= number <= len(report.results):
        raise InputError(
            f"Report {report.id} has {len(report.results)} measured results; {number} is none of "
            "them. Attach one with `report attach`."
        )
    judged = report.judged[number - 1]
    row = _row(report, judged)
    text = StringIO()
    csv.DictWriter(text, list(row), lineterminator="").writerow(row)
    result = judged.result
    return Contribution(
        line=text.getvalue(),
        title=f"Measured: {report.document.model} on {report.document.gpu}",
        text="\n".join(
            (
                f"{result.runtime}: {tokens_per_second(result.decode_tps)}, measured "
                f"{result.when[:10]} ({result.source}).",
                judged.words,
                "",
                f"One row for `data/measurements/{FILE.name}`; `id` and `source_url` (the address "
                "of this pull request) are to be filled in.",
                "",
                "- [ ] I measured this myself and agree that it is published with this repository.",
            )
        ),
    )


def _row(report: SavedReport, judged: JudgedResult) -> dict[str, str]:
    """Values by column, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file))
    document, result = report.document, judged.result
    request = document.request
    processor = request.get("processor", "")
    count, gpu = _counted(document.gpu)
    no_gpu = gpu.casefold() == "no gpu"
    category = CATEGORIES[result.placement]
    values = {
        "category": "cpu" if no_gpu and category == "partial" else category,
        "runtime": result.runtime,
        "gpu": "" if no_gpu else gpu,
        "gpu_count": "" if no_gpu else count,
        "cpu": "" if processor.endswith(TYPICAL) else processor,
        "ram_bw_gbs": _ram_gbs(document),
        "model": document.model,
        "quant": request.get("format", ""),
        "pp_tps": "" if result.prefill_tps is None else f"{result.prefill_tps:g}",
        "tg_tps": f"{result.decode_tps:g}",
        "date": result.when[:10],
        "source_note": "; ".join(filter(None, (result.source, result.note, *_of_machine(request)))),
        "doubtful": "False",
    }
    return {column: " ".join(values.get(column, "").split()) for column in columns}


def _of_machine(request: Mapping[str, str]) -> Iterator[str]:
    if "machine" in request:
        yield f"on {request['machine']}"
    if "RAM" in request:
        yield f"{request['RAM']} of RAM"


def _ram_gbs(document: ReportDocument) -> str:
    """Sustained read rate of RAM, if measured or typed [GB/s]; else empty."""
    rates = (
        re.fullmatch(r"([\d.,]+) GB/s", figure.value)
        for figure in document.assumptions
        if figure.what == RAM_RATE and figure.kind in ("measured", "given")
    )
    return next((rate[1].replace(",", "") for rate in rates if rate), "")


def _counted(gpu: str) -> tuple[str, str]:
    """GPUs with their number: "2x RTX 3090"."""
    several = re.fullmatch(r"(\d+)x (.+)", gpu)
    return (several[1], several[2]) if several else ("1", gpu)
