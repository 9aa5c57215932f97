"""Command line of the advisor; `--json` prints records for other programs.

Exit codes: 0 answered, 1 a promise of `check` or `report run` is broken, 2 an input that cannot be
used (said on standard error), 130 interrupted. Without a command, `here` is run.
"""

import argparse
import errno
import gc
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from advisor.cli.command import tell
from advisor.cli.parser import parsed
from advisor.errors import AdvisorError, InputError
from advisor.formatting import US_DOLLAR, harmless, show_money_in

if TYPE_CHECKING:
    from advisor.request.request import Request

EXTRAS = {
    **dict.fromkeys(("streamlit", "pandas", "plotly"), "app"),
    **dict.fromkeys(("sqlalchemy", "jinja2", "markupsafe", "matplotlib", "fpdf"), "reports"),
    **dict.fromkeys(("huggingface_hub", "httpx2"), "hub"),
    **dict.fromkeys(("mcp", "mcp_types", "anyio"), "mcp"),
}
"""Extras of this package by the module that they bring."""


BETWEEN_COLLECTIONS = 200_000
"""Objects that are made before Python looks for those that nobody uses: a command ends soon, and
most that it makes are kept to its end."""

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Reasons for which a disk, or a user's share of it, takes no more."""


def start() -> NoReturn:
    """Program that a shell starts: one command, then the process ends with its exit code.

    Python would first free every object, which takes a tenth of the time of a short answer. It
    still does so where somebody debugs or profiles the program, or where threads or processes of
    it may have work left.
    """
    code = main()
    watched = sys.gettrace() or sys.getprofile() or sys.flags.interactive
    if watched or threading.active_count() > 1 or "multiprocessing" in sys.modules:
        sys.exit(code)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    gc.set_threshold(BETWEEN_COLLECTIONS)
    typed = (sys.argv[1:] if arguments is None else list(arguments)) or ["here"]
    try:
        return run(typed)
    except AdvisorError as error:
        print(harmless(f"advisor: {error}"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _drop_further_output()
        return 0
    except OSError as error:
        if error.errno not in FULL:
            raise
        _drop_further_output()
        print(
            f"advisor: The answer cannot be written whole: {error.strerror}. Free some, or send it "
            "elsewhere.",
            file=sys.stderr,
        )
        return 2


def _drop_further_output() -> None:
    """Send further output nowhere, after its reader has closed the pipe or its disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(typed: list[str]) -> int:
    """Exit code of a command that is run.

    Raises:
        AdvisorError: it has no answer, or needs a package that is not installed.
    """
    args = parsed(typed)
    args.typed = typed
    module, _, function = args.command.run.partition(".")
    tell(getattr(args, "replaced", ()))
    args.request = _request(args)
    show_money_in(args.request.paying if args.request else US_DOLLAR)
    if args.request and args.request.rate_note:
        print(f"note: {args.request.rate_note}", file=sys.stderr)
    try:
        code = getattr(import_module(f"advisor.cli.{module}"), function)(args)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in EXTRAS:
            raise
        raise InputError(
            f"This needs the package {missing}, which is not installed: pip install "
            f"'offload-advisor[{EXTRAS[missing]}]', or in a clone pip install "
            f"'.[{EXTRAS[missing]}]'."
        ) from error
    if sys.stdout:  # None where it was closed before the start
        sys.stdout.flush()
    return code or 0


def _request(args: argparse.Namespace) -> "Request | None":
    """Request that the options state; None for a command that takes no inputs of one."""
    if not args.command.groups:
        return None
    from advisor.request.command_line import from_args

    request = from_args(args)
    files = getattr(args, "known_file", None)
    if not files:
        return request
    from advisor.advice.known_files import known_in  # with the readers of tools, for files alone

    texts = [text for file in files for text in known_in(file)]
    return replace(request, known=(*request.known, *texts))
