"""Kinds of inputs of the Advise page: one of several names, a number, a size as people type it."""

from collections.abc import Callable
from dataclasses import dataclass

from advisor.errors import InputError, UnknownName


@dataclass(frozen=True, kw_only=True)
class Pick:
    """One of several names.

    Attributes:
        key: in links and in the session.
        label: above the widget.
        options: as shown and as written in links.
        default: one of them.
        kind: what a name is ("GPU"), for messages.
        help: behind the question mark.
        free: other text is allowed too, and judged where it is used.
    """

    key: str
    label: str
    options: tuple[str, ...]
    default: str
    kind: str
    help: str = ""
    free: bool = False

    @property
    def default_text(self) -> str:
        """The default as a link writes it."""
        return self.default

    def meant(self, text: str) -> str | None:
        """The option that a value from a link names, whatever its case; None where none is."""
        folded = text.strip().casefold()
        return next((option for option in self.options if option.casefold() == folded), None)

    def problem(self, text: str) -> str:
        """What is wrong with a value from a link; empty where nothing is."""
        if self.free or self.meant(text) is not None:
            return ""
        return f"{UnknownName(self.kind, text, self.options)} Shown instead: {self.default}."


@dataclass(frozen=True, kw_only=True)
class Amount:
    """A number.

    Attributes:
        key: in links and in the session.
        label: above the widget, with the unit.
        low: smallest.
        high: largest.
        default: None for empty.
        step: of the buttons; whole numbers where it is whole.
        placeholder: shown while empty.
        help: behind the question mark.
    """

    key: str
    label: str
    low: float
    high: float
    default: float | None
    step: float
    placeholder: str = ""
    help: str = ""

    def problem(self, text: str) -> str:
        """What is wrong with a value from a link; empty where nothing is."""
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if self.low <= value <= self.high and self.whole_enough(value):
            return ""
        return (
            f"{self.label} cannot be {text[:40]!r}; allowed is {self.low:,g} to {self.high:,.0f}. "
            f"Shown instead: {self.default_text or 'nothing'}."
        )

    @property
    def default_text(self) -> str:
        """The default as a link writes it; empty for none."""
        return "" if self.default is None else f"{self.default:g}"

    @property
    def whole(self) -> bool:
        """Takes whole numbers only."""
        return isinstance(self.step, int)

    def whole_enough(self, value: float) -> bool:
        """A whole number, where it has to be."""
        return not self.whole or value == int(value)

    def amount(self, text: str) -> float:
        """The number that a text says.

        Raises:
            ValueError: none.
        """
        return float(text)


@dataclass(frozen=True, kw_only=True)
class Size:
    """A size, rate or number of tokens, typed as people write it: "64GB", "3.5 GB/s", "128k".

    Attributes:
        key: in links and in the session.
        label: above the widget, with the unit.
        low: smallest.
        high: largest.
        default: None for empty.
        read: the number that a text says.
        whole: takes whole numbers only.
        placeholder: shown while empty.
        help: behind the question mark.
    """

    key: str
    label: str
    low: float
    high: float
    default: float | None
    read: Callable[[str], float]
    whole: bool = False
    placeholder: str = ""
    help: str = ""

    @property
    def default_text(self) -> str:
        """The default as a link writes it; empty for none."""
        return "" if self.default is None else f"{self.default:g}"

    def problem(self, text: str) -> str:  # noqa: ARG002 (said under the field, where it is read)
        """Nothing: what is wrong stands under the field."""
        return ""

    def amount(self, text: str) -> float:
        """The number that a text says.

        Raises:
            InputError: none, or one outside the limits.
        """
        value = self.read(text)
        if not self.low <= value <= self.high:
            allowed = f"allowed is {self.low:,g} to {self.high:,.0f}"
            raise InputError(f"{self.label} cannot be {text[:40]!r}; {allowed}.")
        return float(round(value)) if self.whole else value


Field = Pick | Amount | Size
