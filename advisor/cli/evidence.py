"""`predict`, `accuracy`, `refit` and `claims`: predictions compared with published figures."""

import argparse
import csv
import sys
from collections.abc import Callable
from contextlib import nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.cli.command import added, show
from advisor.errors import InputError
from advisor.formatting import inert


def add(commands: Any) -> None:
    """Add the four commands."""
    parser = commands.add_parser("predict", help="speeds for the rows of a measurement file")
    parser.set_defaults(command=_predict)
    parser.add_argument("rows", type=Path, metavar="ROWS.csv")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT.csv", help="output file (standard output)"
    )

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


def _predict(args: argparse.Namespace) -> None:
    """Run `predict ROWS.csv`."""
    from tqdm import tqdm

    from advisor.evidence.published.predict import COLUMNS, predictions
    from advisor.evidence.published.row import PublishedRow

    rows = _rows(args.rows)
    speeds = list(
        tqdm(predictions(map(PublishedRow, rows)), total=len(rows), unit="row", disable=None)
    )
    try:
        with (
            args.output.open("w", encoding="utf-8", newline="")
            if args.output
            else nullcontext(sys.stdout) as out
        ):
            writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(map(_inert, speeds))
    except OSError as error:
        raise InputError(f"{args.output} cannot be written: {error.strerror}.") from error


def _inert(prediction: dict[str, object]) -> dict[str, object]:
    """A prediction whose texts no spreadsheet runs as formulas."""
    texts = {name: inert(str(prediction[name])) for name in ("id", "note")}
    return prediction | texts


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with TextIOWrapper(given_files.opened(path), encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as a CSV file: {error}.") from error
    if not rows:
        raise InputError(f"{path} holds no rows; a header and at least one row are needed.")
    if "category" not in rows[0]:
        raise InputError(
            f"{path} has no column 'category'; the columns are those of the published measurements."
        )
    return rows


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
