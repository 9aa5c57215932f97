"""Verdict of an answer in two lines: the speed of the machine, then the time of an answer and the
best way out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape

from advisor.advice.comparison import Comparison
from advisor.advice.judgement import Judgement, judged
from advisor.advice.prices.price import odd_prices
from advisor.advice.readers import MOST_READERS, most_served
from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table.choice import reads_drive
from advisor.advice.table.demand import BUSY, LATE, Crowd, first_word_of
from advisor.advice.table.option import Option, OptionKind, Question, unknown_rent
from advisor.advice.table.options import NOTHING_OWNED
from advisor.advice.words.phrases import (
    briefly,
    duration,
    in_engine,
    name_in_place,
    plain,
    read_there,
)
from advisor.advice.words.ways import KEEP, faster_runtime, in_short, ways_out, with_engine
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.formatting import counted, percent
from advisor.formatting import money as money_words
from advisor.runtimes.compare import decode_tps
from advisor.units import memory as memory_words
from advisor.units import number

# Notes on the prices of an answer.


def price_notes(question: Question) -> tuple[str, ...]:
    """Notes on typed prices far from published ones, and on an unknown rent."""
    money = question.money
    rent = unknown_rent(question.ownership, question.machine)
    return *odd_prices(money.own_price, money.own_rent), *rent


MOST_WORDS = 45  # most words of the two lines together
TOKENS_PER_WORD = 1.4
"""Tokens of a word; four in three in English, more in other languages
(https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them, 2026-11-23)."""
CLOSE = "It is close: {} would do as well."
NAMED_REREADING = 0.1  # share of a task from which reading again is named
GIVES = {
    Judgement.FASTER: "Runs well, {}: {}.",
    Judgement.KEEPS_UP: "Runs well, {}: {}.",
    Judgement.SLOWER: "It runs, but {}: {}.",
    Judgement.MINUTES: "It runs, at {}: {}.",
    Judgement.THINKS: "It runs, but {}: {}.",
    Judgement.DRIVE: "It {}; from the drive about {}, unproven.",
    Judgement.UNUSABLE: "It is {}: {}.",
}
"""Sentence for each level, with its speed words and its speed."""
LEAST_NAMED = 1e6  # part on the drive from which its size is named [B]
BEGINS_LATE = "Slow to begin, then {}: {}."
"""Sentence where the first word is waited for so long that nothing runs well."""
BELOW_ASKED = "It runs, but below the {} tokens a second that you ask for: {}."
NEARLY_FITS = "It {} by {}: about {} with that part from the drive, unproven."
"""Sentence where something other than the drive limits the speed."""
RESERVES = {
    BEGINS_LATE.partition("{")[0]: "slow to begin",
    "Not enough": "not for all",
    "Cannot keep up": "cannot keep up",
    "Does not finish": "not in time",
}
"""Reserve by words of the first line: why something is fast and still not enough."""


@dataclass(frozen=True, kw_only=True)
class VerdictText:
    """Verdict in words."""

    judgement: Judgement  # speed words
    gives: str  # first line: what the machine gives
    way: str  # second line: what an answer takes, and the best way out
    assumptions: str  # what both are counted with
    candidates: tuple[str, ...] = ()  # a sentence on each purchase that somebody asks about
    # sentences on what may be bought beside what is free, and where the model lies with it
    purchases: tuple[str, ...] = ()
    # sentences on what is free before a purchase, on cards that stand idle, and on a cheaper
    # purchase with a drawback
    remarks: tuple[str, ...] = ()
    overloaded: bool = False  # it cannot answer all replies of a day

    @property
    def beside(self) -> tuple[str, ...]:
        """Sentences below the two lines."""
        return (*self.purchases, *self.remarks, *self.candidates)

    @property
    def reserve(self) -> str:
        """Drawback of a speed that is enough, in a few words, such as a late beginning; empty
        without one.
        """
        if self.overloaded:
            return RESERVES["Cannot keep up"]
        gives = self.gives.casefold()
        return next((words for start, words in RESERVES.items() if start.casefold() in gives), "")

    @property
    def reserved(self) -> bool:
        """Whether the answer is fast enough but has a drawback."""
        return bool(self.reserve)

    def __str__(self) -> str:
        return "\n".join((self.gives, self.way, *self.beside))


@dataclass(frozen=True, kw_only=True)
class Advice(Comparison):
    """Complete answer to a comparison."""

    summary: VerdictText = field(init=False)  # verdict in words, in the currency of the request

    def __post_init__(self) -> None:
        object.__setattr__(self, "summary", verdict(self))

    def __repr__(self) -> str:
        return f"<Advice {self.title}: {self.summary.gives}>"

    def _repr_html_(self) -> str:
        """HTML for a notebook: the two lines of the verdict, and the request that they are counted
        with.
        """
        lines = (self.title, f"<b>{escape(self.summary.gives)}</b>", escape(self.summary.way))
        first, *rest = lines
        beside = map(escape, self.summary.beside)
        told = (
            escape(first),
            *rest,
            *beside,
            f"<small>{escape(self.summary.assumptions)}</small>",
        )
        return f"<div>{'<br>'.join(told)}</div>"

    @property
    def judgement(self) -> str:
        """Speed words of the best placement."""
        return self.summary.judgement.value

    @property
    def verdict(self) -> str:
        """Two lines of the verdict, and one line on each purchase that a person names."""
        return str(self.summary)


def verdict(advice: Comparison) -> VerdictText:
    """Sentences of the verdict: the machine's speed, the time of an answer, and the best way
    out.
    """
    kept = advice.options[0]
    best = advice.best
    money = advice.question.money
    if advice.elsewhere:
        speed = kept.speed
    elif best is None:
        speed = None
    else:
        speed = speed_of(best)
    level = _level(advice, speed)
    if advice.elsewhere:
        gives = _kept_sentence(level, kept, _not_put_in(advice))
    else:
        gives = _gives(level, advice)
    ways = ways_out(advice, speed.decode if speed else 0.0)
    if elsewhere := faster_runtime(advice):
        acts = advice.decision.option is not None or advice.decision.model is not None
        both = [f"{first} {way}" for first in reversed(elsewhere) for way in ways] if acts else []
        if level.enough and not acts:
            both = [f"{KEEP} {first}" for first in elsewhere]
        ways = both or elsewhere
    kind = "answers" if advice.task is None else "turns of an agent"
    answers = f"{number(money.replies_per_day)} {kind} a day, "
    if money.thinking_tokens:
        answers += f"{number(money.thinking_tokens)} tokens of thinking before each, "
    decided = advice.decision.option
    setting = decided is not None and decided.is_free_setting
    if not setting:
        whole = [ways[0], ways[-1]]
        ways = [*(f"{way} {words}" for words in _rivals(advice) for way in whole), *ways]
    agents = kept.use.work.users
    each = " of each agent" if advice.task is not None and float(agents) > 1 else ""
    counted = (
        f"Counted with {answers}an hour of waiting at {money_words(kept.worth)}, "
        f"reading at {number(money.reading_tps)} tokens/s{each}, "
        f"{number(money.purchase_months)} months of use and {money_words(money.usd_per_kwh)} a kWh."
    )
    takes = _takes(advice, level, speed)
    beside = with_engine(ways, advice)
    way = (
        _fitting(gives, takes, beside, at_all=False)
        or _fitting(gives, takes, ways, at_all=False)
        or _fitting(gives, takes, in_short(advice) or elsewhere or ways)
    )
    return VerdictText(
        judgement=level,
        gives=gives,
        way=way,
        assumptions=counted,
        candidates=_of_candidates(advice),
        purchases=_on_purchases(advice, way),
        remarks=_remarks(advice, way),
        overloaded=kept.speed is not None and not kept.keeps_up,
    )


def _missing_beside(best: Estimate, advice: Comparison) -> float:
    """Memory that is missing to hold a model that is read from the drive in part [B]: that of the
    placement in RAM, or the part on the drive where RAM is no placement.
    """
    in_ram = advice.card(PlacementStrategy.CPU_OFFLOAD)
    if in_ram is None or bool(in_ram.fits):
        return read_there(best)
    return float(in_ram.missing)


def _rivals(advice: Comparison) -> list[str]:
    """Sentence on an option that would do as well as the decision; none where the decision is
    clear.
    """
    rival = advice.decision.rival
    if rival is None:
        return []
    step = advice.case.step
    if rival is advice.options[0] and step is not None:
        return [CLOSE.format(f"{briefly(step.name)}, free,")]
    if rival is advice.options[0]:
        return [CLOSE.format("keeping what you have")]
    if rival.kind is OptionKind.API:
        return [CLOSE.format(f"an API for {money_words(rival.monthly or 0.0)} a month")]
    name = name_in_place(rival)
    return [CLOSE.format(f"{name} for {money_words(rival.full_price)}"), CLOSE.format(name)]


def _on_purchases(advice: Comparison, way: str) -> tuple[str, ...]:
    """Sentences on what may be bought, and on where the model lies with it."""
    from advisor.advice.words.remarks import on_purchases

    return tuple(on_purchases(advice, way))


def _remarks(advice: Comparison, way: str) -> tuple[str, ...]:
    """Sentences on what is free beside the second line, on cards that stand idle, and on a cheaper
    purchase with a drawback.
    """
    from advisor.advice.words.remarks import remarks

    return tuple(remarks(advice, way))


def _of_candidates(advice: Comparison) -> tuple[str, ...]:
    """Sentence on each purchase that somebody asks about."""
    if not advice.candidates:
        return ()
    from advisor.advice.words.candidate import sentence  # loaded only for them

    return tuple(sentence(each, advice) for each in advice.candidates)


def _level(advice: Comparison, speed: Speed | None) -> Judgement:
    """Speed words of what is kept: by its whole answer where it thinks for long, however fast it
    writes then; as slower where a higher speed is asked for, and as no more than a hope where it is
    read from the drive.
    """
    level = judged(speed, advice.question.money.reading_tps)
    kept = advice.options[0]
    demand = advice.case.demand
    alone = demand.crowd is Crowd.PEOPLE
    slow = alone and level in (Judgement.SLOWER, Judgement.MINUTES)
    if (level.enough or slow) and kept.thinking_seconds >= LATE and not demand.counted:
        return Judgement.THINKS
    if level.enough and alone and speed is not None and speed.decode < demand.pace:
        return Judgement.SLOWER
    return level


def _gives(level: Judgement, advice: Comparison) -> str:
    best = advice.best
    chosen = advice.chosen
    if best is None:
        return _nothing(advice)
    demand = advice.case.demand
    if demand.counted and level is not Judgement.DRIVE:
        sentence = _worked(advice, best)
    elif demand.crowd is Crowd.TEAM and not demand.met_by(advice.options[0]):
        sentence = _not_for_all(best, _first(best, advice))
    elif best.waiting:
        sentence = _queued(level, best, _first(best, advice))
    else:
        sentence = _written(level, best, advice)
    if chosen:
        runs = f"With {chosen.name}, {sentence[0].lower()}{sentence[1:]}"
    else:
        runs = sentence
    if best.tight:
        runs = f"{runs} Memory is tight: close other programs."
    return f"{runs}{_overloaded(advice)}"


def _overloaded(advice: Comparison) -> str:
    """That answers of a day take longer than a day, where no other sentence says it."""
    kept = advice.options[0]
    if kept.keeps_up or reads_drive(kept) or kept.speed is None or advice.case.demand.counted:
        return ""
    return f" {kept.work_of_a_day}"


def _worked(advice: Comparison, best: Estimate) -> str:
    """Work of a known amount, and whether it is done: "Done in 41 minutes of the 8 hours: ..."."""
    demand = advice.case.demand
    kept = advice.options[0]
    load = demand.load(kept)
    met = demand.met_by(kept)
    speed = f"{number(decode_tps(best))} tokens a second"
    if demand.crowd is Crowd.BATCH:
        there = demand.money.hours_there
        work = duration(load * there * 3600)
        if kept.use.work.users <= 1:
            speed = f"one by one at {speed}"
        if met:
            return f"Done in {work} of the {number(there)} hours: {speed}."
        return f"Does not finish: {work} of work for {number(there)} hours, {speed}."
    rate = f"{number(demand.wants.requests_per_hour or 0.0)} requests an hour"
    each = f"{speed} to each, the first word after {duration(demand.first_word(kept))}"
    if met:
        return f"Answers {rate}, busy {percent(load)} of the time: {each}."
    if load <= BUSY:
        return f"Answers {rate}, but {' and '.join(demand.unmet_by(kept))}: {each}."
    if load <= 1.0:
        return f"Busy {percent(load)} with {rate}, so they wait: {each}."
    users = kept.use.work.users
    together = f"{users:.0f} at once" if users > 1 else "one by one"
    return f"Cannot keep up: {number(load)} hours of work each hour, {together} at {speed}."


def _not_for_all(best: Estimate, first: str) -> str:
    """Users who are not all served: "Not enough for 60 users: 16 wait, ..."."""
    running = float(best.work.users)
    waiting = float(best.waiting)
    who = f"{running + waiting:,.0f} users"
    speed = f"{number(decode_tps(best))} tokens a second"
    if waiting:
        return f"Not enough: {waiting:,.0f} of {who} wait, {speed} to the others, {first}."
    return f"Not enough for {who}: {speed} to each, {first}."


def _written(level: Judgement, best: Estimate, advice: Comparison) -> str:
    """Speed words and speed of each user: "38 tokens a second to each of 5 users"; one user's wait
    for the first token where it is longer than the writing.
    """
    kept = advice.options[0]
    users = float(best.work.users)
    speed = f"{number(decode_tps(best))} tokens a second"
    first = float(best.first_token_seconds or 0.0)
    if level is Judgement.DRIVE and users > 1:
        speed = f"{speed} to each of {users:,.0f} users"
    elif users > 1:
        server = f" in {best.runtime.name}" if best.runtime.at_once else ""
        speed = f"{speed} to each of {users:,.0f} users{server}, {_first(best, advice)}"
    elif first * decode_tps(best) > float(best.work.output) + kept.use.money.thinking_tokens:
        speed = f"{speed}, {_first(best, advice)}"
    if level is Judgement.THINKS:
        return f"It runs, but thinks for {duration(kept.thinking_seconds)} first: {speed}."
    nearly = level is Judgement.DRIVE and best.bottleneck != Route.PAGED.limit
    missing = _missing_beside(best, advice)
    if nearly and missing >= LEAST_NAMED:
        return NEARLY_FITS.format(level, memory_words(missing), speed)
    if first >= LATE and level.enough:
        return BEGINS_LATE.format(level, speed)
    pace = advice.case.demand.pace
    reads = decode_tps(best) >= advice.question.money.reading_tps
    if level is Judgement.SLOWER and reads and decode_tps(best) < pace:
        return BELOW_ASKED.format(number(pace), speed)
    return GIVES[level].format(level, speed)


def _queued(level: Judgement, best: Estimate, first: str) -> str:
    """Users who wait: "Runs, keeps up with reading, but 9 of 50 users wait: ..."."""
    running = float(best.work.users)
    waiting = float(best.waiting)
    if level.enough:
        runs = f"Runs, {level}, but"
    else:
        runs = f"It runs, but {level}, and"
    who = f"{waiting:,.0f} of {running + waiting:,.0f} users wait"
    speed = f"{number(decode_tps(best))} tokens a second to the others"
    return f"{runs} {who}: {speed}, {first}."


def _first(best: Estimate, advice: Comparison) -> str:
    """Wait for the first word; of several users at their mean load."""
    demand = advice.case.demand
    rate = demand.wants.requests_per_hour
    if demand.crowd is Crowd.TEAM and rate is not None:
        seconds = demand.first_word(replace(advice.options[0], speed=speed_of(best)))
        return f"the first word after {duration(seconds)} at {number(rate)} requests an hour"
    if float(best.work.users) > 1:
        seconds = first_word_of(best)
    else:
        seconds = float(best.first_token_seconds or 0.0)
    return f"the first word after {duration(seconds)}"


def _not_put_in(advice: Comparison) -> str:
    """Cards of one's own that the described machine has not, where it has all others; empty for
    none.
    """
    if not advice.estimates:
        return ""
    described = advice.estimates[0].machine
    here = [gpu.name for gpu in described.discrete]
    left = [gpu.name for gpu in advice.question.machine.discrete]
    if described.host != advice.question.machine.host or not here:
        return ""
    for name in here:
        if name not in left:
            return ""
        left.remove(name)
    return " + ".join(counted(left.count(name), name) for name in dict.fromkeys(left))


def _kept_sentence(level: Judgement, kept: Option, idle: str) -> str:
    """Sentence on a kept machine that is not the one described; cards that lie idle are to be put
    in.
    """
    if kept.name == NOTHING_OWNED:
        return "You have no machine for it yet."
    if kept.speed is None:
        return f"What you have, {plain(kept.name)}, does not run it."
    speed = f"{number(kept.speed.decode)} tokens a second"
    sentence = GIVES[level].format(level, speed)
    owned = f"what you have, {plain(kept.name)}"
    start = f"On {owned}"
    if idle:
        start = f"Put in the {idle} that you own. With {owned}"
    return f"{start}{in_engine(kept)}: {sentence[0].lower()}{sentence[1:]}"


def _nothing(advice: Comparison) -> str:
    """Reason why nothing runs."""
    chosen = advice.chosen
    of_choice = advice.meant(advice.placement)
    able = (estimate for estimate in of_choice if not estimate.refusal)
    least = min(able, key=lambda estimate: float(estimate.missing), default=None)
    if least is None:
        short = math.nan
    else:
        short = float(least.missing)
    if chosen is None or math.isfinite(short):
        if chosen:
            who = f"{chosen.name} does not run it here"
        else:
            who = "It does not run here"
        drive = least is not None and least.strategy is PlacementStrategy.NVME_OFFLOAD
        if drive:
            even = "even read from the drive, "
        else:
            even = ""
        return f"{who}: {even}{memory_words(short)} of memory are missing."
    refusal = next((estimate.refusal for estimate in of_choice), "")
    return f"{chosen.name} does not run it here. {refusal}".strip()


def _takes(advice: Comparison, level: Judgement, speed: Speed | None) -> str:
    """Time of a task or an answer, or how many users are served: "An answer of 180 words takes 1.6
    minutes."; empty where nothing runs.
    """
    task = advice.task
    users = advice.served
    use = advice.options[0].use
    if task is not None and not advice.elsewhere:
        takes = f"A task of {task.session.turns} turns takes {duration(task.seconds)}"
        again = f", {percent(task.reread_share)} of it reading again"
        return f"{takes}{again if task.reread_share >= NAMED_REREADING else ''}."
    demand = advice.case.demand
    known = demand.counted or demand.wants.requests_per_hour is not None
    if users is not None and speed and not advice.elsewhere and not known:
        if level is Judgement.THINKS and not _may_fall_short(advice, speed):
            return _thinking_users(advice)
        return _served(advice, users, speed)
    if speed is None or use.tokens <= 0 or known:
        return ""
    return _of_an_answer(advice.options[0], level, speed)


def _served(advice: Comparison, users: int, speed: Speed) -> str:
    """Words on the number of users who are served at reading speed; where all are, but not surely,
    the speed that they may have.
    """
    if not users:
        return "Even one user reads faster than it writes."
    if users >= advice.question.work.users and _may_fall_short(advice, speed):
        return f"It may be only {number(speed.low)} tokens a second, slower than you read."
    if users == 1:
        who = "one user"
    else:
        who = f"{users:,} users"
    if users == MOST_READERS:
        more = " or more"
    else:
        more = ""
    return f"At reading speed it serves {who}{more}."


def _thinking_users(advice: Comparison) -> str:
    """Words on the number of users who wait less than half a minute for the thinking."""
    best = advice.best
    if best is None:
        return ""
    least = advice.question.money.thinking_tokens / LATE
    users = most_served(advice.question, best, lambda speed, _: speed.decode >= least)
    if not users:
        return "Even one user waits longer than half a minute for its thinking."
    who = "one user" if users == 1 else f"up to {users:,} users"
    return f"With {who} it thinks less than half a minute."


def _may_fall_short(advice: Comparison, speed: Speed) -> bool:
    """Whether a team's users may read faster than it writes, though not at its likely speed."""
    demand = advice.case.demand
    slow = speed.low < advice.question.money.reading_tps <= speed.decode
    return demand.crowd is Crowd.TEAM and slow and not demand.met_by(advice.options[0])


def _of_an_answer(kept: Option, level: Judgement, speed: Speed) -> str:
    """Time of an answer, and of its thinking where the first line does not say it."""
    use = kept.use
    words = 10 * round(use.shown / TOKENS_PER_WORD / 10)
    if words:
        counted = f"An answer of {words:,.0f} words"
    else:
        counted = "An answer"
    takes = f"{counted} takes {duration(speed.first_token + use.generated / speed.decode)}"
    thinking = use.money.thinking_tokens / speed.decode
    if thinking >= NAMED_THINKING and level is not Judgement.THINKS:
        return f"{takes}, {duration(thinking)} of it thinking."
    return f"{takes}."


NAMED_THINKING = 1.0  # time of thinking from which it is named [s]


def _fitting(gives: str, answer: str, ways: Sequence[str], *, at_all: bool = True) -> str:
    """Second line of a verdict: the fullest words that fit, with the time of an answer where there
    is room.

    Where none fits, it is the beginning of the shortest, or nothing unless it must be said
    (`at_all`).
    """
    for line in (*(f"{answer} {way}".strip() for way in ways), *ways):
        if len(f"{gives} {line}".split()) <= MOST_WORDS:
            return line
    if not at_all:
        return ""
    return " ".join(ways[-1].split()[: max(MOST_WORDS - len(gives.split()), 0)])
