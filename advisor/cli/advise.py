"""`advise`: estimates, and what to keep, buy or rent."""

import argparse
import sys
from typing import Any

from advisor.cli import many_users, recompute
from advisor.cli.advice_json import advice_answer
from advisor.cli.advice_text import advice_text
from advisor.cli.command import added, show
from advisor.cli.json_records import Json


def add(commands: Any) -> None:
    """Add the command."""
    parser = added(
        commands, "advise", _advise, "complete advice: estimates, and what to keep, buy or rent"
    )
    recompute.add_options(parser)
    parser.add_argument("--save", metavar="NAME", help="save the answer as a report of this name")
    parser.add_argument("--author", default="", metavar="NAME", help="author of the report")


def _advise(args: argparse.Namespace) -> None:
    """Run `advise --model NAME`."""
    answered = recompute.answer(args)
    advice = answered.advice
    if not args.json:
        for caveat in answered.caveats:
            if caveat not in answered.machine.software_notes:
                print(f"note: {caveat}", file=sys.stderr)
    if args.save is not None:
        from advisor.reports.store.store import open_store

        saved = open_store().save(answered.document(args.typed), args.save, author=args.author)
        print(f"Saved as report {saved.id}.", file=sys.stderr)
    show(args, _record(args, answered), lambda: advice_text(args, advice))


def _record(args: argparse.Namespace, answered: recompute.ComputedAdvice) -> Json:
    """JSON record of an answer; loads of many users are simulated only if it is printed."""
    if not args.json:
        return {}
    record = advice_answer(answered.advice, answered.taken_as)
    return record | many_users.answer(args, answered.advice)
