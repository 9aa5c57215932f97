"""Becomes another program that Linux ends together with the process that began this one.

Started by `engine_job` as `with_parent.py PARENT PROGRAM ARGUMENT...`, so that an engine is gone
even where the probe is killed and can clean up nothing. Imports nothing of this package: it must
start quickly.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""Number of the request in linux/prctl.h."""
CANNOT_START = 127
"""The exit code of shells for it."""


def main(parent: int, command: list[str]) -> None:
    """Become the command, unless the parent is gone already."""
    end_with_parent(parent)
    try:
        os.execv(command[0], command)  # noqa: S606 - an engine that the person has installed
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started ({error.strerror}); install it again.")
        os._exit(CANNOT_START)


def end_with_parent(parent: int) -> None:
    """Let Linux end this process with the one that began it, even if that one is killed.

    Args:
        parent: the process that began this one.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # killed before it could be asked for
        os._exit(CANNOT_START)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
