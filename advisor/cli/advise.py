"""Command `advise`: estimates, and what to keep, buy or rent.

For many users it also tells how many a server takes, how long they wait, and the machines that
serve all of them.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from advisor.advice.advise import Answer
from advisor.advice.answered_servers import offered, server_load
from advisor.advice.arrivals.load import curve_lines, sentences
from advisor.advice.prices.rows import NO_PRICE
from advisor.advice.serving import heading, of_yours
from advisor.advice.serving import lines as fleet_lines
from advisor.advice.speeds import speed_of
from advisor.advice.table.choice import is_bought
from advisor.advice.table.demand import first_word_in, first_word_of
from advisor.advice.table.option import Option, OptionKind, split
from advisor.advice.table.options import changes
from advisor.advice.table.ram_and_drive import NUMBERS_OF_DRIVES, RamAndDrive
from advisor.advice.table.turning import least_speed
from advisor.advice.words.phrases import pays_when, plain, why_kept
from advisor.advice.words.verdict import Advice
from advisor.catalog.inputs import INPUTS
from advisor.catalog.records import as_record
from advisor.cli import terminal
from advisor.cli.brief import answered_to, print_brief
from advisor.cli.command import Json, show
from advisor.cli.estimate import estimate_answer, session_answer, session_lines
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.errors import InputError
from advisor.formatting import aligned, hours, in_shown_currency, money
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import decode_tps, usable
from advisor.units import memory, number, seconds


def run(args: argparse.Namespace) -> None:
    """Run `advise`."""
    if args.author and args.save is None:
        raise InputError("--author is of a saved report; give --save NAME, too.")
    answered = answered_to(args)
    if args.save is not None:
        _save(answered, args.save, args.author)
    if args.brief:
        print_brief(args, answered)
    else:
        print_whole(args, answered)


def _save(answered: Answer, name: str, author: str) -> None:
    """Save an answer as a report."""
    from advisor.evidence.accuracy.regimes import certainty
    from advisor.reports.from_advice import answer_document
    from advisor.reports.store.store import open_store

    document = answer_document(answered, certainty(answered.advice.best))
    saved = open_store().save(document, name, author=author)
    print(f"Saved as report {saved.id}.{_as_file(saved.id, name)}", file=sys.stderr)


def print_whole(args: argparse.Namespace, answered: Answer) -> None:
    """Print an answer with its estimates and options."""
    many = any(getattr(args, entry.name) is not None for entry in INPUTS.of("load").values())
    show(
        args,
        _record(args, answered, many=many),
        lambda: advice_text(answered, many=many),
    )


def _as_file(report: int, name: str) -> str:
    """Command that writes a report as the file that its name looks like; empty for no such name."""
    from advisor.reports.files.export import FORMS

    for suffix in sorted(FORMS, key=len, reverse=True):
        if name.casefold().endswith(f".{suffix}"):
            words = shlex.join(["--format", suffix, "-o", name])
            return f" It is no file yet: python -m advisor report export {report} {words}"
    return ""


def _record(args: argparse.Namespace, answered: Answer, *, many: bool) -> Json:
    """JSON record of an answer; loads of many users are simulated only if it is printed."""
    if not args.json:
        return {}
    record = advice_answer(answered.advice, answered.nouns.resolved.taken_as)
    if answered.nouns.session:
        record |= session_answer(answered.advice.task, answered.nouns.session)
    if answered.nouns.known:
        record |= known_answer(answered)
    if answered.next_run is not None:
        record |= {"next_run": as_record("next_run", answered.next_run)}
    return record | _many_users_answer(answered, wanted=many)


def known_answer(answered: Answer) -> Json:
    """Known speeds of the machine with their weights, and sentences on their effect."""
    from advisor.advice.known import judged  # with the diagnosis, loaded only for known speeds

    runs = judged(answered.nouns.known)
    return {
        "known": [as_record("known_run", run) for run in runs],
        "known_told": list(answered.of_known),
    }


def advice_text(answered: Answer, *, many: bool) -> str:
    """Verdict, estimates, options and changes; without any machine, the verdict and the options
    alone.
    """
    advice = answered.advice
    request = answered.nouns.request
    question = advice.question
    described = not request.nowhere
    if described:
        title = advice.title
    else:
        title = f"{question.model.title}, {question.model.format}"
    lines = [terminal.bold(title), "", *_verdict_lines(advice), ""]
    if described:
        lines += [*_estimate_lines(advice.estimates), ""]
    lines += _option_lines(advice)
    if described and advice.what_ifs:
        changes = map(terminal.wrapped, _change_lines(advice))
        lines += ["", *(line for change in changes for line in change)]
    if described:
        lines += _further_parts(advice)
    if described and answered.nouns.session:
        lines += session_lines(list(filter(None, [advice.task])), answered.nouns.session)
    if many:
        lines += ["", *_many_users_lines(answered)]
    if described and answered.next_run is not None:
        run = answered.next_run
        lines += [
            "",
            f"To know it better: {run.command}",
            f"It {run.words}.",
            f'Then give its tg128 in place of TPS: --known "{run.known}"',
        ]
    return "\n".join(lines)


def _further_parts(advice: Advice) -> Iterator[str]:
    """Lines on the gain of a second machine, more RAM or a second drive; none where the machine
    takes none.
    """
    if advice.second_machine:
        yield ""
        yield from terminal.wrapped(advice.second_machine.words)
    if advice.ram_and_drive:
        yield ""
        yield from _memory_lines(advice.ram_and_drive)


def _memory_lines(tried: RamAndDrive) -> Iterator[str]:
    """Speeds over RAM and drives as a table, and whether more of either pays."""
    rows = [("tokens/s with RAM of", *(f"{point.ram_gib:g} GB" for point in tried.along(1)))]
    for drives, words in NUMBERS_OF_DRIVES.items():
        rows.append((words, *(number(point.decode) for point in tried.along(drives))))
    yield from map(terminal.cut, aligned(rows, right=range(1, len(rows[0]))))
    engines = dict.fromkeys(point.runtime for point in tried.points if point.runtime)
    yield from terminal.wrapped(f"Each in the fastest of {', '.join(engines)}. {tried.words}")


def _change_lines(advice: Advice) -> Iterator[str]:
    """Changes with their gain, and with the price of what they take where one is on record."""
    prices = {option.name: option for option in changes(advice.question, advice.what_ifs)}
    for what_if in advice.what_ifs:
        option = prices.get(what_if.words)
        cost = what_if.cost
        if option is not None and option.price.usd:
            note = in_shown_currency(option.price.note)
            cost = f"{money(option.price.usd)}{option.aged}: {note}"
        yield f"{what_if.words}: {what_if.effect}, {cost}"


def _printed_options(advice: Advice) -> list[Option]:
    """Few options of each kind, and the purchases that somebody asks about."""
    shown, _ = split(advice.options, advice.named)
    named = {(row.kind, row.name) for row in shown}
    further = (option for candidate in advice.candidates for option in candidate.options)
    return [*shown, *(row for row in further if (row.kind, row.name) not in named)]


def _verdict_lines(advice: Advice) -> Iterator[str]:
    """Lines of the verdict, with the first in the colour of its judgement, and what would change
    it.
    """
    first, *rest = terminal.wrapped(advice.summary.gives)
    yield from (terminal.toned(line, advice.summary.judgement) for line in (first, *rest))
    for text in filter(None, (advice.summary.way, *advice.summary.beside, advice.what_changes)):
        yield from terminal.wrapped(text)


SHORT_PLACES = {
    PlacementStrategy.GPU_RESIDENT: "in GPU",
    PlacementStrategy.CPU_OFFLOAD: "RAM",
    PlacementStrategy.NVME_OFFLOAD: "NVMe",
}
"""Placements in a column of a table."""
OF_ESTIMATES = ("runtime", "placement", "format", "tokens/s", "first token", "limited by")
OF_OPTIONS = ("option", "", "tokens/s", "lost", "a month", "at once", "pays")
"""Headings of the tables."""
AGED = "* price older than 90 days, or of the launch; `prices --of NAME` has its date"


SHOWN_FROM = 0.2  # share of the best speed from which another engine than llama.cpp has its line


def _estimate_lines(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Lines on placements: those that run as a table, fastest first, with all of llama.cpp's; then
    the numbers of much slower ones and of those that do not run.
    """
    runs = usable(estimates)
    if runs:
        users = float(runs[0].work.users) + float(runs[0].waiting)
        least = SHOWN_FROM * max(map(decode_tps, runs))
        shown = [each for each in runs if each.runtime is LLAMA_CPP or decode_tps(each) >= least]
        rows = [_headings(users), *map(_estimate_cells, shown)]
        yield from map(terminal.cut, aligned(rows, right=(3, 4)))
        if len(shown) < len(runs):
            yield f"{len(runs) - len(shown)} others run, with less than a fifth of the best speed"
    rest = [each for each in estimates if not bool(each.fits)]
    short = [each for each in rest if not each.refusal]
    nearest = min(short, key=lambda each: float(each.missing), default=None)
    if not rest:
        return
    line = f"{len(rest)} of {len(estimates)} do not fit or are not possible here"
    if nearest is not None:
        where = f"{nearest.runtime.name}, {SHORT_PLACES[nearest.strategy]}"
        line = f"{line}; the nearest, {where}, is {memory(float(nearest.missing))} short"
    yield terminal.cut(f"{line}; `estimate` says why")


def _headings(users: float) -> tuple[str, ...]:
    """Headings of the table: of several users the first token is that of their mean load, as in the
    verdict.
    """
    if users <= 1:
        return OF_ESTIMATES
    several = "first token, mean load"
    return tuple(several if text == "first token" else text for text in OF_ESTIMATES)


def _estimate_cells(estimate: Estimate) -> tuple[str, ...]:
    speed = speed_of(estimate)
    if speed is None:
        return estimate.runtime.name, "", "", "", "", ""
    spread = f"{number(speed.decode)} ({number(speed.low)}-{number(speed.high)})"
    several = float(estimate.work.users) > 1
    first = seconds(first_word_of(estimate) if several else speed.first_token)
    place = SHORT_PLACES[estimate.strategy]
    form = estimate.model.format
    return estimate.runtime.name, place, form, spread, first, estimate.bottleneck


def _option_lines(advice: Advice) -> Iterator[str]:
    """Options as a table, as they are judged, the kept machine first."""
    options = list(map(advice.as_judged, _printed_options(advice)))
    unmade = why_kept(advice)
    rows = [OF_OPTIONS, *(_option_cells(option, unmade) for option in options)]
    yield from map(terminal.cut, aligned(rows, right=(2, 3, 4, 5)))
    if any(option.aged for option in options):
        yield AGED
    if advice.judged_without_thinking:
        yield advice.judged_without_thinking
    for option in options:
        if option.speed and option.speed.arrangement:
            yield f"{plain(option.name)}: {option.speed.runtime} on {option.speed.arrangement}."


LONGEST_NAME = 33  # letters of an option's name in the table


def _option_cells(option: Option, unmade: str) -> tuple[str, ...]:
    """Cells of an option's line; `unmade` says why a purchase that pays is not made."""
    if option.speed:
        speed = number(option.speed.decode)
    elif option.kind is OptionKind.API:
        speed = "?"
    else:
        speed = "none"
    lost = "" if option.hours_lost is None else hours(option.hours_lost).partition("our")[0]
    monthly = NO_PRICE if option.monthly is None else money(option.monthly)
    mark = "*" if option.aged else ""
    once_paid = f"{money(option.upfront)}{mark}" if option.upfront else ""
    name = terminal.cut(plain(option.name), LONGEST_NAME)
    return option.kind.value, name, speed, lost, monthly, once_paid, _pays(option, unmade)


def _pays(option: Option, unmade: str) -> str:
    """Whether an option pays, and when; why it is not bought all the same."""
    if option.loses_quality:
        return plain(option.price.note)
    if option.pays is None:
        if option.monthly is None:
            return option.price.note
        return ""
    when = pays_when(option).partition(",")[0].removesuffix(" a month")
    if option.pays and unmade and is_bought(option):
        return f"{unmade}{f' ({when})' if when else ''}"
    if option.pays:
        return f"{when or 'yes'}{', but odd' if option.odd else ''}"
    return f"no{f' ({when})' if when else ''}"


def advice_answer(advice: Advice, taken_as: str = "") -> Json:
    """Record of `advise`; `taken_as` is the model that the typed name was taken for, empty for an
    exact name.
    """
    choice = advice.choice
    return as_record(
        "advice",
        advice,
        taken_as=taken_as or None,
        known=[],
        known_told=[],
        next_run=None,
        safe_choice=choice.safe and option_answer(choice.safe),
        cheapest=choice.cheapest and option_answer(choice.cheapest),
        estimates=[estimate_answer(estimate, taken_as) for estimate in advice.estimates],
        options=list(map(option_answer, advice.options)),
        candidates=[
            as_record("candidate", each, options=list(map(option_answer, each.options)))
            for each in advice.candidates
        ],
    )


def option_answer(option: Option) -> Json:
    """Record of one option of `advise`."""
    if option.speed and option.speed.format:
        runs = option.speed
    else:
        runs = None
    return as_record(
        "option",
        option,
        placement=runs.strategy.value if runs else None,
        monthly_parts_usd=asdict(option.cost) if option.cost else None,
        pays_from_tps=least_speed(option),
        mean_load_ttft_s=first_word_in(option) if runs and option.use.work.users > 1 else None,
        **({} if runs else {"ttft_s": None}),
    )


def _many_users_lines(answered: Answer) -> Iterator[str]:
    """Users of this server, their waits, and the machines that serve all users."""
    advice = answered.advice
    request = answered.nouns.request
    load = server_load(advice, request)
    users = int(advice.question.work.users)
    if load is not None or not advice.question.ownership.nothing:
        yield from sentences(load, advice.chosen)
    if load is not None:
        yield from curve_lines(load)
    if users > 1:
        here, every = offered(advice, request)
        yield from ("", heading(users, request))
        if not advice.question.ownership.nothing:
            yield of_yours(users, here.yours, keeps=advice.decision.keeps)
        yield from fleet_lines(every)


def _many_users_answer(answered: Answer, *, wanted: bool) -> Json:
    """JSON record of many users, with waiting times by number of users and the machines that serve
    all, where wanted; None where no runtime queues requests.
    """
    advice = answered.advice
    request = answered.nouns.request
    load = server_load(advice, request)
    hidden = {} if wanted else {"curve": None}
    saturated = bool(load and load.request.requests_per_hour is not None and not load.waiting)
    several = wanted and int(advice.question.work.users) > 1
    if several:
        fleets = offered(advice, request).every
    else:
        fleets = ()
    return {
        "users_supported": load and load.users_supported,
        "load": load and as_record("load", load, saturated=saturated, **hidden),
        "fleets": [as_record("fleet", fleet) for fleet in fleets],
    }
