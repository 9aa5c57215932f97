"""`report`: list, show, export, import, annotate, delete and restore saved comparisons."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from advisor import given_files
from advisor.catalog.records import as_record
from advisor.cli.command import output, show
from advisor.errors import InputError, StoreError

if TYPE_CHECKING:
    from advisor.reports.content import WordTable
    from advisor.reports.from_advice import MeasuredResult
    from advisor.reports.store.saved import SavedReport
    from advisor.reports.store.store import ReportStore


def _store() -> "ReportStore":
    """Store of the user's reports; SQLAlchemy is loaded by the actions alone."""
    from advisor.reports.store.store import open_store

    return open_store()


def attach(args: argparse.Namespace) -> None:
    """Run `report attach`."""
    store = _store()
    result = measured(args, store.load(args.id))
    judged = store.attach(args.id, result).judged[-1]
    record = {"id": args.id, "outcome": judged.outcome, "words": judged.words}
    show(args, record, lambda: judged.words)


def measured(args: argparse.Namespace, report: "SavedReport") -> "MeasuredResult":
    """Measured result described by the options."""
    from advisor.advice.diagnosis.text import reported_in
    from advisor.reports.from_advice import result_of

    speeds = None if args.results is None else reported_in(args.results)
    return result_of(
        report.document, args.runtime, args.placement, speeds, decode=args.measured,
        prompt=args.measured_prompt, note=args.note,
    )  # fmt: skip


def contribute(args: argparse.Namespace) -> None:
    """Run `report contribute`."""
    from advisor.reports.files.contribution import contribution

    made = contribution(_store().load(args.id), args.result)
    if not args.agree:
        raise InputError(
            "A contributed row is public: model, format, GPU, runtime, speeds, date, the name of "
            "the machine and your note. If you measured it and agree, repeat with --agree; "
            "nothing is sent then either."
        )
    record = {"line": made.line, "title": made.title, "text": made.text}
    show(args, record, lambda: f"{made.line}\n\n{made.title}\n\n{made.text}")


def compare(args: argparse.Namespace) -> None:
    """Run `report compare`."""
    from advisor.reports.comparison import compared, comparison_json

    store = _store()
    reports = [store.load(number) for number in args.ids]
    record: dict[str, Any] = {}
    tables: list[WordTable] = []
    if len(reports) > 1:
        record, tables = comparison_json(reports), list(compared(reports).tables)
    elif not args.today:
        raise InputError("A comparison needs two reports; give a second ID, or --today.")
    if args.today:
        changed, more = _today(reports)
        record["today"] = changed
        tables += more
    show(args, record, lambda: "\n\n".join(map(_table_text, tables)))


def _today(reports: "Sequence[SavedReport]") -> "tuple[list[dict[str, Any]], list[WordTable]]":
    from advisor.reports.comparison import change_tables, changes, recomputed, request_of
    from advisor.reports.content import WordTable

    records, tables = [], []
    for report in reports:
        changed = changes(report.document, recomputed(request_of(report.document)))
        records.append({"id": report.id, "changes": [asdict(change) for change in changed]})
        parts = change_tables(changed) or (
            WordTable(title="today", headings=("", ""), rows=(("everything", "as it was"),)),
        )
        for table in parts:
            title = f"{report.name}: {table.title}"
            tables.append(WordTable(title=title, headings=table.headings, rows=table.rows))
    return records, tables


def _table_text(table: "WordTable") -> str:
    """Table as text: the title, then a block of lines per row."""
    lines = [table.title]
    for name, *cells in table.rows:
        lines.append(f"  {name}")
        lines += [
            f"    {heading}: {cell}" if heading else f"    {cell}"
            for heading, cell in zip(table.headings[1:], cells, strict=True)
        ]
    return "\n".join(lines)


LARGEST_REPORT = 16_000_000
"""JSON file that is imported [B]."""


def list_reports(args: argparse.Namespace) -> None:
    """Run `report list`."""
    from advisor.reports.content import parted
    from advisor.reports.store.store import ReportQuery

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
    heads = _store().page(query, limit=args.limit).heads
    records = [as_record("report", head, created_at=head.created_at.isoformat()) for head in heads]
    lines = [
        f"{row['id']:>4}  {row['created_at'][:10]}  {row['name']}: {parted(row['summary'])[0]}"
        for row in records
    ]
    none = "No report is saved yet." if query == ReportQuery() else "No report matches."
    show(args, records, lambda: "\n".join(lines) or none)


def show_report(args: argparse.Namespace) -> None:
    """Run `report show`."""
    from advisor.reports.files.export import markdown
    from advisor.reports.store.saved import report_json

    saved = _store().load(args.id)
    show(args, report_json(saved), lambda: markdown(saved))


def delete(args: argparse.Namespace) -> None:
    """Run `report delete`."""
    _store().delete(args.id)
    undo = f"report restore {args.id}"
    show(args, {"deleted": args.id}, lambda: f"Report {args.id} is deleted; {undo} undoes it.")


def restore(args: argparse.Namespace) -> None:
    """Run `report restore`."""
    head = _store().restore(args.id)
    show(args, {"restored": head.id}, lambda: f"Report {head.id} is restored: {head.name}.")


def annotate(args: argparse.Namespace) -> None:
    """Run `report annotate`."""
    if args.name is None and args.notes is None and not (args.tag or args.untag):
        raise InputError("Nothing to change; give --name, --notes, --tag or --untag.")
    store = _store()
    tags = None
    if args.tag or args.untag:
        tags = (set(store.load(args.id).tags) | set(args.tag)) - set(args.untag)
    head = store.annotate(args.id, name=args.name, notes=args.notes, tags=tags).head
    record = {"id": head.id, "name": head.name, "notes": head.notes, "tags": list(head.tags)}
    show(args, record, lambda: f"Report {head.id} is changed: {head.name}.")


def export(args: argparse.Namespace) -> None:
    """Run `report export`."""
    from advisor.reports.files.export import FORMS as FILE_FORMS

    content = FILE_FORMS[args.format].make(_store().load(args.id))
    with output(args.output, "wb") as file:
        file.write(content)


def import_report(args: argparse.Namespace) -> None:
    """Run `report import`."""
    from advisor.reports.store.saved import read_report

    text = given_files.text(args.file, LARGEST_REPORT)
    try:
        file = read_report(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{args.file} is not a report exported as JSON: {error}.") from error
    saved = _store().save(
        file.document,
        args.name or file.name or file.document.title,
        file.notes,
        tags=file.tags,
        author=file.author,
        results=file.results,
    )
    show(args, {"id": saved.id}, lambda: f"Saved as report {saved.id}.")
