"""Known speeds in words: their effect on predictions, and likely faults among them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from advisor.advice.diagnosis.diagnose import Measured, diagnose
from advisor.advice.diagnosis.text import cause_words
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.known_runs import Weighed
from advisor.cost_model.uncertainty import Range
from advisor.formatting import percent
from advisor.lazy import lazy
from advisor.machine.machine import KnownRun
from advisor.request.known import Known
from advisor.units import number, range_of, tokens_per_second

LEAST = 0.01  # change of a speed from which it is said
TELLS = 0.97
"""Standard deviation with known runs, as a share of that without, below which they count as telling
something of an answer."""


@dataclass(frozen=True, kw_only=True)
class Taught:
    """Estimate with known runs of the machine, and the same estimate without them."""

    estimate: Estimate  # with known speeds

    @lazy
    def before(self) -> Estimate:
        """Estimate without the known speeds."""
        plain = replace(self.estimate.machine, known=())
        return replace(self.estimate, machine=plain, planned=self.estimate.phases)

    @property
    def tells(self) -> bool:
        """Whether the known speeds narrow the range of the estimate notably."""
        lesson = self.estimate.token_lesson
        return lesson is not None and bool(lesson.narrower < TELLS)


def sentences(every: Sequence[Known], best: Estimate | None) -> Iterator[str]:
    """Sentence on the effect of known speeds on the best estimate, then one for each likely
    fault.
    """
    if not every:
        return
    doubted = faults(every)
    sound = [each for each in every if each not in doubted]
    if sound and best is not None and best.decode is not None:
        yield moved(sound, Taught(estimate=best))
    for each in doubted:
        yield _fault(each)
    for each in every:
        yield from each.notes


def moved(sound: Sequence[Known], taught: Taught) -> str:
    """Sentence on the effect of known speeds: the factor, and the speeds with and without them."""
    speed = taught.estimate.decode
    before = taught.before.decode
    factor = float(taught.estimate.known_factor or 1.0)
    if not taught.tells or speed is None or before is None:
        return f"{_by(sound)} little is known of this answer: it takes other parts of the machine."
    return (
        f"{_by(sound)} {change(factor)}. {_around(speed)}, 4 times in 5; without "
        f"{'it' if len(sound) == 1 else 'them'} {_around(before)}."
    )


def change(factor: float) -> str:
    """Factor on a speed in words ("10 % faster than such machines usually are")."""
    if abs(factor - 1.0) < LEAST:
        return "as fast as such machines usually are"
    word = "faster" if factor > 1.0 else "slower"
    return f"{percent(abs(factor - 1.0))} {word} than such machines usually are"


def _by(sound: Sequence[Known]) -> str:
    if len(sound) == 1:
        return f"By your run ({sound[0].run.words}):"
    return f"By your {len(sound)} runs:"


def _around(speed: Range) -> str:
    ends = range_of(float(speed.low), float(speed.high), number)
    return f"{tokens_per_second(float(speed.value))} ({ends})"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Known speed with the probability that it is typical of its machine."""

    run: KnownRun
    weight: float  # probability that it tells of its machine, rather than of a fault

    @property
    def fault(self) -> bool:
        """Whether the speed is likelier a fault than typical of the machine."""
        return self.weight < Weighed.DOUBTED


def judged(every: Sequence[Known]) -> list[Judged]:
    """Known speeds with their weights."""
    runs = tuple(each.run for each in every)
    if not runs:
        return []
    weights = map(float, Weighed.of(runs).weights)
    return [Judged(run=run, weight=weight) for run, weight in zip(runs, weights, strict=True)]


def faults(every: Sequence[Known]) -> list[Known]:
    """Known speeds that are likelier a fault than a property of the machine."""
    return [each for each, judgement in zip(every, judged(every), strict=True) if judgement.fault]


def _fault(known: Known) -> str:
    """Likely fault: how far it is off, and its likeliest cause."""
    run = known.run
    factor = max(run.measured, run.predicted) / min(run.measured, run.predicted)
    word = "slower" if run.measured < run.predicted else "faster"
    expected = tokens_per_second(run.predicted)
    return (
        f"{run.words} is {number(factor, 2)} times {word} than the {expected} expected, likelier a "
        f"fault of that run than of the machine; it changes little until another run agrees."
        f"{_cause(known)}"
    )


def _cause(known: Known) -> str:
    """Likeliest cause by the diagnosis; empty for a prompt's speed and for none."""
    if known.run.prompt:
        return ""
    measured = Measured(decode=known.run.measured)
    causes = diagnose(known.estimate, measured).causes
    likely = next((cause for cause in causes if cause.explains), None)
    if likely is None:
        return ""
    return f" Likeliest cause: {cause_words(likely)}. {likely.row.fix}"
