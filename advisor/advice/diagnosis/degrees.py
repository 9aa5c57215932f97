"""Degrees of a cause on a run, each an edit of the estimate with the speeds that it gives.

A degree is a row of data/diagnosis/degrees.csv where it multiplies constants, rates or the speed,
else what a function of `causes` yields. A cause is impossible on a run that its row's needs rule
out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

from advisor.advice.diagnosis.causes import FUNCTIONS
from advisor.advice.diagnosis.measured_run import Edits, MeasuredRun, generated
from advisor.advice.edits.edit import Edit
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.measured_constants import CORE_RATES, GPU_READS, GPU_TIMES
from advisor.cost_model.uncertainty import Range


@dataclass(frozen=True, kw_only=True, slots=True)
class CauseRow:
    """One row of data/diagnosis/causes.csv."""

    key: str  # name of its function here, or of its rows in degrees.csv
    vendor: str  # vendor of the first GPU that the row applies to; empty for any
    system: str  # operating system that the row applies to; empty for any
    needs: str  # keys of `CONDITIONS` that a run meets, separated by semicolons
    cause: str  # difference from what was assumed, as a clause
    # frequency of the cause before any measurement, 0 to 1; our judgement of reports, not a count:
    # only the order matters
    prior: float
    test: str  # what to check, and what the result means
    command: str  # command of the test; empty where there is none
    fix: str  # remedy
    source: str  # documentation of the test and its options
    retrieved: str  # date when the source was read
    note: str  # further sources


@dataclass(frozen=True, kw_only=True, slots=True)
class DegreeRow:
    """One row of data/diagnosis/degrees.csv: a degree of a cause, as factors."""

    cause: str
    needs: str  # as in `CauseRow`, for this degree
    words: str  # degree in words, with fields of the run; empty where there is a single one
    generation: float = 1.0  # on the speed of generation, as it is counted
    cores: float = 1.0  # on what the processor's cores reach
    ram: float = 1.0  # on the part of RAM's rate that they reach
    gpu: float = 1.0  # on the rate at which a GPU reads
    gpu_flops: float = 1.0  # on the rate at which it multiplies
    link: float = 1.0  # on the rates of its link
    source: str

    def edit(self, run: MeasuredRun) -> Edit:
        """The degree on a run."""
        factors = {
            **dict.fromkeys(CORE_RATES, self.cores),
            "cpu_read_share": self.ram,
            **dict.fromkeys(GPU_READS, self.gpu),
            **dict.fromkeys(GPU_TIMES, 1 / self.gpu),
            "gpu_flop_share": self.gpu_flops,
        }
        changed = {name: factor for name, factor in factors.items() if factor != 1.0}
        constants = run.constants.scaled(changed, self.source) if changed else run.constants
        words = self.words.format(run)
        edit = run.with_rates(words, "gpus.link", self.link, constants=constants)
        return replace(edit, read=partial(generated, self.generation))


@cache
def cause_rows() -> tuple[CauseRow, ...]:
    """All causes, in the order of the file."""
    return read(DATA / "diagnosis/causes.csv", CauseRow)


@cache
def degree_rows() -> tuple[DegreeRow, ...]:
    """All degrees that are factors, in the order of the file."""
    return read(DATA / "diagnosis/degrees.csv", DegreeRow)


def row_for(key: str, vendor: str, system: str) -> CauseRow | None:
    """Most specific row of a cause for a machine, by the maker of its first GPU; None where none
    applies. An unknown system excludes no row.
    """
    fitting = [
        row
        for row in cause_rows()
        if row.key == key
        and row.vendor in ("", vendor)
        and (not system or row.system in ("", system))
    ]
    return max(fitting, key=lambda row: (row.vendor != "", row.system == system), default=None)


@dataclass(frozen=True, kw_only=True)
class Degree(Edit):
    """A cause in one degree, with the speeds that it gives."""

    decode: Range  # speed of generation, for each user [tokens/s]
    prompt: Range  # speed of the prompt [tokens/s]


def degrees(run: MeasuredRun, key: str) -> Iterator[Degree]:
    """Degrees of a cause, each with its speeds; those that memory is too small for left out."""
    for edit in edits_of(run, key):
        if (speeds := run.speeds(edit)) is not None:
            decode, prompt = speeds
            yield Degree(**vars(edit), decode=decode, prompt=prompt)


def edits_of(run: MeasuredRun, key: str) -> Edits:
    """Edits of a cause; none where it is impossible."""
    if not all(run.meets(row.needs) for row in cause_rows() if row.key == key):
        return
    for row in degree_rows():
        if row.cause == key and run.meets(row.needs):
            yield row.edit(run)
    if key in FUNCTIONS:
        yield from FUNCTIONS[key](run)
