"""Text output of `advise`."""

from collections.abc import Iterator, Sequence

from advisor.advice.advise import Advice
from advisor.advice.answer import Answer
from advisor.advice.prices.rows import NO_PRICE
from advisor.advice.table.option import Option, OptionKind, split
from advisor.advice.table.sensitivity import in_question, what_changes
from advisor.advice.words.break_even import pays_when
from advisor.advice.words.verdict import aged, once
from advisor.cli import many_users
from advisor.cli.estimate import estimate_lines
from advisor.errors import InputError
from advisor.formatting import hours, money, tokens_per_second
from advisor.request.money import MoneyInputs


def advice_text(answered: Answer, also: Sequence[str], *, many: bool) -> str:
    """Verdict, estimates, options and changes; for who owns nothing and describes no machine, the
    verdict and the options.

    Args:
        answered: the answer.
        also: further options to print, by a part of their names.
        many: with the part about many users.
    """
    advice, request = answered.advice, answered.nouns.request
    question = advice.question
    option, money = in_question(advice.options), question.money
    changes = what_changes(option, advice.options[0], money) if option else ""
    words = f"{option.name}: {changes}" if option and changes else ""
    somewhere = request.machine is not None or not request.spec.empty
    described = not question.ownership.nothing or somewhere
    title = advice.title if described else f"{question.model.name}, {question.model.format}"
    lines = [title, "", *filter(None, (advice.verdict, words)), ""]
    if described:
        lines += [*estimate_lines(advice.estimates), ""]
    lines += [_option_line(option, money) for option in _printed_options(advice, also)]
    if described and advice.what_ifs:
        lines += ["", *_change_lines(advice)]
    if described and advice.second_machine:
        lines += ["", advice.second_machine.words]
    if many:
        lines += ["", *many_users.text(answered)]
    return "\n".join(lines)


def _change_lines(advice: Advice) -> Iterator[str]:
    """Changes with their gain, and with the price of what they take where one is on record."""
    prices = {option.name: option for option in advice.options if option.kind is OptionKind.CHANGE}
    for what_if in advice.what_ifs:
        option = prices.get(what_if.words)
        cost = what_if.cost
        if option is not None and option.price.usd:
            cost = f"{money(option.price.usd)}{aged(option)}: {option.price.note}"
        yield f"{what_if.words}: {what_if.gain:.2f} times as fast, {cost}"


def _printed_options(advice: Advice, names: Sequence[str]) -> list[Option]:
    """A few options of each kind, and those with one of the names in theirs.

    Raises:
        InputError: a name that no option has.
    """
    shown, rest = split(advice.options)
    for name in names:
        also = [option for option in rest if name.casefold() in option.name.casefold()]
        if not also and not any(name.casefold() in option.name.casefold() for option in shown):
            raise InputError(
                f"No option is called {name[:80]!r}, or it is no faster than what you have; "
                "--json lists all of them."
            )
        shown += [option for option in also if option not in shown]
    return shown


def _option_line(option: Option, use: MoneyInputs) -> str:
    """One option as a line of text."""
    unknown = "speed not known" if option.kind is OptionKind.API else "does not run"
    speed = tokens_per_second(option.speed.decode) if option.speed else unknown
    lost = "" if option.hours_lost is None else f"{hours(option.hours_lost)} lost"
    cost = option.price.note or NO_PRICE
    if option.monthly is not None:
        cost = f"{money(option.monthly)} a month{once(option)}{aged(option)}"
    pays = {True: "pays", False: "does not pay", None: ""}[option.pays]
    when = pays_when(option, use)
    if option.pays is False and when:
        pays = f"{pays} ({when})"
    else:
        pays = " ".join(filter(None, (pays, when)))
    if option.loses_quality:
        pays = option.price.note
    line = f"{option.kind:<8} {option.name:<40} {speed:>18} {lost:>13}  {cost}  {pays}"
    return line.rstrip()
