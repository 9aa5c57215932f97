"""Kinds of inputs: choice among names, number, size with a unit."""

from collections.abc import Callable
from dataclasses import dataclass

from advisor.errors import InputError, UnknownName


@dataclass(frozen=True, kw_only=True)
class Pick:
    """Choice among names.

    Attributes:
        key: key in links and in the session.
        label: label of the widget.
        options: names as shown and as written in links.
        default: default option.
        kind: kind of thing ("GPU"), for messages.
        help: text behind the question mark.
        free: other text is allowed, and checked where it is used.
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
        """Default as written in links."""
        return self.default

    def meant(self, text: str) -> str | None:
        """Option that a value of a link names, ignoring case; None if there is none."""
        folded = text.strip().casefold()
        return next((option for option in self.options if option.casefold() == folded), None)

    def problem(self, text: str) -> str:
        """Problem with a value of a link; empty if there is none."""
        if self.free or self.meant(text) is not None:
            return ""
        return f"{UnknownName(self.kind, text, self.options)} Shown instead: {self.default}."


@dataclass(frozen=True, kw_only=True)
class Amount:
    """Number.

    Attributes:
        key: key in links and in the session.
        label: label of the widget, with the unit.
        low: smallest value.
        high: largest value.
        default: default; None for empty.
        step: step of the buttons; a whole number allows whole numbers only.
        placeholder: text in the empty field.
        help: text behind the question mark.
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
        """Problem with a value of a link; empty if there is none."""
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
        """Default as written in links; empty for none."""
        return "" if self.default is None else f"{self.default:g}"

    @property
    def whole(self) -> bool:
        """Takes whole numbers only."""
        return isinstance(self.step, int)

    def whole_enough(self, value: float) -> bool:
        """Whether the number is whole or need not be."""
        return not self.whole or value == int(value)

    def amount(self, text: str) -> float:
        """Number in a text.

        Raises:
            ValueError: the text is not a number.
        """
        return float(text)


@dataclass(frozen=True, kw_only=True)
class Size:
    """Size, rate or number of tokens as people write it: "64GB", "3.5 GB/s", "128k".

    Attributes:
        key: key in links and in the session.
        label: label of the widget, with the unit.
        low: smallest value.
        high: largest value.
        default: default; None for empty.
        read: parser of the text.
        whole: allows whole numbers only.
        placeholder: text in the empty field.
        help: text behind the question mark.
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
        """Default as written in links; empty for none."""
        return "" if self.default is None else f"{self.default:g}"

    def problem(self, text: str) -> str:  # noqa: ARG002 (said under the field, where it is read)
        """Always empty, since problems are shown below the field."""
        return ""

    def amount(self, text: str) -> float:
        """Number in a text.

        Raises:
            InputError: not a number, or one outside the limits.
        """
        value = self.read(text)
        if not self.low <= value <= self.high:
            allowed = f"allowed is {self.low:,g} to {self.high:,.0f}"
            raise InputError(f"{self.label} cannot be {text[:40]!r}; {allowed}.")
        return float(round(value)) if self.whole else value


Field = Pick | Amount | Size
