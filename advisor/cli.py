"""The same answers on the command line; `--json` for other programs.

Exit codes: 0 answered, 2 an input that cannot be used (said on standard error), 130 interrupted.
"""

import argparse
import csv
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import advisor
from advisor import answers, calibration_commands, models, options
from advisor.advice import advise
from advisor.compare import compare
from advisor.diagnosis import Measured, diagnose, measurable
from advisor.diagnosis_text import diagnosis_text
from advisor.errors import AdvisorError, InputError, StoreError
from advisor.estimate import Estimate
from advisor.runtimes import RUNTIMES, runtime
from advisor.wording import memory, money, range_of, seconds, tokens_per_second

Command = Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    args = parser().parse_args(arguments)
    command: Command = args.command
    try:
        command(args)
    except AdvisorError as error:
        print(f"advisor: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
    return 0


def parser() -> argparse.ArgumentParser:
    """Every command and its options."""
    top = argparse.ArgumentParser(prog="python -m advisor", description=advisor.__doc__)
    top.add_argument("--version", action="version", version=advisor.__version__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    one = _command(commands, "model", model, "sizes of a model in a format")
    options.add_model(one, positional=True)
    options.add_work(one)

    one = _command(commands, "estimate", estimate, "speed of each runtime and placement")
    _describe(one)

    one = _command(commands, "advise", advise_, "the estimates, bigger GPUs, money")
    _describe(one)
    options.add_money(one)
    one.add_argument("--save", metavar="NAME", help="keep it as a report")

    one = _command(commands, "diagnose", diagnose_, "why a measured speed is not the predicted one")
    _describe(one)
    options.add_measured(one)

    one = commands.add_parser("predict", help="speeds for the rows of a measurement file")
    one.set_defaults(command=predict)
    one.add_argument("rows", type=Path, metavar="ROWS.csv")
    one.add_argument("-o", "--output", type=Path, metavar="OUT.csv", help="else standard output")

    one = _command(commands, "probe", probe, "measure this machine")
    one.add_argument(
        "parts", nargs="*", metavar="ram|disk|gpu|engine", help="what to measure (all)"
    )
    one.add_argument("--save", action="store_true", help="use the result from now on")
    one.add_argument("--path", type=Path, help="file or folder whose drive is measured")
    one.add_argument("--quick", action="store_true", help="in under 20 s, else under 90 s")
    one.add_argument("--export", type=Path, metavar="FILE", help="for another computer to import")

    one = _command(commands, "accuracy", accuracy, "predictions against published measurements")
    one.add_argument("--markdown", action="store_true", help="the table of README")

    _command(commands, "claims", claims, "what articles say about offloading, and what holds")

    _report_commands(commands)
    calibration_commands.add(commands, _command, _print)
    return top


def _command(commands: Any, name: str, run: Command, text: str) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    one.set_defaults(command=run)
    one.add_argument("--json", action="store_true", help="for other programs")
    return one


def _describe(one: argparse.ArgumentParser) -> None:
    options.add_model(one, positional=False)
    options.add_work(one)
    options.add_machine(one)


def _report_commands(commands: Any) -> None:
    report = commands.add_parser("report", help="saved comparisons")
    actions = report.add_subparsers(required=True, metavar="ACTION")
    _command(actions, "list", report_list, "all of them, newest first")
    for name, run, text in (
        ("show", report_show, "one of them"),
        ("delete", report_delete, "remove one"),
        ("export", report_export, "write one as a file"),
    ):
        one = _command(actions, name, run, text)
        one.add_argument("id", type=int)
        if name == "export":
            one.add_argument("--format", default="html", choices=("html", "csv", "md", "json"))
            one.add_argument("-o", "--output", type=Path, help="else standard output")
    one = _command(actions, "import", report_import, "read one that was exported as JSON")
    one.add_argument("file", type=Path)


def model(args: argparse.Namespace) -> None:
    """`model NAME`."""
    work = options.work_of(args)
    found = models.find(args.model, args.quant)
    answer = answers.model_answer(found, work)
    _print(args, answer, lambda: "\n".join(_model_lines(answer)))


def _model_lines(answer: answers.Json) -> list[str]:
    return [
        f"{answer['name']}, {answer['format']}: "
        f"{answer['architecture']}, {answer['layers']} layers",
        f"  {answer['params'] / 1e9:,.2f} B parameters, "
        f"{answer['active_params'] / 1e9:,.2f} B active",
        f"  weights {memory(answer['weight_bytes'])}, "
        f"read per token {memory(answer['read_bytes_per_token'])}",
        f"  KV cache {memory(answer['kv_bytes'])} at {answer['context']:,.0f} tokens "
        f"({answer['kv_type']})",
        f"  source: {answer['source']}",
        *(f"  note: {note}" for note in answer["notes"]),
    ]


def estimate(args: argparse.Namespace) -> None:
    """`estimate --model NAME`."""
    found = compare(
        models.find(args.model, args.quant).model,
        options.machine_of(args),
        options.work_of(args),
        settings=options.settings_of(args),
        runtimes=[runtime(args.runtime)] if args.runtime else RUNTIMES,
    )
    _print(
        args,
        [answers.estimate_answer(one) for one in found],
        lambda: "\n".join(map(estimate_line, found)),
    )


def estimate_line(one: Estimate) -> str:
    """One estimate in a line of text."""
    head = f"{one.runtime:<11} {one.strategy:<13} {one.model.format:<8}"
    if one.refusal or one.decode is None or one.first_token is None:
        return f"{head} {one.refusal}"
    if not bool(one.fits):
        return f"{head} does not fit: {memory(float(one.missing))} short"
    low, high = float(one.decode.low), float(one.decode.high)
    return (
        f"{head} {tokens_per_second(float(one.decode.value)):>16} ({range_of(low, high)}), "
        f"first token {seconds(float(one.first_token.value))}, bound by {one.bottleneck}"
    )


def advise_(args: argparse.Namespace) -> None:
    """`advise --model NAME`."""
    machine, work, spent = options.machine_of(args), options.work_of(args), options.money_of(args)
    advice = advise(
        models.find(args.model, args.quant).model,
        machine,
        work,
        money=spent,
        settings=options.settings_of(args),
    )
    if args.save:
        from advisor.reports.compose import document
        from advisor.reports.store import open_store

        kept = document(advice, machine, work, spent, inputs={}, command=_typed())
        saved = open_store().save(kept, args.save)
        print(f"Saved as report {saved.id}.", file=sys.stderr)
    _print(args, answers.advice_answer(advice), lambda: _advice_text(advice))


def _typed() -> str:
    return "python -m advisor " + " ".join(sys.argv[1:])


def _advice_text(advice: Any) -> str:
    lines = [advice.title, "", advice.verdict, "", *map(estimate_line, advice.estimates), ""]
    for one in advice.upgrades:
        cost = f"{money(one.offer.monthly)} a month" if one.offer else "no sourced price"
        speed = tokens_per_second(float(one.estimate.decode.value))
        lines.append(
            f"{one.name:<34} {speed:>16}  {cost:>16}  {one.offer.note if one.offer else ''}"
        )
    lines += [
        "",
        *(f"{one.change}: {one.gain:.2f} times as fast, {one.cost}" for one in advice.what_ifs),
    ]
    return "\n".join(lines)


def diagnose_(args: argparse.Namespace) -> None:
    """`diagnose --model NAME --measured TPS`."""
    measured = Measured(decode=args.measured, prompt=args.measured_prompt)
    found = compare(
        models.find(args.model, args.quant).model,
        options.machine_of(args),
        options.work_of(args),
        settings=options.settings_of(args),
        runtimes=[runtime(args.runtime)] if args.runtime else RUNTIMES,
    )
    answer = diagnose(_meant(args, found), measured, options.system_of(args))
    _print(args, answers.diagnosis_answer(answer), lambda: diagnosis_text(answer))


def _meant(args: argparse.Namespace, found: Sequence[Estimate]) -> Estimate:
    """The estimate that was measured: the first that can have been, of the placement named.

    Raises:
        InputError: none can.
    """
    named = [one for one in found if args.placement in (None, one.strategy)]
    tried = measurable(named)
    if not tried:
        reasons = " ".join(dict.fromkeys(one.refusal for one in named))
        raise InputError(f"There is nothing to compare with. {reasons or 'Name another runtime.'}")
    return tried[0]


def predict(args: argparse.Namespace) -> None:
    """`predict ROWS.csv`."""
    from tqdm import tqdm

    from advisor.predict import COLUMNS, predictions

    rows = _rows(args.rows)
    found = list(tqdm(predictions(iter(rows)), total=len(rows), unit="row", disable=None))
    try:
        with (
            args.output.open("w", encoding="utf-8", newline="")
            if args.output
            else nullcontext(sys.stdout) as out
        ):
            writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)
    except OSError as error:
        raise InputError(f"{args.output} cannot be written: {error.strerror}.") from error


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
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


def accuracy(args: argparse.Namespace) -> None:
    """`accuracy`."""
    from advisor.accuracy import text
    from advisor.accuracy.ledger import ledger

    found = ledger()
    if args.markdown:
        print(text.markdown(found))
        return
    _print(args, text.record(found), lambda: text.plain(found))


def claims(args: argparse.Namespace) -> None:
    """`claims`."""
    from advisor.claims import claims as computed

    found = computed()
    lines = (f"{one.row.number}. {one.row.claim}\n   {one.answer}. {one.why}" for one in found)
    _print(args, [one.plain for one in found], lambda: "\n".join(lines))


PARTS = ("ram", "disk", "gpu", "engine")


def probe(args: argparse.Namespace) -> None:
    """`probe [ram|disk|gpu|engine ...]`."""
    from advisor import calibration

    for part in args.parts:
        if part not in PARTS:
            raise InputError(f"There is no probe {part!r}; measure {', '.join(PARTS)}.")
    found, notes = _measured(args.parts or PARTS, args.path, args.quick)
    for note in notes:
        print(f"advisor: {note}", file=sys.stderr)
    records: list[answers.Json] = [asdict(one) for one in found]
    _print(args, records, lambda: "\n".join(map(_measurement_line, records)))
    # After it was shown: a folder that cannot be written does not take what was measured with it.
    if args.save and found:
        calibration.save(found)
    if args.export:
        calibration_commands.export_found(found, args.export)


def _measured(names: Sequence[str], path: Path | None, quick: bool) -> tuple[list[Any], list[str]]:
    from tqdm import tqdm

    from advisor.errors import ProbeError
    from advisor.probes import parts
    from advisor.probes.progress import Step

    pace = parts.QUICK if quick else parts.FULL
    found: list[Any] = []
    notes: list[str] = []
    for name in names:
        with tqdm(total=100, desc=name, unit="%", disable=None, leave=False) as bar:

            def show(step: Step, bar: Any = bar) -> None:
                bar.set_postfix_str(f"{step.doing}, {step.seconds_left:.0f} s left", refresh=False)
                bar.update(round(step.share * 100) - bar.n)

            try:
                found += parts.measure(name, pace[name], show, path=path)
            except ProbeError as error:
                notes += [str(error), *(_known_gpus() if name == "gpu" else ())]
    return found, notes


def _known_gpus() -> list[str]:
    """What can be said of GPUs that cannot be measured."""
    from advisor.probes import gpu

    cards, unseen = gpu.gpus()
    return [*unseen, *(f"{card.name}: its speed is taken from the catalogue." for card in cards)]


def _measurement_line(one: dict[str, Any]) -> str:
    value = (
        f"{one['value'] / 1e9:8.2f} GB/s"
        if one["unit"] == "B/s"
        else (f"{one['value']:8.4g} {one['unit']}")
    )
    return f"{one['name']:<22} {value}  within {one['spread']:.0%}. {one['note']}"


def report_list(args: argparse.Namespace) -> None:
    """`report list`."""
    from advisor.reports.store import open_store

    heads = open_store().list()
    records: list[answers.Json] = [
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
    _print(args, records, lambda: "\n".join(lines) or "No report is saved yet.")


def report_show(args: argparse.Namespace) -> None:
    """`report show ID`."""
    from advisor.reports import export
    from advisor.reports.document import to_json
    from advisor.reports.store import open_store

    saved = open_store().load(args.id)
    _print(args, to_json(saved.document), lambda: export.markdown(saved.document))


def report_delete(args: argparse.Namespace) -> None:
    """`report delete ID`."""
    from advisor.reports.store import open_store

    open_store().delete(args.id)
    _print(args, {"deleted": args.id}, lambda: f"Report {args.id} is deleted.")


def report_export(args: argparse.Namespace) -> None:
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


def report_import(args: argparse.Namespace) -> None:
    """`report import FILE`."""
    from advisor.reports.document import from_json
    from advisor.reports.store import open_store

    try:
        document = from_json(json.loads(args.file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise StoreError(f"{args.file} is not a report exported as JSON: {error}.") from error
    saved = open_store().save(document, document.title)
    _print(args, {"id": saved.id}, lambda: f"Saved as report {saved.id}.")


def _print(args: argparse.Namespace, answer: object, text: Callable[[], str]) -> None:
    print(json.dumps(answer, indent=2, allow_nan=False) if args.json else text())
