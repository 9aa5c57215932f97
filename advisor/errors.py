"""What can go wrong, in words a person can act on.

    AdvisorError
    |-- InputError          a value that cannot be used: what, the value, what is allowed
    |   |-- UnknownName     a name that no catalogue knows, with the closest that it does
    |   `-- NeedMoreBytes   the beginning of a file, too short for what it begins
    |-- Refusal             a pair that cannot be: this model, format, runtime or GPU together
    |-- DataError           a row of data/ that breaks its own rules
    |-- ProbeError          a measurement that this machine does not allow
    |-- NetworkError        a host that cannot be reached, is busy or answers badly
    `-- StoreError          a report that cannot be saved, found or read

Every message says what is wrong, the value, what is allowed and what to do next.
"""

import difflib
from collections.abc import Iterable
from functools import lru_cache


class AdvisorError(Exception):
    """Root of everything this package raises on purpose."""


class InputError(AdvisorError):
    """A value that cannot be used."""


class UnknownName(InputError):
    """A name that the catalogue does not hold.

    Args:
        kind: what the name should be ("model", "GPU").
        name: what was given.
        known: names that would be accepted.
        hint: what to do when none of the close names is meant.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.close = close_names(name, tuple(known))
        meant = f" Did you mean {_either(self.close)}?" if self.close else ""
        super().__init__(f"No {kind} is called {name[:80]!r}.{meant}{' ' + hint if hint else ''}")


class NeedMoreBytes(InputError):
    """The beginning of a file ends before its header does.

    Args:
        name: the file, as the person knows it.
        needed: bytes from its start that are needed at least [B].
    """

    def __init__(self, name: str, needed: int) -> None:
        self.needed = needed
        super().__init__(
            f"{name}: the header goes on after what was given; at least its first {needed:,} bytes "
            "are needed. Give the whole file, or a longer beginning of it."
        )


class Refusal(AdvisorError):
    """A model, format, runtime or GPU that cannot go together."""


class DataError(AdvisorError):
    """A row of data/ that breaks its own rules."""


class ProbeError(AdvisorError):
    """A measurement that this machine does not allow."""


class NetworkError(AdvisorError):
    """A host that cannot be reached, is busy or answers badly."""


class StoreError(AdvisorError):
    """A report that cannot be saved, found or read."""


@lru_cache(maxsize=1024)
def close_names(name: str, known: tuple[str, ...], limit: int = 3) -> tuple[str, ...]:
    """Known names that look like `name`, best first, compared without case."""
    by_folded = {spelling.casefold(): spelling for spelling in known}
    close = difflib.get_close_matches(name.casefold()[:80], by_folded, n=limit, cutoff=0.5)
    return tuple(by_folded[folded] for folded in close)


def _either(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
