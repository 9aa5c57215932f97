"""`report compare` and `report run`: reports side by side, and scenario files."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.cli.command import added, show
from advisor.errors import InputError
from advisor.formatting import range_of, tokens_per_second

if TYPE_CHECKING:
    from advisor.reports.content.section_tables import WordTable
    from advisor.reports.side_by_side.scenarios import ScenarioResult
    from advisor.reports.store.saved import SavedReport


def add(actions: Any) -> None:
    """Add the two actions to those of `report`."""
    action = added(actions, "compare", _compare, "compare two to six reports")
    action.add_argument("ids", type=int, nargs="+", metavar="ID")
    action.add_argument(
        "--today",
        action="store_true",
        help="compare each report with the same request computed today; one ID is enough",
    )
    action = added(
        actions, "run", _run, "answer a scenario file; exit code 1 where a condition does not hold"
    )
    action.add_argument("file", type=Path, metavar="FILE.yaml")


def _compare(args: argparse.Namespace) -> None:
    """Run `report compare ID ID`."""
    from advisor.reports.side_by_side.comparison import compared, comparison_json
    from advisor.reports.store.store import open_store

    store = open_store()
    reports = [store.load(number) for number in args.ids]
    if args.today and len(reports) == 1:
        record: dict[str, Any] = {}
        tables: list[WordTable] = []
    elif len(reports) == 1:
        raise InputError("A comparison needs two reports; give a second ID, or --today.")
    else:
        record, tables = comparison_json(reports), list(compared(reports).tables)
    if args.today:
        changed, more = _today(reports)
        record["today"] = changed
        tables += more
    show(args, record, lambda: tables_text(tables))


def _today(reports: "Sequence[SavedReport]") -> "tuple[list[dict[str, Any]], list[WordTable]]":
    from advisor.reports.content.section_tables import WordTable
    from advisor.reports.side_by_side.changes import (
        change_tables,
        changes,
        recomputed,
        request_of,
    )

    records, tables = [], []
    for report in reports:
        changed = changes(report.document, recomputed(request_of(report.document)))
        records.append({"id": report.id, "changes": [asdict(change) for change in changed]})
        own = change_tables(changed) or (
            WordTable(title="today", headings=("", ""), rows=(("everything", "as it was"),)),
        )
        for table in own:
            title = f"{report.name}: {table.title}"
            tables.append(WordTable(title=title, headings=table.headings, rows=table.rows))
    return records, tables


def tables_text(tables: "Sequence[WordTable]") -> str:
    """Tables as text: the title, then a block of lines per row."""
    return "\n\n".join(map(_table_text, tables))


def _table_text(table: "WordTable") -> str:
    lines = [table.title]
    for name, *cells in table.rows:
        lines.append(f"  {name}")
        lines += [
            f"    {heading}: {cell}" if heading else f"    {cell}"
            for heading, cell in zip(table.headings[1:], cells, strict=True)
        ]
    return "\n".join(lines)


def _run(args: argparse.Namespace) -> int:
    """Run `report run FILE.yaml`."""
    from advisor.reports.side_by_side.scenarios import read_scenarios, run

    results = tuple(run(read_scenarios(args.file)))
    failed = sum(bool(result.failures) for result in results)
    lines = [_result_line(result) for result in results]
    lines.append(f"{len(results) - failed} of {len(results)} hold.")
    record = {"holds": not failed, "results": [_result_json(result) for result in results]}
    show(args, record, lambda: "\n".join(lines))
    return 1 if failed else 0


def _result_line(result: "ScenarioResult") -> str:
    head = f"{result.model} on {result.machine}"
    best, failures = result.best, "; ".join(result.failures)
    if best is None or best.decode is None:
        return f"FAILS  {head}: {failures}"
    decode = best.decode
    speeds = range_of(float(decode.low), float(decode.high))
    text = (
        f"{head}: {tokens_per_second(float(decode.value))} ({speeds}), {best.runtime}, "
        f"{best.strategy.value}"
    )
    return f"FAILS  {text}: {failures}" if failures else f"holds  {text}"


def _result_json(result: "ScenarioResult") -> dict[str, Any]:
    from advisor.cli.estimate import estimate_answer

    return {
        "model": result.model,
        "machine": result.machine,
        "holds": not result.failures,
        "failures": list(result.failures),
        "estimate": None if result.best is None else estimate_answer(result.best),
    }
