"""Published load curves: speed and first token of a server over its number of users."""

from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read

FILE = DATA / "measurements" / "load_curves.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadCurveRow:
    """One row of data/measurements/load_curves.csv; its README describes the columns."""

    id: str
    runtime: str
    gpu: str
    gpu_count: int
    model: str
    quant: str
    kv_type: str
    prompt_len: float
    gen_len: float
    spread: float
    use: str
    users: int | None
    rate_per_s: float | None
    requests: int
    slots: int | None
    cached_share: float
    cuda_graphs: bool
    output_tps: float
    ttft_p50_s: float | None
    tpot_p50_s: float | None
    date: str
    source_url: str
    source_note: str


@cache
def load_curve_rows() -> tuple[LoadCurveRow, ...]:
    """All rows, in the order of the file."""
    return read(FILE, LoadCurveRow)
