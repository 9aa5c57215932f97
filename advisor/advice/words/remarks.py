"""Sentences beside a verdict: on free settings, on the place of the model before and after a
purchase, on limits, on idle cards and on cheaper purchases with a drawback.
"""

from collections.abc import Iterator

from advisor.advice.comparison import Comparison
from advisor.advice.decision import ASKED_SPEED, for_all_at_once
from advisor.advice.edits.changes import SLOT_FOR_EACH
from advisor.advice.prices.price import used_value
from advisor.advice.situation import STOPS_THINKING
from advisor.advice.table.choice import BOUGHT, NOTABLE, is_bought, reads_drive
from advisor.advice.table.demand import Crowd
from advisor.advice.table.option import Option, OptionKind, Question
from advisor.advice.table.rules import many_run
from advisor.advice.words.phrases import (
    after_name,
    briefly,
    duration,
    name_in_place,
    plain,
    price_at_once,
    read_there,
)
from advisor.advice.words.ways import FIRST_WORD, NOTABLY, SOONER, first_of, reached
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Tier
from advisor.formatting import counted
from advisor.formatting import money as money_words
from advisor.machine.machine import Form, Gpu
from advisor.model.thinking import thinking_of
from advisor.request.wants import SERVED_TPS, Condition, Texts
from advisor.runtimes import runtime
from advisor.runtimes.compare import as_run
from advisor.units import GIB, memory, number


def remarks(advice: Comparison, way: str) -> Iterator[str]:
    """Sentences beside a verdict whose second line says a way out; most verdicts have none."""
    yield from _effect_of_the_free(advice, way)
    yield from _before_a_purchase(advice, way)
    yield from _on_thinking(advice, way)
    yield from _slots(advice)
    yield from _idle(advice)
    yield from _with_a_drawback(advice)


def on_purchases(advice: Comparison, way: str) -> Iterator[str]:
    """Sentences on purchases beside a free decision, and on the place of the model after a
    purchase.
    """
    yield from _beside_what_is_free(advice)
    yield from _of_purchase(advice, way)
    yield from _load(advice)
    yield from _below_asked(advice)
    yield from _beyond(advice)
    yield from _api_in_place(advice)


def _api_in_place(advice: Comparison) -> Iterator[str]:
    """API beside a purchase, where texts may leave and it does the work."""
    option = advice.decision.option
    api = next(iter(advice.case.allowed_apis), None)
    if option is None or not is_bought(option) or api is None:
        return
    if advice.case.demand.met_by(api):
        month = money_words(api.monthly or 0.0)
        yield f"With nothing bought, an API answers for {month} a month: {api.name}."


def _load(advice: Comparison) -> Iterator[str]:
    """Load for which a team's machines are counted, and what is not on record of it."""
    option = advice.decision.option
    if advice.case.demand.crowd is not Crowd.TEAM or option is None or option.is_free_setting:
        return
    work = option.use.work
    users = float(work.users)
    day = advice.question.money.replies_per_day
    yield (
        f"Counted for {users:,.0f} users who ask at the same time, prompts of "
        f"{number(float(work.prompt))} tokens and answers of {number(float(work.output))}; "
        f"{number(day)} answers a day, {number(day / users)} of each."
    )
    if not is_bought(option):
        return
    whole = for_all_at_once(advice.case)
    if option in advice.case.nearly and whole is not None and whole is not option:
        within = duration(advice.case.demand.within)
        served = f"{number(SERVED_TPS)} tokens a second and a first word within {within}"
        name = plain(whole.name)
        if name.startswith("New "):
            name = f"a {name[0].lower()}{name[1:]}"
        each = f"{name}{after_name(whole, ' in place of yours')}"
        price = money_words(whole.full_price)
        yield f"Where all of them ask at the same moment, {served} for each want {each}, {price}."
    from advisor.advice.fleets import SLOTS, queues  # with simulations, loaded only for teams

    if users > SLOTS and not queues(option):
        engine = option.speed.runtime if option.speed else "it"
        yield f"No run of so many users at once in {engine} is on record: try it with some first."


def _below_asked(advice: Comparison) -> Iterator[str]:
    """Cheapest purchase that writes as fast as is asked for, where the decision does not; that
    no sound one does, beside a slower one, with the least odd that does.
    """
    option = advice.decision.option or advice.options[0]
    wanted_tps = advice.case.demand.wants.user_tps
    wish = f"the {number(wanted_tps or 0.0)} tokens a second that you ask for"
    if advice.decision.rule == ASKED_SPEED and not option.pays:
        yield f"It is for {wish}: the waiting that it saves does not repay its price."
    if wanted_tps is None or option.kind is OptionKind.API or option.decode >= wanted_tps:
        return
    able = [
        each
        for each in advice.options[1:]
        if is_bought(each) and each.dated and each.decode >= wanted_tps
    ]
    had = advice.question.machine.discrete
    least = min(able, key=lambda each: _least_odd(each, had), default=None)
    then = "" if least is None else f"{name_in_place(least)} for {money_words(least.full_price)}"
    if least is not None and not least.odd:
        yield f"For {wish}: {then}, {number(least.decode)}."
    elif is_bought(option):
        yield f"Nothing sound within your limits reaches {wish}."
    if least is not None and least.odd and is_bought(option):
        yield f"With a drawback: {then}, {number(least.decode)} tokens a second. {least.odd[0]}"


def _least_odd(option: Option, had: tuple[Gpu, ...]) -> tuple[bool, bool, int, int, float]:
    """Sort key of purchases beside the present cards: whether an expert finds something odd, few
    run such cards, how much is odd, number of cards, price at once [USD].
    """
    odd = len(option.odd)
    few_run = not many_run(option.bought, had)
    return odd > 0, few_run, odd, len(option.bought), option.paid_first


def _beyond(advice: Comparison) -> Iterator[str]:
    """Least that holds the model asked for, where nothing within a budget does."""
    option = advice.case.beyond
    budget = advice.case.demand.wants.max_usd
    if option is None or budget is None or advice.decision.option is not None:
        return
    if advice.decision.model is None:
        return  # the second line says it
    least = f"{plain(option.name)} for {money_words(option.full_price)}"
    model = advice.question.model.title.rpartition("/")[2]
    within = f"Nothing within {money_words(budget)} holds {model} itself"
    yield f"{within}: the least that does is {least}."


def _effect_of_the_free(advice: Comparison, way: str) -> Iterator[str]:
    """What a free setting before a purchase gives, where the second line has no room for it."""
    for step in (advice.case.stopped, advice.case.step):
        if step is not None and first_of(step) in way:
            yield f"With {briefly(step.name)}, free: {reached(step, advice.options[0])}."
            return


def _before_a_purchase(advice: Comparison, way: str) -> Iterator[str]:
    """Free setting that shortens a task of an agent by much, where the second line does not name
    it.
    """
    task = advice.task
    best = None if task is None else task.notable
    if task is None or best is None:
        return
    decided = advice.decision.option
    free = decided is not None and decided.is_free_setting
    same = decided is not None and decided.name == best.edit.words
    if same and (advice.faster_elsewhere is None or briefly(best.edit.words) in way):
        yield from _further_setting(advice)
        return
    then = f"a task in {duration(task.after(best))} instead of {duration(task.seconds)}"
    start = "Free" if free or decided is None else "Free first"
    yield f"{start}: {plain(best.edit.words)}, {then}."


def _further_setting(advice: Comparison) -> Iterator[str]:
    """Free setting with which the model writes notably faster, beside one that keeps an agent's
    cache.
    """
    step = advice.case.step
    faster = step is not None and step.decode >= NOTABLE * advice.options[0].decode
    if step is not None and faster and step is not advice.decision.option:
        speed = f"{number(step.decode)} instead of {number(advice.options[0].decode)}"
        yield f"Free too: {briefly(step.name)}, {speed} tokens a second."


WITHOUT_THINKING = "Without thinking, hard maths and code get worse, a chat hardly."
"""What thinking off costs: Qwen3-32B has 31.0 without and 81.4 with it in AIME'24, 31.3 and 65.7 in
LiveCodeBench, 92.8 and 93.8 in Arena-Hard (https://arxiv.org/abs/2505.09388, table 22)."""


def _on_thinking(advice: Comparison, way: str) -> Iterator[str]:
    """Sentences on thinking off and what it costs, where the second line does not name it.

    For a model that always thinks: on the setting that makes its thinking shorter, where one waits
    for it.
    """
    kept = advice.options[0]
    stopped = advice.case.stopped
    waits = advice.waits_for_thinking
    if stopped is not None and STOPS_THINKING in way:
        yield WITHOUT_THINKING
    elif stopped is not None and waits and kept.answer_seconds >= SOONER * stopped.answer_seconds:
        then = duration(stopped.answer_seconds)
        free = f"Free: {briefly(stopped.name)}, an answer in {then}."
        yield f"{free} {WITHOUT_THINKING}"
    model = advice.question.model
    row = thinking_of(model.published_as, model.name)
    if waits and row is not None and row.shorter and not row.can_stop:
        yield f"Free: {row.shorter} makes its thinking shorter."


SLOTS_OF = {"ollama": "OLLAMA_NUM_PARALLEL={}", "llama.cpp": "-np {}"}
"""Setting of the number of answers at once, by runtime: Ollama has one where it is open
(https://docs.ollama.com/faq, 2026-08-21), llama-server a few (tools/server/README.md)."""


def _slots(advice: Comparison) -> Iterator[str]:
    """Setting with which a team's users, or agents who are to get a slot each, are answered at once
    in the present machine's engine.
    """
    best = advice.best
    setting = None if best is None else SLOTS_OF.get(best.runtime.key)
    if best is None or setting is None or advice.elsewhere:
        return
    decided = advice.decision.option
    if advice.task is not None and decided is not None and decided.name.startswith(SLOT_FOR_EACH):
        slots = setting.format(f"{advice.task.session.agents:.0f}")
        yield f"{slots} gives each agent a slot; the context counts for all of them together."
    elif advice.case.demand.crowd is Crowd.TEAM and not float(best.waiting):
        slots = setting.format(f"{float(best.work.users):.0f}")
        yield f"Free: {slots} is a slot for each user; with fewer slots they wait for one another."


def _beside_what_is_free(advice: Comparison) -> Iterator[str]:
    """Purchase that is named beside a decision that costs nothing."""
    option = advice.decision.within
    if option is None:
        return
    name = name_in_place(option, " in place of yours")
    speed = f"{number(option.decode)} tokens a second"
    decided = advice.decision.option
    before = decided if decided is not None and decided.is_free_setting else advice.options[0]
    if before.speed is not None:
        speed = f"{number(option.decode)} instead of {number(before.decode)} tokens a second"
    yield f"{_why_beside(advice)}: {name}, {speed} for {price_at_once(option)}."


def _why_beside(advice: Comparison) -> str:
    """Why a purchase is named beside a decision that costs nothing."""
    decision = advice.decision
    budget = advice.case.demand.wants.max_usd
    if decision.model is not None:
        return f"For {advice.question.model.title.rpartition('/')[2]} itself"
    if decision.within is not advice.case.choice.safe:
        if budget is None:
            return "To keep its thinking"
        return f"Within {money_words(budget)}"
    return "If that is not enough"


def _of_purchase(advice: Comparison, way: str) -> Iterator[str]:
    """Sentences on a purchase: where the model lies with it and now, the speed that the second line
    leaves out, the parts in its price, its limits.
    """
    decided = advice.decision.option
    bought = advice.decision.within
    if decided is not None and is_bought(decided):
        bought = decided
    option = bought or decided
    if option is None or option.speed is None or advice.case.demand.crowd is not Crowd.PEOPLE:
        return
    told = [_placed(advice, option)]
    if bought is not None:
        first = _task_then(advice, bought) or _first_word(advice, bought, way)
        if bought is decided:
            told.append(_speed_then(bought, way))
        told += [first, _in_parts(advice, bought), _parts(advice.question, bought)]
        told.append(in_case(advice.question.ownership.form, bought))
        told.append(_limits(advice, bought))
    sentences = " ".join(filter(None, told))
    if sentences:
        yield sentences


def _placed(advice: Comparison, option: Option) -> str:
    """Sentence on where the model lies with an option, and where it lies now."""
    speed = option.speed
    if option.kind not in (*BOUGHT, OptionKind.CHANGE) or speed is None or reads_drive(option):
        return ""
    now = "" if advice.elsewhere else _outside(advice.best)
    if speed.whole:
        return _whole(advice, option, now)
    if option.is_free_setting:
        return ""
    if reads_drive(advice.options[0]):
        return f"Then memory holds all of it; now {now}."
    left = _left_in_ram(advice, option)
    if left and now.startswith(f"{left} of it"):
        return f"As now, {left} of it stay in RAM."
    then = f"Then {left} of it stay in RAM" if left else "Then a part of it stays in RAM"
    if now:
        return f"{then}; now {now}."
    return f"{then}."


def _whole(advice: Comparison, option: Option, now: str) -> str:
    """That the GPUs hold the whole model with an option; empty for a free setting where they do
    now.
    """
    then = f"Then the whole model lies in {_memory_of(advice, option)}"
    if now:
        return f"{then}; now {now}."
    if option.is_free_setting:
        return ""
    return f"{then}."


def _memory_of(advice: Comparison, option: Option) -> str:
    """Memory of the GPUs with an option."""
    machine = option.machine or advice.question.machine
    if machine.unified:
        return f"{float(machine.host.memory.value) / GIB:,.0f} GB of shared memory"
    count = len(machine.gpus) + (len(machine.idle) if option.undoes else 0)
    if count == 1:
        return "the GPU"
    return f"the {count} GPUs"


def _outside(best: Estimate | None) -> str:
    """Part of the model that lies outside the GPU now; empty where none does."""
    if best is None:
        return "it does not run"
    if best.strategy is PlacementStrategy.NVME_OFFLOAD:
        return f"{memory(read_there(best))} of it are read from the drive"
    ram = sum(map(float, best.held.get(Tier.RAM, ())))
    if best.strategy is not PlacementStrategy.CPU_OFFLOAD or ram < LEAST_NAMED:
        return ""
    if best.machine.gpus:
        return f"{memory(ram)} of it lie in RAM"
    return "all of it lies in RAM"


LEAST_NAMED = 1e8  # part outside the GPU from which it is named [B]


def _left_in_ram(advice: Comparison, option: Option) -> str:
    """Part of the model that stays in RAM with a purchase, in the engine that runs it now."""
    best = advice.best
    speed = option.speed
    if best is None or speed is None or option.machine is None:
        return ""
    then = best.again(machine=option.machine, strategy=speed.strategy)
    if then.refusal or then.placement is None:
        return ""
    return memory(sum(map(float, then.held.get(Tier.RAM, ()))))


def _task_then(advice: Comparison, option: Option) -> str:
    """Time of an agent's task with a purchase, and with the free setting that then shortens it;
    empty for a request that is no session, or where the task does not fit.
    """
    task = advice.task
    speed = option.speed
    if task is None or speed is None or option.machine is None:
        return ""
    from advisor.advice.task import task_of  # loaded only for a session

    engine = runtime(speed.runtime)
    model = as_run(advice.question.model, engine, option.machine)
    reached = estimate(model, option.machine, option.use.work, engine, speed.strategy)
    then = task_of(reached, task.session)
    if then is None:
        return ""
    takes = duration(then.seconds)
    best = then.notable
    if best is not None:
        setting = briefly(best.edit.words).partition(":")[0]
        takes = f"{takes}, {duration(then.after(best))} with {setting},"
    return f"A task then takes {takes} instead of {duration(task.seconds)}."


def _speed_then(option: Option, way: str) -> str:
    """Speed with a purchase, where the second line has no room for it."""
    speed = number(option.decode)
    if f"{speed} tokens" in way:
        return ""
    return f"It writes {speed} tokens a second."


def _first_word(advice: Comparison, option: Option, way: str) -> str:
    """Wait for the first word before and after, where it is long now and notably shorter then, and
    the second line does not say it.
    """
    now = advice.options[0].speed
    then = option.speed
    if now is None or then is None or f"{FIRST_WORD} {duration(then.first_token)}" in way:
        return ""
    if now.first_token < LONG_FIRST or now.first_token < NOTABLY * then.first_token:
        return ""
    before = duration(now.first_token)
    return f"The first word comes after {duration(then.first_token)} instead of {before}."


def _in_parts(advice: Comparison, option: Option) -> str:
    """Setting of prompts with which a purchase is counted; empty for the present one."""
    parts = option.use.work.ubatch
    if parts == advice.question.work.ubatch:
        return ""
    return f"It is counted with prompts in parts of {float(parts):,.0f} tokens."


def in_case(form: Form, option: Option) -> str:
    """Remark on the power and height of a card for an office PC; empty for other machines."""
    if option.kind is OptionKind.MACHINE or not option.bought:
        return ""
    watts = sum(card.board_power or 0.0 for card in option.bought)
    if form is Form.SLIM:
        return f"Take it in half height, as the case needs: its {watts:,.0f} W come from the slot."
    if form is Form.OFFICE:
        return f"Its {watts:,.0f} W come from the slot: such a PC's supply has no plug for more."
    return ""


LONG_FIRST = 5.0  # wait for the first word from which a purchase's is named beside it [s]


def _parts(question: Question, option: Option) -> str:
    """Parts that the price of a purchase holds beside cards, and what leaves for them."""
    if option.kind is OptionKind.CHANGE:
        present = f"{float(question.machine.host.memory.value) / GIB:,.0f} GB"
        bought = option.price.note.partition(" $")[0]
        return f"Bought: {bought}, in place of the present modules of {present}."
    if option.kind is OptionKind.MACHINE:
        if option.parts:
            return "Its price is of the whole PC."
        return ""
    names = [
        f"{part.name}, {money_words(part.usd)}" for part in option.parts if part.usd is not None
    ]
    if names:
        return f"Its price holds {' and '.join(names)}."
    return ""


def _limits(advice: Comparison, option: Option) -> str:
    """Limits that somebody states, and how a purchase keeps them."""
    wants = advice.case.demand.wants
    kept = []
    if wants.max_usd is not None:
        paid = money_words(option.full_price)
        if option.paid_first < option.full_price:
            paid = f"{paid} less {money_words(option.sold)} for yours,"
        kept.append(f"{paid} of {money_words(wants.max_usd)}")
    if wants.max_watts is not None:
        kept.append(f"{option.card_watts:,.0f} of {wants.max_watts:,.0f} W")
    if wants.maker:
        kept.append(f"by {wants.maker}")
    if wants.condition is not Condition.ANY:
        kept.append(str(wants.condition))
    if wants.texts is Texts.HOUSE:
        kept.append("nothing leaves the house")
    if kept:
        return f"Your limits are kept: {', '.join(kept)}."
    return ""


def _idle(advice: Comparison) -> Iterator[str]:
    """Cards of one's own that the best placement leaves out."""
    best = advice.best
    decided = advice.decision.option
    buys = decided is not None and is_bought(decided)
    owned = advice.question.ownership.owned and not advice.elsewhere
    if best is None or best.arrangement is None or buys or not owned:
        return
    left = [gpu.name for gpu in best.arrangement.machine.discrete]
    for gpu in best.arrangement.used.gpus:
        if gpu.name in left:
            left.remove(gpu.name)
    if not left:
        return
    idle = " + ".join(counted(left.count(name), name) for name in dict.fromkeys(left))
    usd = used_value(tuple(left), advice.question.money.own_price).usd
    sold = f", or sell it for about {money_words(usd)}" if usd else ""
    yield f"Leave {idle} out of the run, where it stands idle: switch it off{sold}."


def _with_a_drawback(advice: Comparison) -> Iterator[str]:
    """Purchase for notably less, or within a budget, that an expert finds odd."""
    option = advice.decision.drawback
    if option is None:
        return
    decided = advice.decision.option
    bought = decided is not None and is_bought(decided)
    budget = money_words(advice.case.demand.wants.max_usd or 0.0)
    start = "Cheaper, with a drawback" if bought else f"Within {budget}, with a drawback"
    name = name_in_place(option, " in place of yours")
    speed = f"{number(option.decode)} tokens a second"
    yield f"{start}: {name}, {speed} for {price_at_once(option)}. {option.odd[0]}"
