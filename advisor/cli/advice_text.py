"""Text output of `estimate` and `advise`."""

import argparse
from collections.abc import Iterator, Sequence

from advisor.advice.advise import Advice
from advisor.advice.options.option import Option
from advisor.advice.options.table import split
from advisor.advice.options.turning import in_question, what_changes
from advisor.advice.words.verdict import aged
from advisor.cli import many_users
from advisor.cost_model.estimate import Estimate
from advisor.errors import InputError
from advisor.formatting import memory, money, range_of, seconds, tokens_per_second


def estimate_lines(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Estimates as lines of text, in columns."""
    runtime = max((len(each.runtime) for each in estimates), default=0)
    form = max((len(each.model.format) for each in estimates), default=0)
    for each in estimates:
        head = f"{each.runtime:<{runtime}}  {each.strategy:<12}  {each.model.format:<{form}} "
        yield f"{head} {_speed_words(each)}"


def _speed_words(result: Estimate) -> str:
    if result.refusal or result.decode is None or result.first_token is None:
        return result.refusal
    if not bool(result.fits):
        return f"does not fit: {memory(float(result.missing))} short"
    low, high = float(result.decode.low), float(result.decode.high)
    return (
        f"{tokens_per_second(float(result.decode.value)):>16} ({range_of(low, high)}), "
        f"first token {seconds(float(result.first_token.value))}, bound by {result.bottleneck}"
    )


def advice_text(args: argparse.Namespace, advice: Advice) -> str:
    option, money = in_question(advice.options), advice.question.money
    changes = what_changes(option, advice.options[0], money) if option else ""
    words = f"{option.name}: {changes}" if option and changes else ""
    lines = [advice.title, "", *filter(None, (advice.verdict, words)), ""]
    lines += [*estimate_lines(advice.estimates), ""]
    lines += [_option_line(option) for option in _printed_options(advice, args.also)]
    lines += [
        "",
        *(
            f"{what_if.change}: {what_if.gain:.2f} times as fast, {what_if.cost}"
            for what_if in advice.what_ifs
        ),
    ]
    if many_users.is_asked(args):
        lines += ["", *many_users.text(args, advice)]
    return "\n".join(lines)


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


def _option_line(option: Option) -> str:
    """One option as a line of text."""
    speed = tokens_per_second(option.speed.decode) if option.speed else "speed not known"
    cost = option.price.note or "no price on record"
    if option.monthly is not None:
        once = f", {money(option.upfront)} at once" if option.upfront else ""
        cost = f"{money(option.monthly)} a month{once}{aged(option)}"
    pays = {True: "pays", False: "does not pay", None: ""}[option.pays]
    if option.loses_quality:
        pays = option.price.note
    return f"{option.kind:<8} {option.name:<40} {speed:>18}  {cost}  {pays}".rstrip()
