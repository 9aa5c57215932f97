"""Known runs of measurement files: rows with a machine and a speed, which teach rows of the same
machine.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from advisor.errors import AdvisorError, InputError
from advisor.evidence.published.predict import Case, understood
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.timed_tokens import timed_tokens
from advisor.machine.known_run import KnownRun

MOST = 200  # runs of one machine that are read


@dataclass(frozen=True, kw_only=True)
class KnownRuns:
    """Known runs of a file, and which of its rows teach nothing."""

    by_machine: Mapping[str, tuple[KnownRun, ...]]  # runs by the text that names their machine
    left_out: tuple[str, ...]  # a sentence for each row that teaches nothing


def known_runs(rows: Iterable[Mapping[str, str]]) -> KnownRuns:
    """Known runs of rows, cells by column."""
    by_machine: dict[str, list[KnownRun]] = {}
    left_out: list[str] = []
    for number, cells in enumerate(rows, start=1):
        row = PublishedRow(cells)
        try:
            runs = list(runs_of(row))
            machine = by_machine.setdefault(row.machine, [])
            if len(machine) + len(runs) > MOST:
                raise InputError(f"machine {row.machine[:40]!r} has more than {MOST} runs.")
            machine += runs
        except AdvisorError as error:
            left_out.append(f"Run {row.id[:40] or number} teaches nothing: {error}")
    return KnownRuns(
        by_machine={machine: tuple(runs) for machine, runs in by_machine.items() if runs},
        left_out=tuple(left_out),
    )


def runs_of(row: PublishedRow) -> Iterator[KnownRun]:
    """Known runs of a row: of its tokens, and of its prompt where that was timed.

    Raises:
        InputError: no machine, no speed, or a row that cannot be predicted.
    """
    if not row.machine:
        raise InputError("the column machine is empty; name the machine that it ran on.")
    case = understood(row)
    words = f"{case.model.name}, {case.model.format}"
    tokens = _of_tokens(row, case)
    if tokens:
        yield case.estimate.known_run(tokens, words, prompt=False)
    if row.pp_tps:
        yield case.of_prompt.estimate.known_run(row.pp_tps, words, prompt=True)
    if not tokens and not row.pp_tps:
        raise InputError("it has no speed; tg_tps, tg_tps_total, seconds_per_token or pp_tps is.")


def _of_tokens(row: PublishedRow, case: Case) -> float:
    """Measured speed of each user's tokens; 0 where none was timed [tokens/s]."""
    users = float(case.work.users) * case.replicas
    if case.runtime.computes_in_ram:
        return (row.tg_tps or row.tg_tps_total or 0.0) / users
    tokens = timed_tokens(row, case)
    if tokens is not None:
        return tokens.speed(case.estimate)
    if row.tg_tps_total:
        return row.tg_tps_total / users
    return row.tg_tps or 0.0
