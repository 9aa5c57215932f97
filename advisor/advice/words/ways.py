"""Second line of a verdict: what is decided for, in sentences each shorter than the one before."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from advisor.advice.comparison import Comparison
from advisor.advice.edits.in_tiers import SAME_MODEL
from advisor.advice.finder.runnable import Runnable, Standing
from advisor.advice.situation import STOPS_THINKING, idle_usd, thinking_off
from advisor.advice.speeds import speed_of
from advisor.advice.table.choice import BOUGHT, FASTER, begins_late, is_bought, reads_drive
from advisor.advice.table.demand import LATE, Crowd
from advisor.advice.table.option import Option, OptionKind
from advisor.advice.table.options import BY_THE_MONTH, NOTHING_OWNED
from advisor.advice.table.turning import of_an_hour
from advisor.advice.words.phrases import (
    after_name,
    before_and_after_sale,
    briefly,
    dated,
    duration,
    hours_rented,
    in_engine,
    name_in_place,
    plain,
    price_at_once,
    stated_price,
)
from advisor.formatting import money as money_words
from advisor.formatting import percent
from advisor.request.wants import Texts
from advisor.runtimes.compare import decode_tps
from advisor.units import number

KEEP = "Keep what you have."
FIRST_WORD = "the first word after"
MOSTLY = 0.5  # share of an answer from which its first word is what one waits for
NOTABLY = 1.1  # factor from which an earlier first word is told in place of a speed


def ways_out(advice: Comparison, decode: float) -> list[str]:
    """Sentences on the decision at a speed [tokens/s], from the longest to the shortest."""
    decision = advice.decision
    option = decision.option
    if decision.rule in SAID:
        return SAID[decision.rule](advice)
    if decision.model is not None:
        return _after_lossless(advice, _of_model(decision.model, advice))
    if option is None:
        return _nothing_bought(advice)
    if option.kind is OptionKind.API and advice.case.rented:
        return _in_place_of_rent(advice, option)
    if option.kind is OptionKind.API:
        return _with_free(_by_api(advice, option), advice)
    if option.is_free_setting:
        return _free(advice, option)
    bought = _with_free(_bought(option, advice, decode), advice, _then(option))
    if decision.beside is not None:
        return _after_api(advice, decision.beside, [bought[0], bought[-1]])
    return bought


def in_short(advice: Comparison) -> list[str]:
    """Name and price of a purchase or rent, for a short line; empty for other decisions."""
    option = advice.decision.option
    if option is not None and option.kind is OptionKind.RENT:
        name = plain(option.name).removesuffix(BY_THE_MONTH)
        month = f"{money_words(option.monthly or 0.0)} a month"
        return [f"{name}, rented {hours_rented(option)}: {month}.", f"{name}, rented: {month}."]
    if option is None or option.kind not in BOUGHT:
        return []
    place = after_name(option, " in its place")
    return [f"{plain(option.name)}{place} for {money_words(option.full_price)}: {_tps(option)}."]


def _nothing_bought(advice: Comparison) -> list[str]:
    """Why everything stays, and what may be tried for nothing."""
    kept = advice.options[0]
    another = advice.another_model
    reading_tps = advice.question.money.reading_tps
    reason = plain(advice.choice.reason)
    if advice.case.demand.counted:
        return [reason]
    api = advice.decision.beside
    if api is not None and advice.case.dear_beside(api):
        return _in_place_of_rent(advice, api)
    if api is not None:
        beside = _unless_texts_stay(api)
        return [f"{_keep(kept)} {beside}", beside, _keep(kept)]
    stopped = advice.case.stopped
    if stopped is not None and _saves_thinking(advice, stopped):
        off = _answered_without(stopped)
        return [f"{_keep(kept)} {off} {reason}".strip(), f"{off} {reason}", f"{_keep(kept)} {off}"]
    if engine := _young(advice.options, kept.decode):
        return [f"{_keep(kept)} {engine[0]}", *engine]
    served = advice.case.demand.crowd is Crowd.TEAM and advice.case.demand.met_by(kept)
    if another is not None and not served and another.speed.decode >= FASTER * reading_tps:
        first, *shorter = _beside(another, advice)
        return [" ".join(filter(None, (KEEP, reason, first))), f"{KEEP} {first}", *shorter]
    with_power = _keep(kept)
    return [f"{with_power} {reason}".strip(), f"{KEEP} {reason}".strip(), with_power]


def _saves_thinking(advice: Comparison, stopped: Option) -> bool:
    """Whether thinking off is named where nothing is bought: answers come notably sooner, and with
    stated thinking one waits for it.
    """
    kept = advice.options[0]
    waits = kept.thinking_seconds >= LATE or not advice.case.demand.wants.states_thinking
    return waits and kept.answer_seconds >= SOONER * stopped.answer_seconds


def with_engine(ways: Sequence[str], advice: Comparison) -> list[str]:
    """Ways out, with an engine in tiers added where no way names one.

    It is added only where it is notably faster than the decision.
    """
    if advice.case.demand.counted or any(SAME_MODEL in way for way in ways):
        return []
    decided = advice.decision.option
    if decided is not None and decided is advice.case.agents:
        return []  # the line has room for what the task takes
    now = advice.options[0].decode
    if decided is not None and decided.is_free_setting:
        now = max(now, decided.decode)
    return [f"{way} {words}" for way in ways for words in _young(advice.options, now)]


def _young(options: Sequence[Option], now: float) -> list[str]:
    """Sentences on a free engine with experts in tiers that is notably faster than a speed
    [tokens/s], and on who reported it where nobody but its makers did on the card; none without
    such an engine.
    """
    for option in options[1:]:
        speed = option.speed
        if option.name.startswith(SAME_MODEL) and speed and speed.decode >= YOUNG * now:
            span = f"{number(speed.low)} to {number(speed.high)}"
            about = f"about {number(speed.decode)} tokens a second"
            effort, _, reports = option.price.note.removeprefix("free, ").partition("; ")
            who = f"; {reports}" if option.unreported else ""
            return [
                f"Free: {option.name}, {about} ({span}), {effort}{who}.",
                f"Free: {option.name}, {about} ({span}){who}.",
                f"Free: {option.name}, {about}{who}.",
            ]
    return []


YOUNG = 1.5  # factor from which a young engine is worth its set-up and its risk


def _in_time(advice: Comparison) -> list[str]:
    """Work that is done in time, and an API beside a rent."""
    kept = _keep(advice.options[0])
    if advice.decision.beside is not None:
        api = _unless_texts_stay(advice.decision.beside)
        return [f"{kept} {api}", f"{KEEP} {api}", kept]
    return [f"{kept} Nothing needs to be bought.", "Nothing needs to be bought."]


def _several(advice: Comparison) -> list[str]:
    """Several answers at the same time."""
    option = advice.decision.option
    if option is None:
        return []
    return [f"Free: {plain(option.name)}, {_finished(advice, option)}."]


def _thoughtless_in_time(advice: Comparison) -> list[str]:
    """Thinking off, and how soon the work is done."""
    option = advice.decision.option
    if option is None:
        return []
    return [f"Free: {plain(option.name)}, {_finished(advice, option)}."]


def _finished(advice: Comparison, option: Option) -> str:
    """Words on the time in which an option does work of a known amount."""
    if advice.case.demand.crowd is Crowd.BATCH:
        return f"done in {_taken_by(advice, option)}"
    return f"busy {percent(advice.case.demand.load(option))} of the time"


def _taken_by(advice: Comparison, option: Option) -> str:
    """Time in which an option does a batch."""
    demand = advice.case.demand
    return duration(demand.load(option) * demand.money.hours_there * 3600)


def _finishing(advice: Comparison) -> list[str]:
    """Sentences on the option that does a known amount of work in time."""
    option = advice.decision.option
    if option is None:
        return []
    if option.kind is OptionKind.API:
        return _by_api(advice, option)
    words = _finishing_on(advice, option)
    together = advice.case.together
    if together is None or advice.case.demand.crowd is not Crowd.BATCH:
        return words
    even = f"Even {_running(together):.0f} at once take {_taken_by(advice, together)}."
    return [*(f"{even} {way}" for way in words), *words]


def _finishing_on(advice: Comparison, option: Option) -> list[str]:
    """Hardware that does work of a known amount in time."""
    name = plain(option.name)
    gives = f"{name}{after_name(option, ' in its place')}"
    done = _finished(advice, option)
    if option.kind is OptionKind.RENT:
        rented = f"{name.removesuffix(BY_THE_MONTH)}, rented {hours_rented(option)}"
        month = f"{money_words(option.monthly or 0.0)} a month{in_engine(option)}"
        words = [f"{rented}, for {month}: {done}."]
        if advice.decision.beside is not None:
            short = [*words, f"{rented}, {month}: {done}.", f"{rented}, {month}."]
            return _after_api(advice, advice.decision.beside, short)
        return [*(f"{words[0]} {off}" for off in _thoughtless_too(advice, option)), *words]
    price = price_at_once(option)
    if advice.case.demand.crowd is Crowd.RATE:
        first = duration(advice.case.demand.first_word(option))
        speed = f"{number(option.decode)} tokens a second to each{in_engine(option)}"
        each = f"{speed}, the first word after {first}"
        return [
            f"{gives} for {price}: {each}, {done}.",
            f"{gives} for {price}: {each}.",
            f"{gives} for {price}: {each.replace(' to each', '')}.",
            f"{gives} for {price}: {done}.",
        ]
    several = f"{_running(option):.0f} at once{in_engine(option)}"
    off = _thoughtless_too(advice, option)
    ways = [f"{gives}, {several}: {done}, {price}.", f"{gives}: {done}, {price}."]
    return [*(f"{way} {words}" for words in off for way in ways), *ways]


def _thoughtless_too(advice: Comparison, option: Option) -> list[str]:
    """Words on the time of a batch without thinking, where the model can stop; empty for other
    work.
    """
    stops = advice.case.demand.wants.may_stop_thinking and option.use.money.thinking_tokens > 0
    if not stops or advice.case.demand.crowd is not Crowd.BATCH:
        return []
    return [f"With thinking off, {_taken_by(advice, thinking_off(option))}."]


def _running(option: Option) -> float:
    """Answers that are written at the same time."""
    waiting = option.speed.waiting if option.speed else 0.0
    return float(option.use.work.users) - waiting


def _serving_by_setting(advice: Comparison) -> list[str]:
    """Free setting that serves every user, with its speed and wait."""
    option = advice.decision.option
    if option is None:
        return []
    each = _to_each(option, advice)
    name = plain(option.name)
    return [f"Free: {name}, {each}.", f"Free: {name}, enough for all."]


def _to_each(option: Option, advice: Comparison) -> str:
    """Speed for each of several users, and their wait."""
    users = f"{option.use.work.users:,.0f} users"
    speed = f"{number(option.decode)} tokens a second to each of {users}{in_engine(option)}"
    return f"{speed}, the first word after {duration(advice.case.demand.first_word(option))}"


def _serving(advice: Comparison) -> list[str]:
    """Sentences on the way that serves every user, with its speed, wait and price."""
    option = advice.decision.option
    if option is None or option.kind is OptionKind.API or option.speed is None:
        if option is None:
            return []
        return _by_api(advice, option)
    users = f"{option.use.work.users:,.0f} users"
    each = _to_each(option, advice)
    month = f"{money_words(option.monthly or 0.0)} a month"
    name = plain(option.name).removesuffix(BY_THE_MONTH)
    if option.kind is OptionKind.RENT:
        rented = f"{name}, rented {hours_rented(option)}: {month}"
        enough = f"enough for {users}{in_engine(option)}"
        ways = [f"{rented}, {each}.", f"{rented}, {enough}.", f"{rented}."]
        api = advice.decision.beside
        if api is None:
            return ways
        return _after_api(advice, api, ways)
    price = price_at_once(option)
    gives = f"{name}{after_name(option, ' in its place')}"
    speed = f"{number(option.decode)} tokens a second to each{in_engine(option)}"
    short = each.replace(f" of {users}", "").replace(" tokens a second", " tokens/s")
    return [
        f"{gives} for {price}: {each}.",
        f"{gives} for {price}: {each.replace(f' of {users}', '')}.",
        f"{gives} for {price}: {short}.",
        f"{gives} for {price}: {speed}.",
        f"{gives} for {price}, enough for {users}{in_engine(option)}.",
    ]


def _thoughtless(advice: Comparison) -> list[str]:
    """Thinking off, alone or with a free setting, and the best that is free beside it."""
    option = advice.decision.option
    if option is None:
        return []
    off = _answered_without(option)
    if option.name != STOPS_THINKING:
        return [off]
    step = advice.case.step
    another = advice.another_model
    if step is not None and step.speed is not None:
        free = f"{briefly(step.name)}, {number(step.speed.decode)} tokens a second"
        return [f"{off.removesuffix('.')}, or {free}.", off]
    if another is not None and another.speed.decode >= BESIDE_FROM * advice.options[0].decode:
        return [*(f"{off} {words}" for words in _beside(another, advice)), off]
    return [off]


def _answered_without(option: Option) -> str:
    """Time of an answer with thinking off."""
    return f"Free: {briefly(option.name)}, {duration(option.answer_seconds)} an answer."


BESIDE_FROM = 1.5  # factor of speed from which another model is named beside a free setting


def _by_api(advice: Comparison, option: Option) -> list[str]:
    """An API, its speed where it is published, and its month; of a session also each task, as a
    reply is one of its turns.
    """
    provider, _, name = option.name.partition(": ")
    speed = f", {number(option.speed.decode)} tokens a second" if option.speed else ""
    month = f"{money_words(option.monthly or 0.0)} a month"
    replies = float(option.use.replies)
    if advice.task is not None and replies:
        turns = advice.task.session.turns
        task = money_words(turns * (option.monthly or 0.0) / replies)
        day = f"{number(option.use.money.replies_per_day)} turns a day"
        month = f"{task} a task of {turns} turns, {month} at {day}"
    if advice.case.demand.crowd is Crowd.TEAM:
        month = f"{month} at {number(option.use.money.replies_per_day)} answers a day of all"
    if option.price.typed:
        return [f"{option.name} answers for {month}{speed}."]
    who = f"An API answers for {month}{speed}"
    return [f"{who}: {name or provider} by {provider}.", f"{who}."]


def _in_place_of_rent(advice: Comparison, api: Option) -> list[str]:
    """An API that costs far less than the machine that is rented."""
    rent = money_words(advice.options[0].monthly or 0.0)
    month = money_words(api.monthly or 0.0)
    answers = f"An API answers for {month} a month, where the rent is {rent}"
    booked = f"An API answers for {month} a month, rent{_booked(advice.options[0])} is {rent}"
    if advice.case.demand.wants.texts is Texts.ANYWHERE:
        return [f"{booked}.", f"{answers}."]
    keep = "where your texts must stay with you, keep what you have."
    unless = "unless your texts must stay with you."
    return [f"{booked}; {keep}", f"{booked}, {unless}", f"{answers}, {unless}"]


def _booked(kept: Option) -> str:
    """Hours of a day for which the present machine is rented."""
    if kept.speed is None:
        return ""
    hours = float(kept.use.rented_hours(kept.speed)) / max(kept.use.money.days, 1.0)
    return f" for {hours_rented(replace(kept, hours_rented=hours))}"


def _called_too(advice: Comparison, seconds: float) -> list[str]:
    """Sentences on an API beside the decision, where texts may leave and it costs less than the
    machine's power or answers notably sooner than in a time [s]; none without one.
    """
    api = next(iter(advice.case.allowed_apis), None)
    if api is None:
        return []
    sooner = api.speed is not None and seconds >= SOONER * api.answer_seconds
    if not sooner and (api.monthly or 0.0) >= _power(advice.options[0]):
        return []
    return [f"An API answers for {money_words(api.monthly or 0.0)} a month."]


SOONER = 2.0  # factor of time from which an API, or thinking off, is named beside a decision


def _unless_texts_stay(api: Option) -> str:
    month = money_words(api.monthly or 0.0)
    return f"An API costs {month} a month, unless your texts must stay with you."


def _after_api(advice: Comparison, api: Option, ways: Sequence[str]) -> list[str]:
    """Sentences on a rent, each after the price of an API, of a team with the answers that it is
    for.
    """
    month = f"{money_words(api.monthly or 0.0)} a month"
    where = ", unless your texts must stay with you"
    short = ", if your texts may leave"
    if advice.case.demand.wants.texts is Texts.ANYWHERE:
        where = short = ""
    prices = [f"An API costs {month}{where}.", f"API: {month}{short}."]
    if advice.case.demand.crowd is Crowd.TEAM:
        answers = f" for {number(api.use.money.replies_per_day)} answers a day"
        prices.insert(0, f"An API costs {month}{answers}{where}.")
    return [f"{price} {way}" for price in prices for way in (*ways, *in_short(advice))]


def _switched_off(advice: Comparison) -> list[str]:
    """Sentence on the power that the machine takes while nobody asks."""
    kept = advice.options[0]
    power = _power(kept)
    idle = idle_usd(kept)
    off = "switch it off, or let it sleep, between answers"
    called = [
        f"Power: {money_words(power)} a month; {off}. {words}" for words in _called_too(advice, 0.0)
    ]
    return [
        *called,
        f"Keep it, but {off}: {money_words(idle)} of {money_words(power)} for power a month goes "
        "while nobody asks.",
        f"Power: {money_words(power)} a month; {off}.",
    ]


def _sold(advice: Comparison) -> list[str]:
    """Sentences on cards that could be sold, and on those that do the same."""
    option = advice.decision.option
    owned = advice.question.machine.gpus
    if option is None or option.speed is None:
        return []
    left = money_words(-(option.upfront or 0.0))
    power = _power(advice.options[0])
    called = _called_too(advice, 0.0)
    speed = number(option.speed.decode)
    if option.name == owned[0].name:
        sell = f"Sell one {option.name}: about {left} after fees. One alone writes {speed}."
        spent = f"Power now: {money_words(power)} a month."
        return [
            *(f"{sell} {spent} {words}" for words in called),
            *(f"{sell} {words}" for words in called),
            sell,
        ]
    return [f"Sell it: {plain(option.name)} in its place writes {speed}, and {left} are left over."]


SAID: Mapping[str, Callable[[Comparison], list[str]]] = {
    "in time": _in_time,
    "side by side": _several,
    "in time without thought": _thoughtless_in_time,
    "finishes": _finishing,
    "served by a setting": _serving_by_setting,
    "serves all": _serving,
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


def _of_model(row: Runnable, advice: Comparison) -> list[str]:
    """Another model in place of the one asked for."""
    if row is advice.closest:
        return _in_words(NEAREST, row, advice)
    return _in_words(AS_HIGH, row, advice)


def _after_lossless(advice: Comparison, ways: list[str]) -> list[str]:
    """Sentences on another model, the first of them with a free setting that loses nothing and with
    which the one asked for is notably faster.
    """
    step = advice.case.step
    if step is None or step.loss:
        return ways
    free = f"Free: {briefly(step.name)}, {reached(step, advice.options[0])}."
    return [*(f"{free} {way}" for way in ways), *ways]


def _beside(row: Runnable, advice: Comparison) -> list[str]:
    """Another model, named beside what is decided."""
    return _in_words(BESIDE, row, advice)


def _in_words(sentences: Iterable[str], row: Runnable, advice: Comparison) -> list[str]:
    name = row.model.name.rpartition("/")[2]
    speed = number(row.speed.decode)
    rated = row.standing_beside(advice.question.model.published_as).value
    return [sentence.format(name, row.model.format, speed, rated) for sentence in sentences]


def faster_runtime(advice: Comparison) -> list[str]:
    """Sentences on another runtime that is notably faster than the chosen one; none without one."""
    faster = advice.faster_elsewhere
    if faster is None:
        return []
    gives = f"{faster.runtime.name} would give {number(decode_tps(faster))} here"
    demand = advice.case.demand
    if demand.crowd in (Crowd.PEOPLE, Crowd.BATCH):
        return [f"{gives}."]
    option = replace(advice.options[0], speed=speed_of(faster))
    first = f"the first word after {duration(demand.first_word(option))}"
    each = f"{gives} to each of {option.use.work.users:,.0f} users, {first}"
    if demand.crowd is Crowd.TEAM:
        return [f"{each}.", f"{gives}."]
    return [f"{each}, busy {percent(demand.load(option))} of the time.", f"{each}.", f"{gives}."]


def _free(advice: Comparison, option: Option) -> list[str]:
    """Free setting, and beside it an API or another model; of an agent, the setting that saves
    most of a task.
    """
    given = _given(option, advice.options[0]) or "more"
    free = f"A free change gives {given}: {plain(option.name)}."
    shorter = f"Free: {briefly(option.name)}, {given}."
    beside = [
        *_called_too(advice, option.answer_seconds),
        *_also_free(advice, option),
    ]
    both = (f"{way} {words}" for words in beside for way in (free, shorter))
    return [*_task_after(advice, option), *both, free, shorter]


def _task_after(advice: Comparison, option: Option) -> list[str]:
    """Task of an agent after a free setting, where it is the one that saves most of it."""
    task = advice.task
    best = None if task is None else task.notable
    if task is None or best is None or best.edit.words != option.name:
        return []
    return [f"Free: {briefly(option.name)}, a task in {duration(task.after(best))}."]


def _also_free(advice: Comparison, option: Option) -> list[str]:
    """Words on another model that is rated as high and notably faster than an option; empty without
    one.
    """
    another = _faster_model(advice, option.decode)
    if another is None:
        return []
    return _beside(another, advice)


def _faster_model(advice: Comparison, decode: float) -> Runnable | None:
    """Another model rated as high that writes notably faster than a speed [tokens/s]; None without
    one.
    """
    another = advice.another_model
    if another is None or another.speed.decode < BESIDE_FROM * decode:
        return None
    if another.standing_beside(advice.question.model.published_as) is Standing.WEAKER:
        return None
    return another


def _with_free(bought: Sequence[str], advice: Comparison, then: Sequence[str] = ()) -> list[str]:
    """Sentences on a purchase, the first of them with what is free and comes before it; `then` is
    the purchase where both have little room.
    """
    free = _free_first(advice)
    shortest = [f"{words} {way}" for words in free[1:] for way in then]
    full = bought
    if then:
        full = bought[:-1]  # the last is as short, in the other order
    return [*(f"{way} {words}" for words in free for way in full), *shortest, *bought]


def _then(option: Option) -> list[str]:
    """Shortest sentences on a purchase behind what is free; none for what is rented."""
    if not is_bought(option):
        return []
    then = f"Then {name_in_place(option)}"
    usd = money_words(option.full_price)
    return [f"{then}, {usd}: {_tps(option)}.", f"{then} for {usd}."]


def _tps(option: Option) -> str:
    """Speed of an option in a short line."""
    return f"{number(option.decode)} tokens/s"


def _free_first(advice: Comparison) -> list[str]:
    """Sentences on a free setting or model that is notably better than now, before a purchase; none
    without one.
    """
    case = advice.case
    kept = advice.options[0]
    if advice.task is not None and advice.task.notable is not None:
        return []  # a sentence of its own says what shortens a task
    steps = [each for each in (case.stopped, case.step) if each and not reads_drive(each)]
    for step in steps:
        if kept.answer_seconds >= BESIDE_FROM * step.answer_seconds:
            free = f"Free first: {briefly(step.name)}, {reached(step, kept)}."
            short = free.replace(FIRST_WORD, "begins after")
            short = short.replace(" tokens a second", " tokens/s")
            return [free, short, first_of(step)]
    another = _faster_model(advice, kept.decode)
    if another is None:
        return []
    name = another.model.name.rpartition("/")[2]
    speed = number(another.speed.decode)
    return [
        f"Free first: {name}, {speed} tokens a second.",
        f"Free first: {name}, {speed} tokens/s.",
        f"Free first: {name}.",
    ]


def first_of(step: Option) -> str:
    """Name of a free setting that comes before a purchase, without its effect."""
    return f"Free first: {briefly(step.name)}."


def reached(step: Option, kept: Option) -> str:
    """First word with a free setting where that comes sooner, else the time of an answer where the
    prompt or thinking is what one waits for; its speed elsewhere.
    """
    stops = step.use.money.thinking_tokens < kept.use.money.thinking_tokens
    given = _given(step, kept)
    if stops or (begins_late(kept) and not given.startswith(FIRST_WORD)):
        return f"an answer in {duration(step.answer_seconds)}"
    return given


def _bought(option: Option, advice: Comparison, decode: float) -> list[str]:
    """Sentences on a purchase: its price at once, its speed, what it saves beside what is free, and
    when it is worth that.
    """
    kept = advice.options[0]
    speed = _given(option, kept)
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
        return [
            f"{name} gives {speed} for {price}{dated(option)}.",
            f"{name}, {price}: {_tps(option)}.",
        ]
    both = before_and_after_sale(option, " with yours sold")
    short = f"{name}{added}, {both}: {_tps(option)}."
    paid = price_at_once(option)
    if usd < 0:
        faster = f"{name}{added} gives {speed}, with {paid}"
    else:
        faster = f"{name}{added} gives {speed} for {paid}"
    if kept.is_rented:
        month = f"{faster}, in place of {money_words(kept.monthly or 0.0)} of rent a month"
        return [f"{month}.", f"{faster}.", short]
    answered = _answered(option, kept)
    compared = advice.beside_free(option)
    saved = compared.hours_saved
    worth = compared.worth_from
    if saved is None or worth is None or saved <= 0 or not decode:
        return [f"{faster}{answered}.", f"{faster}.", short]
    if saved >= 1:
        hours = f"{number(saved)} hours"
    else:
        hours = f"{60 * saved:.0f} minutes"
    waiting = f"{hours} of waiting a month"
    if advice.case.step is not None:
        waiting = f"{waiting} beside {briefly(advice.case.step.name)}"
    when = f"worth it if an hour is worth more than {of_an_hour(worth)} to you"
    return [
        f"{faster} and saves {waiting}: {when}.",
        f"{faster}{answered or f': {when}'}.",
        f"{faster}.",
        f"{name}{added} gives {speed} for {both}{stated_price(option)}.",
        short,
    ]


def _given(option: Option, kept: Option) -> str:
    """Speed of an option; where the first word comes notably sooner, and is most of the answer now
    or all that changes, when.
    """
    then = option.speed
    now = kept.speed
    if then is None:
        return ""
    if now is not None and begins_late(kept) and now.first_token >= NOTABLY * then.first_token:
        mostly = now.first_token >= MOSTLY * kept.answer_seconds
        if mostly or then.decode < NOTABLY * now.decode:
            return f"{FIRST_WORD} {duration(then.first_token)}"
    return f"{number(then.decode)} tokens a second"


def _answered(option: Option, kept: Option) -> str:
    """Time of an answer with a purchase; empty where little of the present time goes to the prompt
    or to thinking.
    """
    waited = max(kept.thinking_seconds, kept.speed.first_token if kept.speed else 0.0)
    if waited < LATE or option.speed is None:
        return ""
    return f": an answer in {duration(option.answer_seconds)}"


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
    return f"{KEEP}{paid}"
