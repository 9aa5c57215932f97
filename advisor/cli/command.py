"""Parts common to all commands: the parser, the `--json` option, the output."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.cost_model.placement import PlacementStrategy

if TYPE_CHECKING:
    from advisor.advice.speeds import Speed

Command = Callable[[argparse.Namespace], int | None]
"""Function that runs a command and returns its exit code; None for 0."""
INDENTED = 1000
"""Most records of a list that is indented."""
INSTALLED = "offload-advisor"
"""The console command that an installed package offers."""


def program() -> str:
    """Name under which the program was started, for usage lines and hints."""
    return INSTALLED if Path(sys.argv[0]).stem == INSTALLED else "python -m advisor"


def added(commands: Any, name: str, run: Command, text: str) -> argparse.ArgumentParser:
    """Parser of a new command, with the option `--json`."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(command=run)
    parser.add_argument("--json", action="store_true", help="print JSON for other programs")
    return parser


def add_measured(parser: argparse.ArgumentParser) -> None:
    """Add the options for measured speeds and their placement."""
    group = parser.add_argument_group("measured")
    speed = group.add_mutually_exclusive_group(required=True)
    speed.add_argument(
        "--measured", type=float, metavar="TPS", help="measured decode speed per user"
    )
    speed.add_argument(
        "--results", type=Path, metavar="FILE.json",
        help="output of llama-bench, Ollama, LM Studio or vLLM instead of both speeds",
    )  # fmt: skip
    group.add_argument("--measured-prompt", type=float, metavar="TPS", help="measured prompt speed")
    group.add_argument(
        "--measured-prompt-tokens", type=float, metavar="N",
        help="length of that prompt (--prompt)",
    )  # fmt: skip
    group.add_argument(
        "--placement", type=str.lower, choices=list(PlacementStrategy),
        help="measured placement (the first that fits)",
    )  # fmt: skip


def tell(notes: Iterable[str]) -> None:
    """Print notes on a machine on standard error."""
    for note in notes:
        print(f"advisor: {note}", file=sys.stderr)


def show(args: argparse.Namespace, answer: object, text: Callable[[], str]) -> None:
    """Print a record as JSON if `--json` was given, else its text.

    A long list has one record a line, which is several times quicker to write than an indented one.
    """
    if args.json and isinstance(answer, list) and len(answer) > INDENTED:
        lines = ",\n".join(json.dumps(record, allow_nan=False) for record in answer)
        print(f"[\n{lines}\n]")
    else:
        print(json.dumps(answer, indent=2, allow_nan=False) if args.json else text())


# JSON records printed by the commands, an interface for other programs: SI units, named in the
# keys.

Json = dict[str, Any]


def speed_record(speed: "Speed | None") -> Json:
    """Decode speed with its range and the time to the first token; None where it does not run."""
    return {
        "decode_tps": speed.decode if speed else None,
        "decode_tps_low": speed.low if speed else None,
        "decode_tps_high": speed.high if speed else None,
        "ttft_s": speed.first_token if speed else None,
    }
