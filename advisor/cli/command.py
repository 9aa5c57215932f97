"""What every command does alike: its options, and how its answer is printed."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[[argparse.Namespace], int | None]
"""Returns the exit code; None for 0."""
INSTALLED = "offload-advisor"
"""The console command that an installed package offers."""


def program() -> str:
    """What was typed to start the program."""
    return INSTALLED if Path(sys.argv[0]).stem == INSTALLED else "python -m advisor"


def added(commands: Any, name: str, run: Command, text: str) -> argparse.ArgumentParser:
    """A new command that knows `--json`.

    Args:
        commands: of the command line, or actions of one of them.
        name: of the command.
        run: what it does.
        text: what it does, in words.
    """
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(command=run)
    parser.add_argument("--json", action="store_true", help="for other programs")
    return parser


def show(args: argparse.Namespace, answer: object, text: Callable[[], str]) -> None:
    """Print a record as JSON where that was asked for, else its text."""
    print(json.dumps(answer, indent=2, allow_nan=False) if args.json else text())
