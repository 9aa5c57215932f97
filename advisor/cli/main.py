"""Command line of the advisor; `--json` prints records for other programs.

Exit codes: 0 answered, 1 a condition of `report run` does not hold, 2 an input that cannot be used
(said on standard error), 130 interrupted.
"""

import argparse
import os
import sys
from collections.abc import Sequence

import advisor
from advisor.cli import (
    advise,
    calibration,
    dashboard,
    diagnose,
    estimate,
    evidence,
    find,
    machine,
    model,
    prices,
    probe,
    report,
)
from advisor.cli.command import Command, program
from advisor.cli.currency import currency_of
from advisor.errors import AdvisorError
from advisor.formatting import US_DOLLAR, show_money_in


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    args = parser().parse_args(arguments)
    args.typed = sys.argv[1:] if arguments is None else list(arguments)
    command: Command = args.command
    try:
        show_money_in(currency_of(args) if hasattr(args, "currency") else US_DOLLAR)
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

    model.add(commands)
    estimate.add(commands)
    advise.add(commands)
    diagnose.add(commands)
    find.add(commands)
    evidence.add(commands)
    probe.add(commands)
    report.add(commands)
    calibration.add(commands)
    machine.add(commands)
    prices.add(commands)
    dashboard.add(commands)
    return top
