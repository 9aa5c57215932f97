"""Measured result as a contribution: a CSV line and the text of a pull request.

Nothing is sent. Columns are those of data/measurements/llama_cpp.csv; what the report does not say
stays empty.
"""

import csv
import re
from dataclasses import dataclass
from io import StringIO

from advisor.catalog.csv_tables import DATA
from advisor.errors import InputError
from advisor.reports.document import PlacementKey, ReportDocument
from advisor.reports.from_advice import MeasuredResult
from advisor.reports.store.saved import SavedReport
from advisor.units import tokens_per_second

FILE = DATA / "measurements" / "llama_cpp.csv"
CATEGORIES: dict[PlacementKey, str] = {
    "gpu-resident": "resident",
    "cpu-offload": "partial",
    "nvme-offload": "nvme",
}
TYPICAL = "(typical)"  # suffix of the names of typical processors, which are not products
RAM_RATE = "RAM, sustained read"  # among the figures of a report


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """Contribution that its author can send."""

    line: str  # line for the CSV file, without a line end
    title: str  # title of the pull request
    text: str  # text of the pull request


def contribution(report: SavedReport, number: int) -> Contribution:
    """Contribution of one result of a report, by its number from 1."""
    if not 1 <= number <= len(report.results):
        raise InputError(
            f"Report {report.id} has {len(report.results)} measured results; {number} is none of "
            "them. Attach one with `report attach`."
        )
    judged = report.judged[number - 1]
    result = judged.result
    row = _row(report.document, result)
    text = StringIO()
    csv.DictWriter(text, list(row), lineterminator="").writerow(row)
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


def _row(document: ReportDocument, result: MeasuredResult) -> dict[str, str]:
    """Values by column, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file))
    request = document.request
    category = CATEGORIES[result.placement]
    several = re.fullmatch(r"(\d+)x (.+)", document.gpu)  # "2x RTX 3090"
    count, gpu = several.groups() if several else ("1", document.gpu)
    if gpu.casefold() == "no gpu":
        count = ""
        gpu = ""
        if category == "partial":
            category = "cpu"
    processor = request.get("processor", "")
    notes = (
        result.source,
        result.note,
        f"on {request['machine']}" if "machine" in request else "",
        f"{request['RAM']} of RAM" if "RAM" in request else "",
    )
    values = {
        "category": category,
        "runtime": result.runtime,
        "gpu": gpu,
        "gpu_count": count,
        "cpu": "" if processor.endswith(TYPICAL) else processor,
        "ram_bw_gbs": _ram_gbs(document),
        "model": document.model,
        "quant": request.get("format", ""),
        "pp_tps": "" if result.prefill_tps is None else f"{result.prefill_tps:g}",
        "tg_tps": f"{result.decode_tps:g}",
        "date": result.when[:10],
        "source_note": "; ".join(filter(None, notes)),
        "doubtful": "False",
    }
    return {column: " ".join(values.get(column, "").split()) for column in columns}


def _ram_gbs(document: ReportDocument) -> str:
    """Sustained read rate of RAM, measured or typed; empty without one [GB/s]."""
    rates = (
        re.fullmatch(r"([\d.,]+) GB/s", figure.value)
        for figure in document.assumptions
        if figure.what == RAM_RATE and figure.kind in ("measured", "given")
    )
    return next((rate[1].replace(",", "") for rate in rates if rate), "")
