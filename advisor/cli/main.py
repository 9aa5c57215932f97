"""Command line of the advisor; `--json` prints records for other programs.

Exit codes: 0 answered, 1 a condition of `report run` does not hold, 2 an input that cannot be used
(said on standard error), 130 interrupted.
"""

import argparse
import os
import sys
from collections.abc import Sequence

import advisor
from advisor.advice.compare import compare
from advisor.advice.diagnosis.diagnose import diagnose, measurable
from advisor.advice.diagnosis.text import diagnosis_text
from advisor.advice.words.context_limits import context_notes
from advisor.advice.words.title import title_of
from advisor.cli import (
    calibration,
    dashboard,
    described,
    evidence,
    find,
    json_records,
    machine,
    many_users,
    money_options,
    options,
    prices,
    probe,
    recompute,
    report,
)
from advisor.cli.advice_text import advice_text, estimate_lines
from advisor.cli.command import Command, added, program, show
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, InputError
from advisor.formatting import (
    US_DOLLAR,
    memory,
    show_money_in,
)
from advisor.machine.machine import Machine
from advisor.model import resolve
from advisor.model.model import Model
from advisor.runtimes import RUNTIMES, beside, runtime


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    args = parser().parse_args(arguments)
    args.typed = sys.argv[1:] if arguments is None else list(arguments)
    command: Command = args.command
    try:
        show_money_in(money_options.currency_of(args) if hasattr(args, "currency") else US_DOLLAR)
        code = command(args)
        if sys.stdout:  # None where it was closed before the start
            sys.stdout.flush()
    except AdvisorError as error:
        print(f"advisor: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _discard_output()
        return 0
    return code or 0


def _discard_output() -> None:
    """Send further output nowhere, after its reader has closed the pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser() -> argparse.ArgumentParser:
    """Parser with every command and its options."""
    top = argparse.ArgumentParser(prog=program(), description=advisor.__doc__)
    top.add_argument("--version", action="version", version=advisor.__version__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    subparser = added(
        commands, "model", model, "size of a model in a format, bytes read per token, cache"
    )
    options.add_model(subparser, positional=True)
    options.add_work(subparser)

    subparser = added(commands, "estimate", estimate, "speed of each runtime and placement")
    _describe(subparser)

    subparser = added(
        commands, "advise", advise_, "complete advice: estimates, and what to keep, buy or rent"
    )
    recompute.add_options(subparser)
    subparser.add_argument(
        "--save", metavar="NAME", help="save the answer as a report of this name"
    )
    subparser.add_argument("--author", default="", metavar="NAME", help="author of the report")

    subparser = added(
        commands, "diagnose", diagnose_, "why a measured speed differs from the prediction"
    )
    _describe(subparser)
    options.add_measured(subparser)

    find.add(commands)
    evidence.add(commands)
    probe.add(commands)
    report.add(commands)
    calibration.add(commands)
    machine.add(commands)
    prices.add(commands)
    dashboard.add(commands)
    return top


def _describe(subparser: argparse.ArgumentParser) -> None:
    options.add_model(subparser, positional=False)
    options.add_work(subparser)
    options.add_machine(subparser)


def model(args: argparse.Namespace) -> None:
    """Run `model NAME`."""
    work = described.work_of(args)
    resolved = resolve.find(args.model, args.quant)
    answer = json_records.model_answer(resolved, work)
    show(args, answer, lambda: "\n".join(_model_lines(answer)))


def _model_lines(answer: json_records.Json) -> list[str]:
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
    """Run `estimate --model NAME`."""
    resolved = resolve.find(args.model, args.quant)
    work, here = described.work_of(args), described.machine_of(args)
    estimates = _compared(args, resolved.model, here, work)
    if not args.json:
        for note in (*resolved.notes, *context_notes(resolved.model, work)):
            print(f"note: {note}", file=sys.stderr)
    records = (json_records.estimate_answer(each, resolved.taken_as) for each in estimates)
    title = title_of(resolved.model, here)
    show(
        args,
        [*records] if args.json else [],
        lambda: "\n".join((title, "", *estimate_lines(estimates))),
    )


def _compared(
    args: argparse.Namespace, model: Model, here: Machine, work: Workload
) -> tuple[Estimate, ...]:
    return compare(
        model,
        here,
        work,
        settings=described.settings_of(args),
        runtimes=[runtime(args.runtime)] if args.runtime else (*RUNTIMES, *beside(here)),
    )


def advise_(args: argparse.Namespace) -> None:
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
    show(args, _advice_record(args, answered), lambda: advice_text(args, advice))


def _advice_record(
    args: argparse.Namespace, answered: recompute.ComputedAdvice
) -> json_records.Json:
    """JSON record of an answer; loads of many users are simulated only if it is printed."""
    if not args.json:
        return {}
    record = json_records.advice_answer(answered.advice, answered.taken_as)
    return record | many_users.answer(args, answered.advice)


def diagnose_(args: argparse.Namespace) -> None:
    """Run `diagnose --model NAME --measured TPS`."""
    measured = described.measured_of(args)
    resolved = resolve.find(args.model, args.quant)
    here, work = described.machine_of(args), described.work_of(args)
    estimates = _compared(args, resolved.model, here, work)
    answer = diagnose(_meant(args, estimates), measured, described.system_of(args))
    record = json_records.diagnosis_answer(answer, resolved.taken_as)
    show(args, record, lambda: diagnosis_text(answer))


def _meant(args: argparse.Namespace, estimates: Sequence[Estimate]) -> Estimate:
    """Estimate to compare with the measurement: the first that fits, of the named placement.

    Raises:
        InputError: no estimate fits.
    """
    named = [each for each in estimates if args.placement in (None, each.strategy)]
    tried = measurable(named)
    if not tried:
        reasons = " ".join(dict.fromkeys(each.refusal for each in named))
        raise InputError(f"There is nothing to compare with. {reasons or 'Name another runtime.'}")
    return tried[0]
