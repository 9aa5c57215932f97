"""`report`: list, show, export, import, annotate, delete and restore saved comparisons; what
happened to them.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from advisor import given_files
from advisor.catalog.records import as_record
from advisor.cli import terminal
from advisor.cli.command import Json, output, show
from advisor.errors import InputError
from advisor.failures import StoreError
from advisor.formatting import moment
from advisor.reports import comparison
from advisor.reports.content import WordTable, parted
from advisor.reports.files.contribution import contribution
from advisor.reports.files.export import FORMS
from advisor.reports.from_advice import result_of
from advisor.reports.store.saved import ReportEvent, SavedReport, read_report, report_json
from advisor.reports.store.store import ReportQuery, open_store

LARGEST_REPORT = 16_000_000  # JSON file that is imported [B]


def list_reports(args: argparse.Namespace) -> None:
    """Run `report list`."""
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
    records = [as_record("report", head) for head in heads]
    lines = [
        f"{row['id']:>4}  {row['created_at'][:10]}  {row['name']}: {parted(row['summary'])[0]}"
        for row in records
    ]
    if query == ReportQuery():
        none = "No report is saved yet."
    else:
        none = "No report matches."
    show(args, records, lambda: "\n".join(lines) or none)


def show_report(args: argparse.Namespace) -> None:
    """Run `report show`."""
    saved = open_store().load(args.id)
    show(args, report_json(saved), lambda: FORMS["md"].make(saved).decode())


def delete(args: argparse.Namespace) -> None:
    """Run `report delete`."""
    open_store().delete(args.id)
    undo = f"report restore {args.id}"
    show(args, {"deleted": args.id}, lambda: f"Report {args.id} is deleted; {undo} undoes it.")


def restore(args: argparse.Namespace) -> None:
    """Run `report restore`."""
    head = open_store().restore(args.id)
    show(args, {"restored": head.id}, lambda: f"Report {head.id} is restored: {head.name}.")


def record(args: argparse.Namespace) -> None:
    """Run `report record`."""
    events = open_store().events(args.report)
    show(
        args,
        [as_record("report_event", event) for event in events],
        lambda: "\n".join(map(_event_line, events)) or "Nothing is on record yet.",
    )


def _event_line(event: ReportEvent) -> str:
    who = f", {event.who}" if event.who else ""
    return f"{moment(event.at.isoformat())}  report {event.report_id}: {event.words}{who}"


def erase(args: argparse.Namespace) -> None:
    """Run `report erase`."""
    if not args.agree:
        raise InputError(
            f"All reports of {args.owner} would be gone for good. Repeat with --agree to erase "
            "them; `report delete` deletes one that can be restored for 30 days."
        )
    erased = open_store().erase(args.owner)
    show(
        args,
        {"owner": args.owner, "erased": erased},
        lambda: f"Erased {erased} reports of {args.owner}.",
    )


def annotate(args: argparse.Namespace) -> None:
    """Run `report annotate`."""
    if args.name is None and args.notes is None and not (args.tag or args.untag):
        raise InputError("Nothing to change; give --name, --notes, --tag or --untag.")
    store = open_store()
    tags = None
    if args.tag or args.untag:
        tags = (set(store.load(args.id).tags) | set(args.tag)) - set(args.untag)
    head = store.annotate(args.id, name=args.name, notes=args.notes, tags=tags).head
    record = {"id": head.id, "name": head.name, "notes": head.notes, "tags": list(head.tags)}
    show(args, record, lambda: f"Report {head.id} is changed: {head.name}.")


def export(args: argparse.Namespace) -> None:
    """Run `report export`."""
    form = args.format or _form_of(str(args.output or ""))
    content = FORMS[form].make(open_store().load(args.id))
    with output(args.output, "wb") as file:
        file.write(content)


def _form_of(file: str) -> str:
    """Kind of file by the end of its name, the longest first; HTML for other names."""
    ends = sorted(FORMS, key=len, reverse=True)
    return next((form for form in ends if file.casefold().endswith(f".{form}")), "html")


def import_report(args: argparse.Namespace) -> None:
    """Run `report import`."""
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


def attach(args: argparse.Namespace) -> None:
    """Run `report attach`."""
    from advisor.cli.diagnose import measured_of  # other commands need no diagnosis

    store = open_store()
    document = store.load(args.id).document
    measured = measured_of(args)
    result = result_of(document, args.runtime, args.placement, measured, args.note)
    judged = store.attach(args.id, result).judged[-1]
    record = {"id": args.id, "outcome": judged.outcome, "words": judged.words}
    show(args, record, lambda: judged.words)


def contribute(args: argparse.Namespace) -> None:
    """Run `report contribute`."""
    made = contribution(open_store().load(args.id), args.result)
    if not args.agree:
        raise InputError(
            "A contributed row is public: model, format, GPU, runtime, speeds, date, the name of "
            "the machine and your note. If you measured it and agree, repeat with --agree; "
            "nothing is sent then either."
        )
    show(args, asdict(made), lambda: f"{made.line}\n\n{made.title}\n\n{made.text}")


def compare(args: argparse.Namespace) -> None:
    """Run `report compare`."""
    store = open_store()
    reports = [store.load(number) for number in args.ids]
    record: Json = {}
    tables: list[WordTable] = []
    conclusion: list[str] = []
    if len(reports) > 1:
        record = comparison.comparison_json(reports)
        compared = comparison.compared(reports)
        conclusion = terminal.wrapped(compared.conclusion)
        tables += compared.tables
    elif not args.today:
        raise InputError("A comparison needs two reports; give a second ID, or --today.")
    if args.today:
        record["today"] = [_today(report, tables) for report in reports]
    lines = [*conclusion, *(line for table in tables for line in _lines(table))]
    show(args, record, lambda: "\n".join(lines).removeprefix("\n"))


def _today(report: SavedReport, tables: list[WordTable]) -> dict[str, Any]:
    """Changes since a report; adds their tables."""
    request = comparison.request_of(report.document)
    changed = comparison.changes(report.document, comparison.recomputed(request))
    unchanged = WordTable(title="today", headings=("", ""), rows=(("everything", "as it was"),))
    tables += (
        replace(table, title=f"{report.name}: {table.title}")
        for table in comparison.change_tables(changed) or (unchanged,)
    )
    return {"id": report.id, "changes": [asdict(change) for change in changed]}


def _lines(table: WordTable) -> Iterator[str]:
    """Table as text: the title below an empty line, then a block of lines per row."""
    yield from ("", table.title)
    for name, *cells in table.rows:
        yield f"  {name}"
        for heading, cell in zip(table.headings[1:], cells, strict=True):
            yield f"    {heading}: {cell}" if heading else f"    {cell}"
