"""`advise`: estimates, and what to keep, buy or rent."""

import argparse
import sys
from typing import Any

from advisor.advice.answer import Answer, answer
from advisor.cli import many_users
from advisor.cli.advice_json import advice_answer
from advisor.cli.advice_text import advice_text
from advisor.cli.command import added, show, told
from advisor.cli.json_records import Json
from advisor.request import command_line


def add(commands: Any) -> None:
    """Add the command."""
    parser = added(
        commands, "advise", _advise, "complete advice: estimates, and what to keep, buy or rent"
    )
    command_line.add_options(parser, without=("placement",))
    parser.add_argument(
        "--also", action="append", default=[], metavar="NAME",
        help='further options to print, by a part of their name ("RTX 5090")',
    )  # fmt: skip
    parser.add_argument("--save", metavar="NAME", help="save the answer as a report of this name")
    parser.add_argument("--author", default="", metavar="NAME", help="author of the report")


def _advise(args: argparse.Namespace) -> None:
    """Run `advise --model NAME`."""
    nouns = command_line.from_args(args).nouns()
    machine = told(nouns)
    answered = answer(nouns)
    if not args.json:
        for caveat in answered.caveats:
            if caveat not in machine.software_notes:
                print(f"note: {caveat}", file=sys.stderr)
    if args.save is not None:
        from advisor.reports.document.from_advice import answer_document
        from advisor.reports.store.store import open_store

        saved = open_store().save(answer_document(answered), args.save, author=args.author)
        print(f"Saved as report {saved.id}.", file=sys.stderr)
    many = many_users.is_asked(args)
    show(
        args,
        _record(args, answered, many=many),
        lambda: advice_text(answered, args.also, many=many),
    )


def _record(args: argparse.Namespace, answered: Answer, *, many: bool) -> Json:
    """JSON record of an answer; loads of many users are simulated only if it is printed."""
    if not args.json:
        return {}
    record = advice_answer(answered.advice, answered.nouns.resolved.taken_as)
    return record | many_users.record(answered, wanted=many)
