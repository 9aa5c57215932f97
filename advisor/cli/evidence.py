"""`accuracy`, `refit` and `claims`: predictions compared with published figures."""

import argparse
from collections.abc import Callable
from typing import Any

from advisor.cli.command import added, show
from advisor.errors import InputError


def add(commands: Any) -> None:
    """Add the three commands."""
    parser = added(commands, "accuracy", _accuracy, "predictions against published measurements")
    parser.add_argument(
        "--markdown", nargs="?", const="README.md", choices=("README.md", "docs/accuracy.md"),
        help="print the table of README.md (the default), or the whole table of docs/accuracy.md",
    )  # fmt: skip
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the ledger's tables in data/generated/",
    )

    refit = commands.add_parser("refit", help="fit the constants of the cost model again")
    refit.set_defaults(command=_refit)

    added(commands, "claims", _claims, "claims of articles about offloading, checked")


def _accuracy(args: argparse.Namespace) -> None:
    """Run `accuracy`."""
    if args.write:
        from advisor.evidence.accuracy.__main__ import main

        _rewrite(main)
        return
    from advisor.evidence.accuracy.ledger import ledger
    from advisor.evidence.accuracy.text import front_page, markdown, plain, record

    scores = ledger()
    if args.markdown:
        print(front_page(scores) if args.markdown == "README.md" else markdown(scores))
        return
    show(args, record(scores), lambda: plain(scores))


def _refit(_: argparse.Namespace) -> None:
    """`refit`: fit the tables of data/generated/ and write them."""
    from advisor.evidence.fitting.__main__ import main

    _rewrite(main)


def _rewrite(main: Callable[[], int]) -> None:
    """Write tables of data/generated/.

    Raises:
        InputError: the folder cannot be written, as may be the case for an installed package.
    """
    try:
        main()
    except OSError as error:
        raise InputError(
            f"{error.filename} cannot be written: {error.strerror}. Run this in a clone."
        ) from error


def _claims(args: argparse.Namespace) -> None:
    """Run `claims`."""
    from advisor.evidence.claims import claims as computed

    answers = computed()
    lines = (
        f"{claim.row.number}. {claim.row.claim}\n   {claim.answer}. {claim.why}"
        for claim in answers
    )
    show(args, [claim.plain for claim in answers], lambda: "\n".join(lines))
