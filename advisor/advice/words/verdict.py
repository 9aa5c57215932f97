"""Advice, with its verdict in two lines: what the machine gives, then what an answer takes and the
best way out.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from html import escape
from typing import TYPE_CHECKING

from advisor.advice.decision import STOPS_THINKING, Decision, Situation, idle_usd
from advisor.advice.edits.edit import Edited
from advisor.advice.edits.in_tiers import SAME_MODEL
from advisor.advice.finder.runnable import Runnable
from advisor.advice.prices.price import odd_prices
from advisor.advice.readers import MOST_READERS
from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table import choice as choices
from advisor.advice.table.choice import (
    FASTER,
    begins_late,
    least_speed,
)
from advisor.advice.table.demand import LATE, Crowd
from advisor.advice.table.option import Option, OptionKind, Question, unknown_rent
from advisor.advice.table.options import BY_THE_MONTH, NOTHING_OWNED
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import hours as hours_words
from advisor.formatting import memory as memory_words
from advisor.formatting import money as money_words
from advisor.formatting import number, percent, short, tokens_per_second
from advisor.lazy import lazy
from advisor.runtimes import Runtime
from advisor.runtimes.compare import decode_tps, usable

if TYPE_CHECKING:
    from advisor.advice.edits.second_machine import SecondMachine
    from advisor.advice.task import Task

# Notes on the prices of an answer.


def price_notes(question: Question) -> tuple[str, ...]:
    """Notes on typed prices far from those on record, and on a rent that nobody knows."""
    money = question.money
    rent = unknown_rent(question.ownership, question.machine)
    return *odd_prices(money.own_price, money.own_rent), *rent


# When an option pays, in words.

NAMED_MONTHS = 240  # nobody waits longer for a machine to pay
NAMED_SHARE = 0.01  # share of the tokens of a month below which a break-even says nothing


HARDLY_FASTER = "only if it is faster at all, by less than predictions err"
"""Said of an option that is hardly faster, and dearer."""
ONLY_SOLD = "only by selling what you have"
"""Remark on a slower option that pays by an assumed resale value alone."""


def pays_when(option: Option) -> str:
    """When an option pays: after some months, from a number of tokens per month, or at a speed."""
    if option.rests_on_resale:
        return ONLY_SOLD
    if option.rests_on_little:
        return HARDLY_FASTER
    months = option.break_even_months
    tokens = option.break_even_tokens or 0.0
    after = ""
    if months and months <= NAMED_MONTHS:
        if months < 1.0:
            after = "within a month"
        else:
            after = f"after {number(months)} months"
    few = tokens <= NAMED_SHARE * option.tokens
    if few or not option.pays:
        least = ""
    else:
        least = f"from {short(tokens)} tokens a month"
    speed = least_speed(option)
    if speed is None:
        at = ""
    else:
        at = f"yes from {tokens_per_second(speed)}"
    return ", ".join(filter(None, (after, least, at)))


MOST_WORDS = 45  # most words of the two lines together
SLOWER = 1.0 / 3.0
LEAST = 0.5
"""Ends of the levels of speed: a share of reading speed, and the least for a chat [tokens/s]."""
TOKENS_PER_WORD = 1.4
"""Tokens of a word; four in three in English, more in other languages
(https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them, 2026-11-23)."""
NAMED_REREADING = 0.1  # share of a task from which reading again is named
NOTABLY = 1.1
"""Smallest factor by which another runtime must be faster than the chosen one to be named."""


class Judgement(StrEnum):
    """Speed words, from the fastest."""

    FASTER = "faster than you read"
    KEEPS_UP = "keeps up with reading"
    SLOWER = "slower than you read"
    MINUTES = "minutes per answer"
    THINKS = "thinks for long first"
    DRIVE = "does not fit in memory"
    UNUSABLE = "not usable for chat"
    NOTHING = "does not run here"

    @property
    def enough(self) -> bool:
        """Whether a reader waits for nothing."""
        return self in (Judgement.FASTER, Judgement.KEEPS_UP)


def judgement(decode: float | None, reading_tps: float) -> Judgement:
    """Speed words for a speed, as it is shown with two digits; None where nothing runs [tokens/s].

    From 4 r faster, r to 4 r keeps up, r / 3 to r slower, 0.5 tokens/s to r / 3 minutes.
    """
    if decode is None:
        return Judgement.NOTHING
    decode = float(f"{decode:.1e}")
    if decode >= FASTER * reading_tps:
        return Judgement.FASTER
    if decode >= reading_tps:
        return Judgement.KEEPS_UP
    if decode < LEAST:
        return Judgement.UNUSABLE
    if decode >= SLOWER * reading_tps:
        return Judgement.SLOWER
    return Judgement.MINUTES


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
BEGINS_LATE = "Slow to begin, then {}: {}."
"""Sentence where the first word is waited for so long that nothing runs well."""
RESERVES = (BEGINS_LATE,)


@dataclass(frozen=True, kw_only=True)
class VerdictText:
    """A verdict in words."""

    judgement: Judgement  # speed words
    gives: str  # first line: what the machine gives
    way: str  # second line: what an answer takes, and the best way out
    assumptions: str  # what both are counted with

    @property
    def reserved(self) -> bool:
        """Whether it is fast enough with a reserve: it begins late, reads from the drive, or does
        not serve all users.
        """
        reserves = (text.partition("{")[0] for text in RESERVES)
        return self.gives.startswith((NOT_ENOUGH, *reserves))

    def __str__(self) -> str:
        return f"{self.gives}\n{self.way}"


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Complete answer to a comparison."""

    title: str  # model, format and machine in one line
    question: Question  # input of the options
    estimates: tuple[Estimate, ...]  # one estimate for each runtime and placement
    best: Estimate | None  # fastest estimate that fits; None if none fits
    what_ifs: tuple[Edited, ...]  # changes that make it faster, largest gain first
    options: tuple[Option, ...]  # options, the present machine first, then by what they save
    choice: choices.Choice  # what to do, if anything, and the cheapest beside it
    decision: Decision  # rule that decided, and what it decided for
    case: Situation  # what the rules looked at
    another_model: Runnable | None  # rated as well and faster here, where that is worth a word
    closest: Runnable | None  # best rated that keeps up, where the model asked for is of no use
    elsewhere: bool = False  # the estimates are of another machine than the kept one
    served: int | None = None  # users at reading speed; None where one is asked for
    task: "Task | None" = None  # of the session in the best placement; None where none is asked for
    chosen: Runtime | None = None  # of options and changes; None for the fastest in common use
    placement: PlacementStrategy | None = None  # of the answer; None for the fastest
    summary: VerdictText = field(init=False)  # verdict in words, in the currency of the request

    def __post_init__(self) -> None:
        object.__setattr__(self, "summary", verdict(self))

    def __repr__(self) -> str:
        return f"<Advice {self.title}: {self.summary.gives}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the two lines of the verdict, and what they are counted with."""
        lines = (self.title, f"<b>{escape(self.summary.gives)}</b>", escape(self.summary.way))
        first, *rest = lines
        told = (escape(first), *rest, f"<small>{escape(self.summary.assumptions)}</small>")
        return f"<div>{'<br>'.join(told)}</div>"

    @property
    def judgement(self) -> str:
        """Speed words of the best placement."""
        return self.summary.judgement.value

    @property
    def verdict(self) -> str:
        """The two lines of the verdict."""
        return str(self.summary)

    @lazy
    def second_machine(self) -> "SecondMachine | None":
        """Speed with as many again by cable, where memory is unified; None for others."""
        from advisor.advice.edits.second_machine import second_machine

        question = self.question
        if not question.machine.unified:
            return None
        return second_machine(question.model, question.machine, question.work)

    @lazy
    def in_question(self) -> Option | None:
        """Option that the verdict turns on; None where nothing can be compared."""
        judged = self._judged
        pairs = zip(self.case.judged, self.case.options, strict=False)
        return next((option for each, option in pairs if each is judged), judged)

    @lazy
    def _judged(self) -> Option | None:
        """The same as it is judged: without thinking where the model can stop."""
        judged = self.case.judged
        if len(judged) != len(self.case.options):
            return choices.in_question(self.options, self.choice)
        place = {id(each): at for at, each in enumerate(self.options)}

        def same(option: Option | None) -> Option | None:
            at = place.get(id(option))
            return option if at is None else judged[at]

        choice = replace(
            self.choice, safe=same(self.choice.safe), cheapest=same(self.choice.cheapest)
        )
        return choices.in_question(judged, choice)

    def as_judged(self, option: Option) -> Option:
        """The same option as it is judged: without thinking where the model can stop."""
        pairs = zip(self.case.options, self.case.judged, strict=False)
        return next((judged for each, judged in pairs if each is option), option)

    @property
    def what_changes(self) -> str:
        """Inputs at which that option starts or stops to pay, in words; empty for none."""
        option = self._judged
        if option is None:
            return ""
        words = choices.what_changes(option)
        if not words or not option.pays or self.in_question is self.choice.safe:
            return words
        if option.odd:
            return ""
        return f"Counted in money and waiting alone, {words}"

    @property
    def what_matters(self) -> tuple[choices.TornadoBar, ...]:
        """Monthly gain of that option at the ends of each input, the most influential first."""
        if self._judged:
            return choices.what_matters(self._judged)
        return ()

    def placed(self, strategy: PlacementStrategy | None) -> tuple[Estimate, ...]:
        """Estimates of one placement, in the order of the runtimes; None for all."""
        return tuple(each for each in self.estimates if strategy in (None, each.strategy))

    def meant(self, strategy: PlacementStrategy | None = None) -> tuple[Estimate, ...]:
        """Estimates of one placement, or of all, that are of the chosen runtime; of every runtime
        without a choice.
        """
        return tuple(each for each in self.placed(strategy) if self.chosen in (None, each.runtime))

    def card(self, strategy: PlacementStrategy) -> Estimate | None:
        """Estimate that represents a placement: the fastest that is meant and fits, else the first
        possible. What a drive is worth beside a faster placement, the fastest engine of all tells.
        """
        possible = [estimate for estimate in self.meant(strategy) if not estimate.refusal]
        able = usable(possible)
        of_drive = strategy is PlacementStrategy.NVME_OFFLOAD
        if of_drive and self.best is not None and self.best.strategy is not strategy:
            able.sort(key=decode_tps, reverse=True)
        return next(iter((*able, *possible)), None)

    def why_not(self, strategy: PlacementStrategy) -> str:
        """Reason why a placement is impossible; empty where it is possible."""
        if self.chosen is not None and not self.meant(strategy):
            return self.chosen.lacks(strategy)
        return next((estimate.refusal for estimate in self.meant(strategy) if estimate.refusal), "")


def verdict(advice: Advice) -> VerdictText:
    """What the machine gives, then what an answer takes and the best way out of all."""
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
        gives = _kept(level, kept)
    else:
        gives = _gives(level, advice)
    ways = _faster(advice) or _ways(advice, speed.decode if speed else 0.0)
    answers = f"{number(money.replies_per_day)} answers a day, "
    if money.thinking_tokens:
        answers += f"{number(money.thinking_tokens)} tokens of thinking before each, "
    counted = (
        f"Counted with {answers}an hour of waiting at "
        f"{money_words(kept.worth)}, reading at {number(money.reading_tps)} tokens a second, "
        f"{number(money.purchase_months)} months of use and {money_words(money.usd_per_kwh)} a kWh."
    )
    way = _fitting(gives, _takes(advice, level, speed), ways)
    return VerdictText(judgement=level, gives=gives, way=way, assumptions=counted)


def _level(advice: Advice, speed: Speed | None) -> Judgement:
    """Speed words of what is kept: by its whole answer where it thinks for long, and as no more
    than a hope where it is read from the drive.
    """
    level = judgement(speed.decode if speed else None, advice.question.money.reading_tps)
    kept = advice.options[0]
    if speed is not None and speed.strategy is PlacementStrategy.NVME_OFFLOAD:
        return Judgement.DRIVE
    if level.enough and kept.thinking_seconds >= LATE and not advice.case.demand.counted:
        return Judgement.THINKS
    return level


def _gives(level: Judgement, advice: Advice) -> str:
    best = advice.best
    chosen = advice.chosen
    if best is None:
        return _nothing(advice)
    demand = advice.case.demand
    if demand.counted and level is not Judgement.DRIVE:
        sentence = _worked(advice, best)
    elif demand.crowd is Crowd.TEAM and not demand.met_by(advice.options[0]):
        sentence = _not_for_all(best)
    elif best.waiting:
        sentence = _queued(level, best)
    else:
        sentence = _written(level, best, advice.options[0])
    if chosen:
        runs = f"With {chosen.name}, {sentence[0].lower()}{sentence[1:]}"
    else:
        runs = sentence
    if best.tight:
        return f"{runs} Memory is tight: close other programs."
    return runs


def _worked(advice: Advice, best: Estimate) -> str:
    """Work of a known amount, and whether it is done: "Done in 41 minutes of the 8 hours: ..."."""
    demand = advice.case.demand
    kept = advice.options[0]
    load = demand.load(kept)
    met = demand.met_by(kept)
    speed = f"{number(decode_tps(best))} tokens a second"
    if demand.crowd is Crowd.BATCH:
        there = demand.money.hours_there
        work = duration(load * there * 3600)
        if met:
            return f"Done in {work} of the {number(there)} hours: {speed}."
        return f"Does not finish: {work} of work for {number(there)} hours, {speed}."
    rate = number(demand.wants.requests_per_hour or 0.0)
    if met:
        return f"Answers {rate} requests an hour, busy {percent(load)} of the time: {speed}."
    if load <= 1.0:
        return f"Busy {percent(load)} of the time with {rate} requests an hour, so they wait."
    users = kept.use.work.users
    together = f"{users:.0f} at once" if users > 1 else "one by one"
    return f"Cannot keep up: {number(load)} hours of work each hour, {together} at {speed}."


NOT_ENOUGH = "Not enough"  # first words where not all users are served


def _not_for_all(best: Estimate) -> str:
    """Users who are not all served: "Not enough for 60 users: 16 wait, ..."."""
    running = float(best.work.users)
    waiting = float(best.waiting)
    who = f"{running + waiting:,.0f} users"
    speed = f"{number(decode_tps(best))} tokens a second"
    if waiting:
        return f"{NOT_ENOUGH}: {waiting:,.0f} of {who} wait, {speed} to the others, {_first(best)}."
    return f"{NOT_ENOUGH} for {who}: {speed} to each, {_first(best)}."


def _written(level: Judgement, best: Estimate, kept: Option) -> str:
    """Speed words and speed of each user: "38 tokens a second to each of 5 users"; one user's wait
    for the first token where it is longer than the writing.
    """
    users = float(best.work.users)
    speed = f"{number(decode_tps(best))} tokens a second"
    first = float(best.first_token_seconds or 0.0)
    if users > 1:
        server = f" in {best.runtime.name}" if best.runtime.at_once else ""
        speed = f"{speed} to each of {users:,.0f} users{server}, {_first(best)}"
    elif first * decode_tps(best) > float(best.work.output) + kept.use.money.thinking_tokens:
        speed = f"{speed}, {_first(best)}"
    if level is Judgement.THINKS:
        return f"It runs, but thinks for {duration(kept.thinking_seconds)} first: {speed}."
    if first >= LATE and level.enough:
        return BEGINS_LATE.format(level, speed)
    return GIVES[level].format(level, speed)


def _queued(level: Judgement, best: Estimate) -> str:
    """Users who wait: "Runs, keeps up with reading, but 9 of 50 users wait: ..."."""
    running = float(best.work.users)
    waiting = float(best.waiting)
    if level.enough:
        runs = f"Runs, {level}, but"
    else:
        runs = f"It runs, but {level}, and"
    who = f"{waiting:,.0f} of {running + waiting:,.0f} users wait"
    speed = f"{number(decode_tps(best))} tokens a second to the others"
    return f"{runs} {who}: {speed}, {_first(best)}."


def _first(best: Estimate) -> str:
    return f"the first word after {duration(float(best.first_token_seconds or 0.0))}"


def _kept(level: Judgement, kept: Option) -> str:
    """What a kept machine gives that is not the one described."""
    if kept.name == NOTHING_OWNED:
        return "You have no machine for it yet."
    if kept.speed is None:
        return f"What you have, {plain(kept.name)}, does not run it."
    speed = f"{number(kept.speed.decode)} tokens a second"
    sentence = GIVES[level].format(level, speed)
    return f"On what you have, {plain(kept.name)}: {sentence[0].lower()}{sentence[1:]}"


def _nothing(advice: Advice) -> str:
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


def _takes(advice: Advice, level: Judgement, speed: Speed | None) -> str:
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
    if users is not None and speed and not advice.elsewhere:
        if users == 1:
            who = "one user"
        else:
            who = f"{users:,} users"
        if users == MOST_READERS:
            more = " or more"
        else:
            more = ""
        served = f"At reading speed it serves {who}{more}."
        if users:
            return served
        return "Even one user reads faster than it writes."
    if speed is None or use.tokens <= 0 or advice.case.demand.counted:
        return ""
    return _of_an_answer(advice.options[0], level, speed)


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


def duration(seconds: float) -> str:
    """Duration in words: "40 seconds", "1.6 minutes", "half an hour" [s]."""
    for name, unit, most in (("second", 1.0, 90), ("minute", 60.0, 90), ("hour", 3600.0, 48)):
        if seconds < most * unit:
            count = number(seconds / unit)
            return f"{count} {name}{'' if count == '1' else 's'}"
    return f"{number(seconds / 86400)} days"


def _ways(advice: Advice, decode: float) -> list[str]:
    """Sentences on what is decided for, at a speed [tokens/s], each shorter than the one before."""
    decision = advice.decision
    option = decision.option
    kept = advice.options[0]
    if decision.rule in SAID:
        return SAID[decision.rule](advice)
    if decision.model is not None:
        return _of_model(decision.model, advice)
    if option is None:
        return _nothing_bought(advice)
    if option.kind is OptionKind.API:
        return _by_api(option)
    if option.kind is OptionKind.CHANGE and not option.upfront:
        return [_free(option, kept)]
    bought = _bought(option, kept, decode)
    if decision.beside is not None:
        beside = _unless_texts_stay(decision.beside)
        return [f"{bought[0]} {beside}", f"{bought[-1]} {beside}", *bought]
    return bought


def _nothing_bought(advice: Advice) -> list[str]:
    """Why everything stays, and what may be tried for nothing."""
    kept = advice.options[0]
    another = advice.another_model
    reading_tps = advice.question.money.reading_tps
    reason = plain(advice.choice.reason)
    if advice.case.demand.counted:
        return [reason]
    if advice.decision.beside is not None:
        beside = _unless_texts_stay(advice.decision.beside)
        return [f"{_keep(kept)} {beside}", beside, _keep(kept)]
    if engine := _young(advice.options):
        return [f"{_keep(kept)} {engine[0]}", *engine]
    if another is not None and another.speed.decode >= FASTER * reading_tps:
        first, *shorter = _beside(another, advice)
        return [f"{reason} {first}".strip(), *shorter]
    return [f"{_keep(kept)} {reason}".strip(), reason, _keep(kept)]


def _young(options: Sequence[Option]) -> list[str]:
    """An engine with experts in tiers that writes notably faster, free; nothing without one."""
    now = options[0].decode
    for option in options[1:]:
        speed = option.speed
        if option.name.startswith(SAME_MODEL) and speed and speed.decode >= YOUNG * now:
            span = f"{number(speed.low)} to {number(speed.high)}"
            about = f"about {number(speed.decode)} tokens a second"
            effort = option.price.note.removeprefix("free, ").partition(";")[0]
            return [
                f"Free: {option.name}, {about} ({span}), {effort}.",
                f"Free: {option.name}, {about} ({span}).",
                f"Free: {option.name}, {about}.",
            ]
    return []


YOUNG = 1.5  # factor from which a young engine is worth its set-up and its risk


def _in_time(advice: Advice) -> list[str]:
    """Work that is done in time."""
    return [
        f"{_keep(advice.options[0])} Nothing needs to be bought.",
        "Nothing needs to be bought.",
    ]


def _several(advice: Advice) -> list[str]:
    """Several answers at the same time."""
    option = advice.decision.option
    if option is None:
        return []
    return [f"Free: {plain(option.name)}, {_finished(advice, option)}."]


def _finished(advice: Advice, option: Option) -> str:
    """How soon an option does work of a known amount."""
    demand = advice.case.demand
    load = demand.load(option)
    if demand.crowd is Crowd.BATCH:
        return f"done in {duration(load * demand.money.hours_there * 3600)}"
    return f"busy {percent(load)} of the time"


def _finishing(advice: Advice) -> list[str]:
    """What does work of a known amount in time."""
    option = advice.decision.option
    if option is None:
        return []
    if option.kind is OptionKind.API:
        return _by_api(option)
    name = plain(option.name)
    gives = f"{name}{after_name(option, ' in its place')}"
    done = _finished(advice, option)
    if option.kind is OptionKind.RENT:
        rented = f"{name.removesuffix(BY_THE_MONTH)}, rented {hours_rented(option)}"
        words = [f"{rented}, for {money_words(option.monthly or 0.0)} a month: {done}."]
        if advice.decision.beside is not None:
            return [f"{words[0]} {_unless_texts_stay(advice.decision.beside)}", *words]
        return words
    price = f"{money_words(option.upfront or 0.0)}{dated(option)}"
    several = f"{option.use.work.users:.0f} answers at once"
    return [f"{gives}, {several}: {done}, {price}.", f"{gives}: {done}, {price}."]


def _thoughtless(advice: Advice) -> list[str]:
    """Thinking off, alone or with a free setting, and the best that is free beside it."""
    option = advice.decision.option
    if option is None:
        return []
    off = f"With {plain(option.name)}, {duration(option.answer_seconds)}."
    if option.name != STOPS_THINKING:
        return [off]
    step = advice.case.step
    another = advice.another_model
    if step is not None and step.speed is not None:
        free = f"Free, too: {plain(step.name)}, {number(step.speed.decode)} tokens a second."
        return [f"{off} {free}", off]
    if another is not None and another.speed.decode >= BESIDE_FROM * advice.options[0].decode:
        return [*(f"{off} {words}" for words in _beside(another, advice)), off]
    return [off]


BESIDE_FROM = 1.5  # factor of speed from which another model is named beside a free setting


def _by_api(option: Option) -> list[str]:
    """An API, its speed where it is published, and its month."""
    provider, _, name = option.name.partition(": ")
    speed = f", {number(option.speed.decode)} tokens a second" if option.speed else ""
    month = f"{money_words(option.monthly or 0.0)} a month"
    who = f"An API answers for {month}{speed}"
    return [f"{who}: {name or provider} by {provider}.", f"{who}."]


def _unless_texts_stay(api: Option) -> str:
    month = money_words(api.monthly or 0.0)
    return f"An API costs {month} a month, unless your texts must stay with you."


def _switched_off(advice: Advice) -> list[str]:
    """Power while nobody asks."""
    kept = advice.options[0]
    power = _power(kept)
    idle = idle_usd(kept)
    off = "switch it off, or let it sleep, between answers"
    return [
        f"Keep it, but {off}: {money_words(idle)} of {money_words(power)} for power a month goes "
        "while nobody asks.",
        f"Power: {money_words(power)} a month; {off}.",
    ]


def _sold(advice: Advice) -> list[str]:
    """What could be sold, and what does the same."""
    option = advice.decision.option
    owned = advice.question.machine.gpus
    if option is None or option.speed is None:
        return []
    left = money_words(-(option.upfront or 0.0))
    speed = number(option.speed.decode)
    if option.name == owned[0].name:
        return [f"Sell one {option.name}: about {left} after fees. One alone writes {speed}."]
    return [f"Sell it: {plain(option.name)} in its place writes {speed}, and {left} are left over."]


SAID: Mapping[str, Callable[[Advice], list[str]]] = {
    "in time": _in_time,
    "side by side": _several,
    "finishes": _finishing,
    "stop thinking": _thoughtless,
    "sale": _sold,
    "switch off": _switched_off,
}
"""Sentences of the rules that have their own."""


AS_HIGH = (
    "{0} in {1} writes {2} on this machine, free, and is {3}.",
    "{0} writes {2} here, free, {3}.",
    "{0} writes {2} here, free.",
)
NEAREST = (
    "Nearest that keeps up here: {0} in {1}, free, {2} tokens a second.",
    "{0} writes {2} here, free.",
)
BESIDE = ("Free, {3}: {0}, {2} tokens a second.", "Free: {0}, {2}.")
"""Sentences on another model, its format, its speed and its rating."""


def _of_model(row: Runnable, advice: Advice) -> list[str]:
    """Another model in place of the one asked for."""
    if row is advice.closest:
        return _in_words(NEAREST, row, advice)
    return _in_words(AS_HIGH, row, advice)


def _beside(row: Runnable, advice: Advice) -> list[str]:
    """Another model, named beside what is decided."""
    return _in_words(BESIDE, row, advice)


def _in_words(sentences: Iterable[str], row: Runnable, advice: Advice) -> list[str]:
    name = row.model.name.rpartition("/")[2]
    speed = number(row.speed.decode)
    rated = row.standing_beside(advice.question.model.name).value
    return [sentence.format(name, row.model.format, speed, rated) for sentence in sentences]


def _faster(advice: Advice) -> list[str]:
    """Another runtime that is notably faster than the chosen one; nothing without one."""
    if advice.chosen is None:
        return []
    if advice.best:
        least = NOTABLY * decode_tps(advice.best)
    else:
        least = 0.0
    first = usable(advice.placed(advice.placement))[:1]
    speeds = {each.runtime.name: decode_tps(each) for each in first}
    return [
        f"{name} would give {number(tps)} here." for name, tps in speeds.items() if tps >= least
    ]


def _free(option: Option, kept: Option) -> str:
    speed = option.speed
    now = kept.speed
    if speed and now and begins_late(kept) and speed.first_token * NOTABLY <= now.first_token:
        gives = f"gives the first word after {duration(speed.first_token)}"
    else:
        gives = f"gives {number(speed.decode) if speed else 'more'}"
    return f"A free change {gives}: {plain(option.name)}."


def _bought(option: Option, kept: Option, decode: float) -> list[str]:
    """What to buy, its price at once, its speed, what it saves, and when that is worth it."""
    if option.speed:
        speed = number(option.speed.decode)
    else:
        speed = ""
    name = plain(option.name)
    usd = option.upfront or 0.0
    price = money_words(abs(usd))
    added = after_name(option, " in its place")
    if option.kind is OptionKind.RENT:
        monthly = money_words(option.monthly or 0.0)
        now = money_words(kept.monthly or 0.0)
        rented = f"{name.removesuffix(BY_THE_MONTH)}, rented {hours_rented(option)} in its place,"
        gives = f"{rented} gives {speed} for {monthly} a month"
        return [f"{gives}, not {now}.", f"{gives}."]
    if kept.name == NOTHING_OWNED:
        return [f"{name} gives {speed} for {price}{dated(option)}.", f"{name}: {price}."]
    sold = " once yours is sold" if option.assumed_resale else ""
    if usd < 0:
        faster = f"{name}{added} gives {speed}, with {price} left over{sold}{dated(option)}"
    else:
        faster = f"{name}{added} gives {speed} for {price}{sold}{dated(option)}"
    saved = option.hours_saved
    worth = option.worth_from
    if saved is None or worth is None or saved <= 0 or not decode:
        return [f"{faster}.", f"{name}: {price}{sold}."]
    if saved >= 1:
        hours = f"{number(saved)} hours"
    else:
        hours = f"{60 * saved:.0f} minutes"
    when = f"worth it if an hour is worth more than {money_words(worth)} to you"
    return [
        f"{faster} and saves {hours} of waiting a month: {when}.",
        f"{faster}: {when}.",
        f"{faster}.",
    ]


def after_name(option: Option, replaced: str) -> str:
    """What is done with a card, where its name does not say that."""
    if option.kind is OptionKind.REPLACE:
        return replaced
    told = option.name.endswith((" in a dock", " in all"))
    if option.kind is OptionKind.ADD and not told:
        return " added"
    return ""


def hours_rented(option: Option) -> str:
    """For how long a machine is rented: "2 hours a day", "day and night"."""
    day = option.hours_rented
    if day is None or day >= 24:
        return "day and night"
    if day < 1:
        return f"{hours_words(day)} a day"
    return f"{day:.2g} hour{'' if day == 1 else 's'} a day"


def _power(kept: Option) -> float:
    """Electricity of a month, without the value that is tied up [USD]."""
    if kept.cost is None:
        return 0.0
    return kept.cost.idle_power + kept.cost.busy_power


def _keep(kept: Option) -> str:
    """Keeping what is there, and its power."""
    if kept.name == NOTHING_OWNED:
        return "Buy nothing yet."
    rent = kept.cost.rent + kept.cost.starts if kept.cost else 0.0
    if rent:
        return f"Keep what you have. Rent: {money_words(kept.monthly or 0.0)} a month."
    paid = f" Power: {money_words(_power(kept))} a month." if _power(kept) else ""
    return f"Keep what you have.{paid}"


def dated(option: Option) -> str:
    """Remark on an old or launch price; empty for others."""
    if option.price.listed:
        return f", its launch price of {option.price.date}"
    if not option.stale:
        return ""
    if option.price.date:
        return f", its price of {option.price.date}"
    return ", a price without date"


def plain(name: str) -> str:
    """Name without what stands in parentheses, as a sentence has none within others."""
    while (shorter := re.sub(r"\s*\([^()]*\)", "", name)) != name:
        name = shorter
    return name


def _fitting(gives: str, answer: str, ways: Sequence[str]) -> str:
    """Second line: the fullest words within the most of both, if possible with the answer."""
    for line in (*(f"{answer} {way}".strip() for way in ways), *ways):
        if len(f"{gives} {line}".split()) <= MOST_WORDS:
            return line
    return " ".join(ways[-1].split()[: max(MOST_WORDS - len(gives.split()), 0)])
