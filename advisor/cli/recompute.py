"""Answer of `advise` as a report, and a saved comparison computed again today."""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from advisor.advice.advise import Advice, advise
from advisor.advice.words.context_limits import context_notes
from advisor.advice.words.price_notes import price_notes
from advisor.cli import described, money_options, options
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.machine import Machine
from advisor.model import resolve
from advisor.model.model import Model
from advisor.reports.document.document import ReportDocument
from advisor.request.money import MoneyInputs
from advisor.runtimes import runtime

PROGRAM = ("python", "-m", "advisor")
_NOT_KEPT = {"--save": 2, "--author": 2, "--json": 1}
"""Options that change no answer, and how many words each takes."""


@dataclass(frozen=True, kw_only=True)
class ComputedAdvice:
    """Inputs of `advise` and the answer to them."""

    model: Model
    taken_as: str
    caveats: tuple[str, ...]
    machine: Machine
    work: Workload
    money: MoneyInputs
    advice: Advice

    def document(self, typed: Sequence[str]) -> ReportDocument:
        """The answer as a report.

        Args:
            typed: words after the program's name, from "advise" on.
        """
        from advisor.reports.document.from_advice import document

        return document(
            self.advice, self.machine, self.work, self.money,
            model=self.model, inputs={}, command=command(typed), caveats=self.caveats,
        )  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a comparison."""
    options.add_model(parser, positional=False)
    options.add_work(parser)
    options.add_load(parser)
    options.add_machine(parser)
    money_options.add_money(parser)
    money_options.add_ownership(parser)


def answer(args: argparse.Namespace) -> ComputedAdvice:
    """Answer to the options.

    Raises:
        AdvisorError: no answer exists for the options.
    """
    machine, work, money = (
        described.machine_of(args),
        described.work_of(args),
        money_options.money_of(args),
    )
    owned = money_options.owned_machine(args, machine)
    if args.gpu is None:
        machine = owned
    resolved = resolve.find(args.model, args.quant)
    advice = advise(
        resolved.model,
        machine,
        work,
        money=money,
        settings=described.settings_of(args),
        chosen=runtime(args.runtime) if args.runtime else None,
        ownership=money_options.ownership_of(args, owned),
        owned=owned,
    )
    return ComputedAdvice(
        model=resolved.model,
        taken_as=resolved.taken_as,
        caveats=(
            *resolved.notes,
            *machine.software_notes,
            *context_notes(resolved.model, work),
            *price_notes(advice.question),
        ),
        machine=machine,
        work=work,
        money=money,
        advice=advice,
    )


def command(typed: Sequence[str]) -> str:
    """Command that repeats the comparison, quoted for a shell."""
    return shlex.join((*PROGRAM, *_without_saving(typed)))


def _without_saving(typed: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip = 0
    for word in typed:
        name = word.split("=")[0]
        if skip or name in _NOT_KEPT:
            skip = skip - 1 if skip else (0 if "=" in word else _NOT_KEPT[name] - 1)
        else:
            kept.append(word)
    return kept


def recomputed(document: ReportDocument) -> ReportDocument:
    """Comparison of a report, computed again with today's version and prices.

    Raises:
        InputError: the report has no command, or this version does not know it.
        AdvisorError: the request has no answer any more.
    """
    words = shlex.split(document.command)
    if "advise" not in words:
        raise InputError(
            f"The report {document.title[:80]!r} keeps no command that could be run again."
        )
    typed = words[words.index("advise") :]
    parser = _Parser(add_help=False)
    add_options(parser)
    return answer(parser.parse_args(typed[1:])).document(typed)


class _Parser(argparse.ArgumentParser):
    """Parser that raises an error instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        """Called by argparse for words that it cannot parse.

        Raises:
            InputError: always.
        """
        raise InputError(f"The report's command is not understood any more: {message}.")
