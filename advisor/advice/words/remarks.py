"""Sentences beside a verdict: what is free before a purchase, cards that stand idle, and a cheaper
purchase with a drawback.
"""

from collections.abc import Iterator

from advisor.advice.comparison import Comparison
from advisor.advice.prices.price import used_value
from advisor.advice.table.choice import BOUGHT
from advisor.advice.words.phrases import duration, name_in_place, plain, price_at_once
from advisor.formatting import counted
from advisor.formatting import money as money_words
from advisor.request.money import discrete
from advisor.units import number


def remarks(advice: Comparison) -> Iterator[str]:
    """Sentences beside a verdict; most verdicts have none."""
    yield from _before_a_purchase(advice)
    yield from _idle(advice)
    yield from _with_a_drawback(advice)


def _before_a_purchase(advice: Comparison) -> Iterator[str]:
    """A free setting that shortens a task of an agent by much, where something is bought for it."""
    task = advice.task
    decided = advice.decision.option
    if task is None or decided is None or decided.is_free_setting:
        return
    best = task.notable
    if best is not None:
        then = f"a task in {duration(task.after(best))} instead of {duration(task.seconds)}"
        yield f"Free first: {plain(best.edit.words)}, {then}."


def _idle(advice: Comparison) -> Iterator[str]:
    """Cards of one's own that the best placement leaves out."""
    best = advice.best
    decided = advice.decision.option
    buys = decided is not None and decided.kind in BOUGHT
    owned = advice.question.ownership.owned and not advice.elsewhere
    if best is None or best.arrangement is None or buys or not owned:
        return
    left = [gpu.name for gpu in discrete(best.arrangement.machine)]
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
    """A purchase for notably less, or within a budget, that an expert finds odd."""
    option = advice.decision.drawback
    if option is None:
        return
    decided = advice.decision.option
    bought = decided is not None and decided.kind in BOUGHT
    budget = money_words(advice.case.demand.wants.max_usd or 0.0)
    start = "Cheaper, with a drawback" if bought else f"Within {budget}, with a drawback"
    name = name_in_place(option, " in place of yours")
    speed = f"{number(option.decode)} tokens a second"
    yield f"{start}: {name}, {speed} for {price_at_once(option)}. {option.odd[0]}"
