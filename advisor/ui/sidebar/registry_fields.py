"""Inputs made from the registry: its label, limits and help under a key in links."""

from collections.abc import Callable

from advisor.catalog.inputs import BY_NAME
from advisor.ui.sidebar.field_kinds import Amount, Pick, Size
from advisor.units import tokens


def number(
    key: str, name: str, step: float, *, default: float | None = None, placeholder: str = "",
    label: str = "",
) -> Amount:  # fmt: skip
    """Number of the input registry, under its key in links.

    Args:
        key: key in links and in the session.
        name: name in the registry.
        step: step of the buttons.
        default: default; None for empty.
        placeholder: text in the empty field.
        label: shorter label, for a narrow column.
    """
    entry = BY_NAME[name]
    low, high = entry.limits or (0.0, float("inf"))
    return Amount(
        key=key, label=label or entry.title, low=low, high=high, default=default, step=step,
        placeholder=placeholder, help=_sentence(entry.help),
    )  # fmt: skip


def choice(
    name: str, options: tuple[str, ...], kind: str, default: str, *, free: bool = False
) -> Pick:
    """Choice of the input registry, under its own name.

    Args:
        name: name in the registry, and the key in links and in the session.
        options: names to choose from beside the default.
        kind: kind of thing, for messages.
        default: option that states nothing.
        free: other text is allowed.
    """
    entry = BY_NAME[name]
    return Pick(
        key=name, label=entry.label, kind=kind, options=(default, *options), default=default,
        help=_sentence(entry.help), free=free,
    )  # fmt: skip


def size(
    key: str, name: str, read: Callable[[str], float], *, default: float | None = None,
    placeholder: str = "", label: str = "",
) -> Size:  # fmt: skip
    """Size of the input registry, typed with or without its unit.

    Args:
        key: key in links and in the session.
        name: name in the registry.
        read: parser of the text.
        default: default; None for empty.
        placeholder: text in the empty field.
        label: shorter label, for a narrow column.
    """
    entry = BY_NAME[name]
    low, high = entry.limits or (0.0, float("inf"))
    return Size(
        key=key, label=label or entry.title, low=low, high=high, default=default, read=read,
        whole=entry.whole or read is tokens, placeholder=placeholder, help=_sentence(entry.help),
    )  # fmt: skip


def _sentence(phrase: str) -> str:
    return f"{phrase[:1].upper()}{phrase[1:]}."
