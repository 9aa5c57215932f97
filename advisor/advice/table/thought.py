"""Options as they answer without thinking, by which purchases are judged where a model can stop."""

from collections.abc import Sequence
from dataclasses import replace

from advisor.advice.table.choice import Choice
from advisor.advice.table.option import Option
from advisor.request.money import MoneyInputs


def without_thinking(options: Sequence[Option]) -> list[Option]:
    """Options, each without tokens of reasoning before its answers."""
    # Most options share the inputs of money, which are checked whenever they are made.
    shared = {id(option.use.money): option.use.money for option in options}
    stopped = {key: replace(money, thinking_tokens=0.0) for key, money in shared.items()}
    off = [_with_money(option, stopped[id(option.use.money)]) for option in options]
    return [off[0], *(replace(option, kept=off[0]) for option in off[1:])]


def _with_money(option: Option, money: MoneyInputs) -> Option:
    return replace(option, use=replace(option.use, money=money))


def as_they_think(choice: Choice, judged: Sequence[Option], options: Sequence[Option]) -> Choice:
    """Choice that was made without thinking, in which the same options think."""
    whole = {id(each): option for each, option in zip(judged, options, strict=True)}

    def same(option: Option | None) -> Option | None:
        if option is None:
            return None
        return whole.get(id(option), option)

    return replace(
        choice, safe=same(choice.safe), cheapest=same(choice.cheapest), free=same(choice.free)
    )
