"""`report`: saved comparisons, listed, shown, carried and deleted."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from advisor.cli.command import added, show
from advisor.cli.json_records import Json
from advisor.errors import InputError, StoreError


def add(commands: Any) -> None:
    """Put the actions among the commands."""
    report = commands.add_parser("report", help="saved comparisons")
    actions = report.add_subparsers(required=True, metavar="ACTION")
    added(actions, "list", _list, "all of them, newest first")
    for name, run, text in (
        ("show", _show, "one of them"),
        ("delete", _delete, "remove one"),
        ("export", _export, "write one as a file"),
    ):
        one = added(actions, name, run, text)
        one.add_argument("id", type=int)
        if name == "export":
            one.add_argument("--format", default="html", choices=("html", "csv", "md", "json"))
            one.add_argument("-o", "--output", type=Path, help="else standard output")
    one = added(actions, "import", _import, "read one that was exported as JSON")
    one.add_argument("file", type=Path)


def _list(args: argparse.Namespace) -> None:
    """`report list`."""
    from advisor.reports.store import open_store

    heads = open_store().list()
    records: list[Json] = [
        {
            "id": one.id,
            "name": one.name,
            "created_at": one.created_at.isoformat(),
            "summary": one.summary,
        }
        for one in heads
    ]
    lines = [
        f"{one['id']:>4}  {one['created_at'][:10]}  {one['name']}: {one['summary']}"
        for one in records
    ]
    show(args, records, lambda: "\n".join(lines) or "No report is saved yet.")


def _show(args: argparse.Namespace) -> None:
    """`report show ID`."""
    from advisor.reports import export
    from advisor.reports.document import to_json
    from advisor.reports.store import open_store

    saved = open_store().load(args.id)
    show(args, to_json(saved.document), lambda: export.markdown(saved.document))


def _delete(args: argparse.Namespace) -> None:
    """`report delete ID`."""
    from advisor.reports.store import open_store

    open_store().delete(args.id)
    show(args, {"deleted": args.id}, lambda: f"Report {args.id} is deleted.")


def _export(args: argparse.Namespace) -> None:
    """`report export ID --format html`."""
    from advisor.reports import export
    from advisor.reports.document import ReportDocument, to_json
    from advisor.reports.store import open_store

    document = open_store().load(args.id).document
    writers: dict[str, Callable[[ReportDocument], str]] = {
        "html": export.html,
        "csv": export.csv,
        "md": export.markdown,
        "json": lambda one: json.dumps(to_json(one), indent=2),
    }
    text = writers[args.format](document)
    if args.output is None:
        print(text)
        return
    try:
        args.output.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(f"{args.output} cannot be written: {error.strerror}.") from error


def _import(args: argparse.Namespace) -> None:
    """`report import FILE`."""
    from advisor.reports.document import from_json
    from advisor.reports.store import open_store

    try:
        document = from_json(json.loads(args.file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise StoreError(f"{args.file} is not a report exported as JSON: {error}.") from error
    saved = open_store().save(document, document.title)
    show(args, {"id": saved.id}, lambda: f"Saved as report {saved.id}.")
