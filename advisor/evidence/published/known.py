"""Known runs of measurement files: rows with a machine and a speed, which teach rows of the same
machine.

Sources time tokens alone, or whole replies with their prompts, or the mean time between tokens,
which holds other users' prompts (`timed_tokens`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from advisor.cost_model.estimate import Estimate
from advisor.errors import AdvisorError, InputError
from advisor.evidence.published.case import Case
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import PublishedRow, figure, stated
from advisor.evidence.published.run_settings import lengths
from advisor.machine.machine import KnownRun

MOST = 200  # runs of one machine that are read


@dataclass(frozen=True, kw_only=True)
class KnownRuns:
    """Known runs of a file, with the rows that teach nothing."""

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
    """Known runs of a row: that of its tokens, and that of its prompt where the prompt was timed.

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


@dataclass(frozen=True, kw_only=True)
class TimedTokens:
    """Measured time, with the prompts and the steps in it."""

    prompts: float = 0.0  # prompts that were read, those of all users together as one
    steps: float = 1.0  # steps, of which each user gets a token
    seconds: float  # measured time [s]

    def speed(self, predicted: Estimate) -> float:
        """Speed of each user's tokens, if prompts and tokens err by the same factor [tokens/s]."""
        if predicted.decode_tps is None:
            return self.steps / self.seconds
        speed = float(predicted.decode_tps)
        prompts = self.prompts * float(predicted.first_token_seconds or 0.0)
        return (prompts * speed + self.steps) / self.seconds


def timed_tokens(row: PublishedRow, case: Case) -> TimedTokens | None:
    """Time of a row's tokens; None where it states none.

    Taken from the time between tokens where measured; else from the rate of the whole batch with
    its prompts, where the row states both lengths and not that tokens alone were timed. A mean time
    between tokens of several users includes the others' prompts: during one reply, the prompt of
    each other user is read once (`Server.time_per_token`). A median does not, as most tokens wait
    for no prompt.
    """
    mean, median = (figure(f"{kind} ms a token", row.other_metric) for kind in ("mean", "median"))
    users = float(case.work.users)
    output = float(case.work.output)
    if median is not None:
        return TimedTokens(seconds=median / 1e3)
    if mean is not None:
        return TimedTokens(prompts=(users - 1.0) / (users * output), seconds=mean / 1e3)
    rate = row.tg_tps_total
    if row.seconds_per_token and (users == 1.0 or not rate or not all(lengths(row))):
        return TimedTokens(seconds=row.seconds_per_token)
    together = users * case.replicas
    alone = stated("decode alone", row.source_note) is not None
    if rate and all(lengths(row)) and not alone:
        steps = float(case.steps)
        return TimedTokens(prompts=1.0, steps=steps, seconds=together * output / rate)
    if rate and row.batch:
        return TimedTokens(seconds=together / rate)
    return None
