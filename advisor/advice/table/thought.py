"""Options as they answer without thinking, by which purchases are judged where a model can stop."""

from collections.abc import Sequence
from dataclasses import replace

from advisor.advice.table.choice import Choice
from advisor.advice.table.option import Option


def without_thinking(options: Sequence[Option]) -> list[Option]:
    """Options, each without tokens of reasoning before its answers."""
    kept = _off(options[0])
    return [kept, *(replace(_off(option), kept=kept) for option in options[1:])]


def _off(option: Option) -> Option:
    money = replace(option.use.money, thinking_tokens=0.0)
    return replace(option, use=replace(option.use, money=money))


def as_they_think(choice: Choice, judged: Sequence[Option], options: Sequence[Option]) -> Choice:
    """Choice among options without thinking, made anew with the same options as they think."""
    whole = {id(each): option for each, option in zip(judged, options, strict=True)}

    def same(option: Option | None) -> Option | None:
        return None if option is None else whole.get(id(option), option)

    return replace(
        choice, safe=same(choice.safe), cheapest=same(choice.cheapest), free=same(choice.free)
    )
