"""A request as texts by name: the page's address, a saved report, a row of a table."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from advisor.catalog.inputs import BY_NAME, INPUTS
from advisor.errors import InputError, UnknownName
from advisor.request import former_links
from advisor.request.choices import CLOSED, listed, respelled
from advisor.request.request import DEFAULTS, Request

Problems = tuple[str, ...]
PAID = ("currency", "usd_rate")
"""Inputs that say in what money the others are."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What an address asks."""

    request: Request  # the request; what cannot be read has its default
    problems: tuple[str, ...] = ()  # what cannot be read, one sentence each


def to_texts(request: Request, *, defaults: bool = False) -> dict[str, str]:
    """Texts by name, without what is left open.

    Args:
        request: the request.
        defaults: also what has its default.
    """
    values = vars(request) if defaults else request.stated()
    return {
        entry.name: entry.text(values[entry.name])
        for entry in INPUTS
        if values.get(entry.name) not in (None, "", ())
    }


def from_texts(texts: Mapping[str, str], page: str = "") -> Request:
    """Request of a saved report, of a row, or of an address that must be right; names that are no
    input are left out, and an empty text leaves its input open.

    Args:
        texts: texts by name, or by the keys of former links.
        page: as in `former_links.renamed`.

    Raises:
        InputError: a text that cannot be read, or numbers that do not go together.
    """
    return Request(**{name: _value(name, text) for name, text in _named(texts, page).items()})


def from_address(parameters: Mapping[str, str], page: str = "") -> Opened:
    """Request of an address, and the problems of what it states; it never raises.

    Args:
        parameters: parameters of the address, by name or by the keys of former links.
        page: as in `former_links.renamed`.
    """
    with suppress(InputError):
        return Opened(request=from_texts(parameters, page))
    named = _named(parameters, page)
    paid, problems = _read({}, {name: named.pop(name) for name in PAID if name in named})
    try:
        Request(**paid)
    except InputError as error:
        paid, problems = {}, (*problems, f"{error} Shown instead: US dollars.")
    values, more = _read(paid, named)
    return Opened(request=Request(**values), problems=(*problems, *more))


def _read(paid: Mapping[str, Any], texts: Mapping[str, str]) -> tuple[dict[str, Any], Problems]:
    """Values that can be asked in a currency, and a sentence for each of the others."""
    values, problems = {**paid}, []
    for name, text in texts.items():
        try:
            value = _value(name, text)
            if name not in PAID:
                Request(**paid, **{name: value})
            values[name] = value
        except InputError as error:
            problems.append(f"{error} Shown instead: {_default(name)}.")
    return values, tuple(problems)


def _named(texts: Mapping[str, str], page: str) -> dict[str, str]:
    """Texts by the registry's names, without empty ones."""
    if page or former_links.is_former(texts):
        texts = former_links.renamed(texts, page)
    return {name: text for name, text in texts.items() if name in BY_NAME and text}


def _value(name: str, text: str) -> Any:
    """Value of a text, a name of a closed list in its spelling.

    Raises:
        InputError: it cannot be read; UnknownName for a name that a closed list lacks.
    """
    value = BY_NAME[name].read(text)
    if name not in CLOSED:
        return value
    name_listed = respelled(name, value)
    if name_listed not in listed(name):
        raise UnknownName(BY_NAME[name].label, text, listed(name))
    return name_listed


def _default(name: str) -> str:
    default = DEFAULTS[name]
    return BY_NAME[name].empty or "nothing" if default in (None, "", ()) else (
        BY_NAME[name].text(default)
    )  # fmt: skip
