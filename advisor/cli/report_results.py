"""`report attach` and `report contribute`: measured results of a report."""

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from advisor.cli.command import add_measured, added, show
from advisor.errors import InputError

if TYPE_CHECKING:
    from advisor.reports.document.measured import MeasuredResult
    from advisor.reports.store.saved import SavedReport


def add(actions: Any) -> None:
    """Add the two actions to those of `report`."""
    action = added(actions, "attach", _attach, "add a measured speed to a report")
    action.add_argument("id", type=int)
    add_measured(action)
    action.add_argument("--runtime", metavar="NAME", help="measured runtime (the first that fits)")
    action.add_argument("--note", default="", help="remark on the measurement")
    action = added(
        actions, "contribute", _contribute, "a CSV line and the text of a pull request; nothing is "
        "sent",
    )  # fmt: skip
    action.add_argument("id", type=int)
    action.add_argument(
        "--result", type=int, default=1, metavar="N", help="number of the result (1)"
    )
    action.add_argument(
        "--agree", action="store_true", help="you measured it and agree that it is published"
    )


def _attach(args: argparse.Namespace) -> None:
    """Run `report attach ID --measured TPS`."""
    from advisor.reports.store.store import open_store

    store = open_store()
    result = result_of(args, store.load(args.id))
    judged = store.attach(args.id, result).judged[-1]
    record = {"id": args.id, "outcome": judged.outcome, "words": judged.words}
    show(args, record, lambda: judged.words)


def result_of(args: argparse.Namespace, report: "SavedReport") -> "MeasuredResult":
    """Measured result described by the options.

    Raises:
        InputError: an impossible speed, or a runtime or placement that the report lacks.
    """
    from advisor.advice.diagnosis.reported_speeds import reported_in
    from advisor.reports.document.measured import MeasuredResult, measured_card

    card = measured_card(report.document, args.runtime, args.placement)
    speeds = None if args.results is None else reported_in(args.results)
    decode = args.measured if speeds is None else speeds.measured.decode
    prompt = args.measured_prompt
    if prompt is None and speeds is not None:
        prompt = speeds.measured.prompt
    return MeasuredResult(
        runtime=card.runtime,
        placement=card.placement,
        decode_tps=decode,
        prefill_tps=prompt,
        source="typed" if speeds is None else speeds.source,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        note=args.note,
    )


def _contribute(args: argparse.Namespace) -> None:
    """Run `report contribute ID --agree`."""
    from advisor.reports.files.contribution import contribution
    from advisor.reports.store.store import open_store

    made = contribution(open_store().load(args.id), args.result)
    if not args.agree:
        raise InputError(
            "A contributed row is public: model, format, GPU, runtime, speeds, date, the name of "
            "the machine and your note. If you measured it and agree, repeat with --agree; "
            "nothing is sent then either."
        )
    record = {"line": made.line, "title": made.title, "text": made.text}
    show(args, record, lambda: f"{made.line}\n\n{made.title}\n\n{made.text}")
