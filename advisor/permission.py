"""Permission: what the text of a person may make this process open.

Whoever sits at the computer may name its files, and the computer itself. A server that strangers
reach, or one that an assistant asks, may not be made to. So every reader of a name asks here before
it looks at a disk: no door has to know which of its inputs could be a path.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from advisor.errors import InputError

LONGEST_SHOWN = 80  # letters of a value that a message repeats


@dataclass(frozen=True, kw_only=True, slots=True)
class Permission:
    """Files and addresses that a name may open."""

    files: bool = True  # files of this computer
    network: bool = True  # files of other computers, by paths that begin with two slashes
    here: bool = True  # this computer: its parts, and the machines that were measured for it
    token: bool = True  # what the token of Hugging Face of whoever runs the program opens
    instead: str = "give the name of a model, or a repository owner/name"  # what to do otherwise


EVERYTHING = Permission()
NETWORK_PATH = re.compile(r"[/\\]{2}")
_NARROWED: ContextVar[Permission | None] = ContextVar("narrowed", default=None)
_OF_PROCESS: list[Callable[[], Permission]] = [lambda: EVERYTHING]
"""Who decides where no context does; a server's, for all of its threads."""


def permitted() -> Permission:
    """Present permission: that of the context, or of the process where the context has none."""
    return _NARROWED.get() or _OF_PROCESS[0]()


def decided_by(decide: Callable[[], Permission]) -> None:
    """Set the function that decides for the whole process: visitors' threads begin without a
    context.
    """
    _OF_PROCESS[0] = decide


@contextmanager
def narrowed(to: Permission) -> Iterator[None]:
    """Context in which names may open only what is given."""
    token = _NARROWED.set(to)
    try:
        yield
    finally:
        _NARROWED.reset(token)


def opens(path: str | Path) -> bool:
    """Whether a path may be looked at."""
    now = permitted()
    return now.files and (now.network or not NETWORK_PATH.match(str(path)))


def check_path(path: str | Path) -> None:
    """Check that a path may be read, before anything reads it.

    Raises:
        InputError: files of this computer, or of others, are not read here.
    """
    now = permitted()
    name = repr(str(path)[:LONGEST_SHOWN])
    if not now.files:
        raise InputError(
            f"{name} is the path of a file, and files of this computer are not read here; "
            f"{now.instead}."
        )
    if not opens(path):
        raise InputError(
            f"{name} begins with two slashes, as paths that lead to other machines; not read. Copy "
            "the file here and give its path."
        )


def check_here(name: str) -> None:
    """Check that this computer, or a measured one, may be shown.

    Raises:
        InputError: this computer is not shown here.
    """
    if not permitted().here:
        raise InputError(
            f"{name[:LONGEST_SHOWN]!r} is the computer of this server, which is not shown to its "
            "visitors; give a machine by its name or its parts."
        )
