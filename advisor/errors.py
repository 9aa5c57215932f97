"""Errors of the package, with messages a person can act on.

    AdvisorError
    |-- InputError          a value that cannot be used: what, the value, what is allowed
    |   |-- UnknownName     a name missing from the catalogue, with similar known names
    |   `-- NeedMoreBytes   the start of a file, without the end of its header
    |-- Refusal             an impossible combination of model, format, runtime and GPU
    |-- DataError           an invalid row of data/
    |-- ProbeError          a measurement that this machine does not allow (`failures`)
    |-- NetworkError        a host that is unreachable or busy, or sends an invalid answer
    `-- StoreError          a report that cannot be saved, found or read

Every message says what is wrong, the value, what is allowed and what to do next.
"""

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import ClassVar

LONGEST_SHOWN = 80  # letters of a value that a message repeats


class AdvisorError(Exception):
    """Base class of all errors of this package."""


class InputError(AdvisorError):
    """Error on a value that cannot be used."""


class UnknownName(InputError):
    """Error on a name of some kind ("model", "GPU") that is not accepted.

    The accepted names are searched only where the error is shown; a hint is advice for a name
    without similar ones.
    """

    LONGEST: ClassVar = 300
    """Letters of a name, or of a number with its unit: the longest published names have 120."""

    def __init__(self, kind: str, name: str, names: Iterable[str], hint: str = "") -> None:
        super().__init__(kind, name)
        self.kind = kind
        self.name = name
        self.hint = hint
        self._names = names

    @cached_property
    def close(self) -> tuple[str, ...]:
        """Names that may be meant, the best match first, compared only where the error is shown."""
        return close_names(self.name, tuple(self._names))

    def __str__(self) -> str:
        *others, last = self.close or ("",)
        if others:
            either = f"{', '.join(others)} or {last}"
        else:
            either = last
        if last:
            meant = f" Did you mean {either}?"
        else:
            meant = ""
        hint = f" {self.hint}" if self.hint else ""
        if self.kind[1:2].isupper():
            noun = self.kind
        else:
            noun = self.kind[:1].lower() + self.kind[1:]
        if not self.name.strip():
            return f"The name of the {noun} is empty.{hint}"
        return f"No {noun} is called {self.name[:LONGEST_SHOWN]!r}.{meant}{hint}"

    @staticmethod
    def check(kind: str, text: str) -> None:
        """Check that a text is not too long for a name, before a pattern reads it.

        Some patterns take time that grows with the square of a text's length, and every other
        visitor waits meanwhile.

        Raises:
            UnknownName: it has more letters than names have.
        """
        if len(text) > UnknownName.LONGEST:
            hint = f"It has {len(text):,} letters; at most {UnknownName.LONGEST} are read."
            raise UnknownName(kind, text, (), hint)


class Refusal(AdvisorError):
    """Error on an impossible combination of model, format, runtime and GPU."""


class DataError(AdvisorError):
    """Error on an invalid row of data/."""


@lru_cache(maxsize=1024)
def close_names(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Similar names, at most three, the best match first; case is ignored."""
    import difflib  # takes time to load, and only errors need it

    by_folded = {spelling.casefold(): spelling for spelling in names}
    close = difflib.get_close_matches(name.casefold()[:80], by_folded, n=3, cutoff=0.5)
    return tuple(by_folded[folded] for folded in close)
