"""Start of another program that Linux ends together with the parent process.

Started by `job` as `die_with_parent.py PARENT PROGRAM ARGUMENT...`, so that an engine ends even
where the probe is killed and cannot clean up. Imports nothing of this package, to start quickly.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # number of the request in linux/prctl.h
CANNOT_START = 127  # the exit code of shells for it


def main(parent: int, command: list[str]) -> None:
    """Replace this process by the command, unless the parent has ended already."""
    end_with_parent(parent)
    try:
        os.execv(command[0], command)  # noqa: S606 - an engine that the person has installed
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started ({error.strerror}); install it again.")
        os._exit(CANNOT_START)


def end_with_parent(parent: int) -> None:
    """Let Linux end this process when its parent ends, even by a kill."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before the signal was requested
        os._exit(CANNOT_START)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
