"""Timed tokens: the time that a row of a serving engine or framework states, and what passed in it.

Sources time tokens alone, or whole replies with their prompts, or the mean time between tokens,
which holds other users' prompts.
"""

from dataclasses import dataclass

from advisor.cost_model.estimate import Estimate
from advisor.evidence.published.predict import Case
from advisor.evidence.published.row import PublishedRow, figure, stated
from advisor.evidence.published.run_settings import lengths


@dataclass(frozen=True, kw_only=True)
class TimedTokens:
    """A measured time, with the prompts and the steps in it."""

    prompts: float = 0.0  # prompts that were read, those of all users together as one
    steps: float = 1.0  # steps, of which each user gets a token
    seconds: float  # measured time [s]

    def speed(self, predicted: Estimate) -> float:
        """Speed of each user's tokens if prompts and tokens are off by the same factor
        [tokens/s].
        """
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
