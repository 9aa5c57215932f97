"""`report`: list, show, export, import, annotate, delete and restore saved comparisons."""

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.cli import report_compare, report_results
from advisor.cli.command import added, show
from advisor.cli.json_records import Json
from advisor.errors import InputError, StoreError

FORMS = ("html", "pdf", "csv", "md", "json")
LARGEST_REPORT = 16_000_000
"""JSON file that is imported [B]."""


def add(commands: Any) -> None:
    """Add the command and its actions."""
    report = commands.add_parser("report", help="saved comparisons")
    actions = report.add_subparsers(required=True, metavar="ACTION")
    _add_list(added(actions, "list", _list, "list the saved reports, newest first"))
    for name, run, text in (
        ("show", _show, "one of them"),
        ("delete", _delete, "delete one; it can be restored for 30 days"),
        ("restore", _restore, "undo a delete"),
        ("export", _export, "write one as a file"),
        ("annotate", _annotate, "change its name, notes or tags"),
    ):
        action = added(actions, name, run, text)
        action.add_argument("id", type=int)
        if name == "export":
            action.add_argument("--format", default="html", choices=FORMS)
            action.add_argument("-o", "--output", type=Path, help="output file (standard output)")
        if name == "annotate":
            _add_annotate(action)
    action = added(actions, "import", _import, "import a report from JSON")
    action.add_argument("file", type=Path)
    action.add_argument("--name", help="name in place of its own")
    report_compare.add(actions)
    report_results.add(actions)


def _add_list(action: argparse.ArgumentParser) -> None:
    action.add_argument("--search", default="", metavar="WORDS", help="words that must occur")
    for name in ("model", "gpu", "tag"):
        action.add_argument(
            f"--{name}", default="", metavar="NAME", help=f"reports with this {name} only"
        )
    for name, text in (("since", "saved on this day or later"), ("until", "saved before this day")):
        action.add_argument(f"--{name}", type=_day, metavar="YYYY-MM-DD", help=text)
    action.add_argument("--limit", type=int, metavar="N", help="most reports listed (all)")
    action.add_argument(
        "--deleted", action="store_true", help="list deleted reports that can be restored"
    )


def _add_annotate(action: argparse.ArgumentParser) -> None:
    action.add_argument("--name", help="new name")
    action.add_argument("--notes", help="new notes")
    action.add_argument("--tag", action="append", default=[], metavar="TAG", help="add a tag")
    action.add_argument("--untag", action="append", default=[], metavar="TAG", help="remove a tag")


def _day(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day such as 2026-11-22") from None


def _list(args: argparse.Namespace) -> None:
    """Run `report list`."""
    from advisor.reports.content.front_page import parted
    from advisor.reports.store.queries import ReportQuery
    from advisor.reports.store.store import open_store

    if args.limit is not None and args.limit < 1:
        raise InputError(f"--limit is {args.limit}; give 1 or more.")
    query = ReportQuery(
        words=args.search,
        model=args.model,
        gpu=args.gpu,
        tag=args.tag,
        since=args.since,
        until=args.until,
        deleted=args.deleted,
    )
    heads = open_store().page(query, limit=args.limit).heads
    records: list[Json] = [
        {
            "id": head.id,
            "name": head.name,
            "created_at": head.created_at.isoformat(),
            "summary": head.summary,
            "model": head.model,
            "gpu": head.gpu,
            "tags": list(head.tags),
            "author": head.author,
        }
        for head in heads
    ]
    lines = [
        f"{row['id']:>4}  {row['created_at'][:10]}  {row['name']}: {parted(row['summary'])[0]}"
        for row in records
    ]
    none = "No report is saved yet." if query == ReportQuery() else "No report matches."
    show(args, records, lambda: "\n".join(lines) or none)


def _show(args: argparse.Namespace) -> None:
    """Run `report show ID`."""
    from advisor.reports.files.markdown import markdown
    from advisor.reports.store.saved import report_json
    from advisor.reports.store.store import open_store

    saved = open_store().load(args.id)
    show(args, report_json(saved), lambda: markdown(saved))


def _delete(args: argparse.Namespace) -> None:
    """Run `report delete ID`."""
    from advisor.reports.store.store import open_store

    open_store().delete(args.id)
    undo = f"report restore {args.id}"
    show(args, {"deleted": args.id}, lambda: f"Report {args.id} is deleted; {undo} undoes it.")


def _restore(args: argparse.Namespace) -> None:
    """Run `report restore ID`."""
    from advisor.reports.store.store import open_store

    head = open_store().restore(args.id)
    show(args, {"restored": head.id}, lambda: f"Report {head.id} is restored: {head.name}.")


def _annotate(args: argparse.Namespace) -> None:
    """Run `report annotate ID --notes TEXT`."""
    from advisor.reports.store.store import open_store

    if args.name is None and args.notes is None and not (args.tag or args.untag):
        raise InputError("Nothing to change; give --name, --notes, --tag or --untag.")
    store = open_store()
    tags = None
    if args.tag or args.untag:
        tags = (set(store.load(args.id).tags) | set(args.tag)) - set(args.untag)
    head = store.annotate(args.id, name=args.name, notes=args.notes, tags=tags).head
    record = {"id": head.id, "name": head.name, "notes": head.notes, "tags": list(head.tags)}
    show(args, record, lambda: f"Report {head.id} is changed: {head.name}.")


def _export(args: argparse.Namespace) -> None:
    """Run `report export ID --format html`."""
    from advisor.reports.files.export import FORMS as FILE_FORMS
    from advisor.reports.store.store import open_store

    content = FILE_FORMS[args.format].make(open_store().load(args.id))
    if args.output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    try:
        args.output.write_bytes(content)
    except OSError as error:
        raise InputError(f"{args.output} cannot be written: {error.strerror}.") from error


def _import(args: argparse.Namespace) -> None:
    """Run `report import FILE`."""
    from advisor.reports.store.saved import read_report
    from advisor.reports.store.store import open_store

    text = given_files.text(args.file, LARGEST_REPORT)
    try:
        file = read_report(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{args.file} is not a report exported as JSON: {error}.") from error
    saved = open_store().save(
        file.document,
        args.name or file.name or file.document.title,
        file.notes,
        tags=file.tags,
        author=file.author,
        results=file.results,
    )
    show(args, {"id": saved.id}, lambda: f"Saved as report {saved.id}.")
