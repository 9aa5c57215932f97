"""What becomes of reports: rows with their predictions, refusals with their reasons."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from advisor.errors import AdvisorError, InputError
from advisor.evidence.accuracy.fresh import constants_digest
from advisor.evidence.published.case import Case
from advisor.evidence.published.predict import answer
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.tiered import CATEGORY as TIERED
from lab.intake.rows import SentRun, is_llama_cpp, runs_of
from lab.intake.rules import (
    check,
    doubts,
    forecast_doubt,
    forecast_of,
    in_ledger,
    same_output,
    same_run,
)
from lab.intake.sent import SentReport
from lab.published import FOLDER, published_rows, publisher_of

LLAMA_CPP = "llama_cpp"
FRAMEWORKS = "frameworks"
TIERS = "tiered"
"""Beginnings of the names of the ledger's files, by what ran."""


@dataclass(frozen=True, kw_only=True)
class TakenRun:
    """A run that becomes a row, with what was predicted for it before."""

    sent: SentRun
    case: Case
    measured: float  # speed of each user's tokens [tokens/s]
    predicted: float  # the same by the constants as they stand [tokens/s]
    low: float  # slow end of its 80 % range [tokens/s]
    high: float  # fast end [tokens/s]
    doubts: tuple[str, ...]  # reasons to keep it out of scores; empty for a sound one

    @property
    def kind(self) -> str:
        """Beginning of the name of the file that takes its row."""
        if self.sent.row.category == TIERED:
            return TIERS
        if is_llama_cpp(self.sent.row.runtime):
            return LLAMA_CPP
        return FRAMEWORKS

    @property
    def held(self) -> bool:
        """Whether its range holds the measured speed."""
        return self.low <= self.measured <= self.high

    @property
    def forecast(self) -> float | None:
        """Speed that its sender's release predicted; None where none is stated [tokens/s]."""
        forecast = forecast_of(self.sent)
        if forecast is None:
            return None
        return forecast[0]


@dataclass(frozen=True, kw_only=True)
class RefusedReport:
    """A report that is refused."""

    report: SentReport
    reason: str


@dataclass(frozen=True, kw_only=True)
class Intake:
    """What became of some reports."""

    taken: tuple[TakenRun, ...]
    refused: tuple[RefusedReport, ...]
    ledger: tuple[PublishedRow, ...] = field(repr=False)  # rows before them

    @property
    def new_senders(self) -> list[str]:
        """Senders of whom the ledger has no row."""
        known = {publisher_of(row).casefold() for row in self.ledger}
        return self._new((taken.sent.report.sender for taken in self.taken), known)

    @property
    def new_cards(self) -> list[str]:
        """Cards, or processors alone, of which the ledger has no row."""
        known = {row.cells.get(name, "").casefold() for row in self.ledger for name in PARTS}
        every = (taken.case.machine for taken in self.taken)
        names = (name for machine in every for name in machine.cards or (machine.host.name,))
        return [name for name in self._new(names, set()) if not _mentioned(name, known)]

    @property
    def new_models(self) -> list[str]:
        """Models of which the ledger has no row."""
        known = {row.cells.get("model", "").casefold() for row in self.ledger}
        names = (taken.case.model.name for taken in self.taken)
        return [name for name in self._new(names, set()) if not _mentioned(name, known)]

    @staticmethod
    def _new(names: Iterable[str], known: set[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if name.casefold() not in known]


PARTS = ("gpu", "cpu")


def _mentioned(name: str, known: set[str]) -> bool:
    """Whether a name, or its words without makers and sizes, stands in one of the known ones."""
    folded = name.casefold()
    return any(folded in other or (len(other) > 4 and other in folded) for other in known)


@cache
def ledger_rows() -> tuple[PublishedRow, ...]:
    """Rows of all measurement files that hold speeds."""
    names = sorted(FOLDER.glob("*.csv"))
    kinds = (LLAMA_CPP, FRAMEWORKS, TIERS, "drafted")
    files = (path for path in names if path.name.startswith(kinds))
    return tuple(row for path in files for row in published_rows(path))


def take(reports: Iterable[SentReport], ledger: Sequence[PublishedRow] | None = None) -> Intake:
    """What becomes of reports, in their order; a report is refused as a whole."""
    before = tuple(ledger_rows() if ledger is None else ledger)
    taken: list[TakenRun] = []
    refused: list[RefusedReport] = []
    seen: dict[object, str] = {}
    for report in reports:
        try:
            runs = list(_runs(report, before, seen))
        except (AdvisorError, RecursionError) as error:
            refused.append(RefusedReport(report=report, reason=str(error) or type(error).__name__))
            continue
        taken += runs
        for run in runs:
            seen[same_output(run.sent)] = report.name
            seen[same_run(run.sent.row, run.case)] = report.name
    return Intake(taken=tuple(taken), refused=tuple(refused), ledger=before)


def _runs(
    report: SentReport, ledger: tuple[PublishedRow, ...], seen: dict[object, str]
) -> Iterator[TakenRun]:
    own: set[object] = set()
    for sent in runs_of(report):
        case = check(sent)
        run = same_run(sent.row, case)
        for key in (same_output(sent), run):
            if key in seen:
                raise InputError(f"It is the same run as {seen[key]}.")
        if run in own:
            continue  # repeats of a run are one row
        own.add(run)
        known = in_ledger(sent.row, case, ledger)
        if known:
            raise InputError(f"The run stands in the ledger as {known}.")
        yield _taken(sent, case)


def _taken(sent: SentRun, case: Case) -> TakenRun:
    cells = answer(PublishedRow(sent.row.cells))
    predicted, low, high = (float(str(cells[name])) for name in ("tg_tps", "tg_low", "tg_high"))
    told = [*doubts(sent, case), forecast_doubt(sent, predicted, constants_digest())]
    return TakenRun(
        sent=sent,
        case=case,
        measured=float(sent.run.decode or 0.0),
        predicted=predicted,
        low=low,
        high=high,
        doubts=tuple(filter(None, told)),
    )
