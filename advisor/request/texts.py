"""A request as texts by name: the page's address, a saved report, a row of a table."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.inputs import INPUTS, Kind
from advisor.errors import InputError, UnknownName
from advisor.machine import from_spec
from advisor.machine.catalog import GPUS
from advisor.machine.spec import MachineSpec
from advisor.request.lists import CLOSED, listed, respelled, takes
from advisor.request.request import DEFAULTS, NOTHING, Request
from advisor.runtimes import LLAMA_CPP, runtime

# Links, reports and copied addresses from before the keys were the registry's names.
#
# Most keys only have another name (`former` in data/inputs.csv). The others say in several inputs,
# or in words of a form, what the registry says in one: those are read here. Links were without
# defaults, so what a link leaves open is what the form then began with.

Texts = dict[str, str]
RENAMED = {entry.former: entry.name for entry in INPUTS.values() if entry.former}
THIS = "this machine"
ANOTHER = "another machine"
NAMED = "by name"
OPEN = ("auto", "any", "as stored", "as seen", "by its parts", "as in the sidebar")
"""Words of the options that left an input open."""
ELSEWHERE = ("owned", "mygpu", "gpu2", "link", "having", "division", "repack", "rentgpu", "rentusd",
             "buygpu", "buyusd", "pool", "namedrent", "cardsin", "formats", "engine", "caches",
             "loader", "enough")  # fmt: skip
"""Keys that are read by rules."""
FORMER_WORDS = (
    ("repack", f"(?!({'|'.join(OPEN)})$).+", "format", "{repack}"),
    ("namedrent", ".+", "rented_at", "{namedrent}"),
    ("having", "rented", "rented_at", "{rentedat}"),
    ("having", "nothing yet", "cards_owned", NOTHING),
    ("cardsin", "a new desktop", "cards_owned", NOTHING),
    ("division", "whole ones", "expert_parallel", "true"),
    ("division", "whole ones, and users of its own", "attention_by_user", "true"),
    ("rentgpu", "(?!none$).+", "own_rent", "{rentgpu}={rentusd}"),
    ("buygpu", "(?!none$).+", "own_price", "{buygpu}={buyusd}"),
)
"""Former keys, what their words must match, and the input with its text, from words of the link."""
FORMER_USUAL = {"rentedat": "0.5", "rentusd": "1", "buyusd": "1000"}
"""Words with which the form began."""
OF_PAGES = {
    "find": {"formats": "format", "engine": "runtime", "caches": "kv_type"},
    "runnable": {"loader": "runtime", "enough": "reading_tps"},
}
"""Keys of a page that stood for those of the registry, in place of the form's own."""


def is_former(parameters: Mapping[str, str]) -> bool:
    """Whether an address has keys or words from before the registry's names."""
    keys = (*RENAMED, *ELSEWHERE)
    machine = parameters.get("machine", "").casefold()
    words = machine in (THIS, ANOTHER, NAMED) or parameters.get("gpu", "").casefold() == "no gpu"
    return words or any(key in keys and key not in INPUTS for key in parameters)


def renamed(parameters: Mapping[str, str], page: str = "") -> Texts:
    """Texts by the registry's names of a former address.

    Args:
        parameters: parameters of the address.
        page: "find" or "runnable", whose keys went before those of the form; empty for the others.
    """
    address = {key: text for key, text in parameters.items() if text}
    plain = {RENAMED.get(key, key): text for key, text in address.items() if key not in ELSEWHERE}
    texts = {name: text for name, text in plain.items() if name in INPUTS}
    if texts.get("numa") == "none":
        del texts["numa"]
    for name in [*texts]:
        word = texts[name].casefold()
        named = INPUTS[name].kind in (Kind.NAME, Kind.SIZES, Kind.TEXTS)
        if named and (word in OPEN or (word == "none" and name != "gpu")):
            del texts[name]
    texts |= _machine(address, texts, page)
    for key, words, name, value in FORMER_WORDS:
        if re.fullmatch(words, address.get(key, ""), re.IGNORECASE):
            texts[name] = value.format_map(FORMER_USUAL | address)
    if texts.get("cards_owned") == NOTHING:
        texts.pop("rented_at", None)
    return _of_page(texts, address, page)


def _machine(address: Mapping[str, str], texts: Texts, page: str) -> Texts:
    """Texts of a machine: this one, one by its name, or one of parts; texts of the other two kinds
    are left out.
    """
    described = any(key in address for key in ("gpu", "gpus", "cpu", "ram"))
    chosen = address.get("machine", ANOTHER if described else "").casefold()
    parts = ("gpu", "gpu_count", "cpu", "ram_gb", "disk", "bridge")
    typed = {name: text for name in parts if (text := texts.pop(name, ""))}
    texts.pop("machine", None)
    if "pool" in address:
        pool = {"ram_gb": address["pool"]}
    else:
        pool = {}
    if chosen == THIS:
        card = address.get("mygpu", OPEN[0])
        return {"machine": "this"} | ({} if card.casefold() in OPEN else {"gpu": _card(card)})
    if chosen == NAMED:
        return {"machine": address.get("owned", listed("machine")[0]), **pool}
    if not chosen:
        return pool
    if chosen != ANOTHER:  # in words, as addresses state it now: keys of both are mixed
        return {"machine": address["machine"], **typed, **pool}
    return _parts(address, typed, pool, page)


def _parts(address: Mapping[str, str], typed: Texts, pool: Texts, page: str) -> Texts:
    """Texts of a machine of parts, as stated or as the former form had them at first; the page Find
    had no card.
    """
    drive = {"disk": typed.get("disk", from_spec.TYPICAL.disk)}
    host = {"cpu": from_spec.TYPICAL.host, "ram_gb": f"{from_spec.TYPICAL.ram_gib:g}"}
    host |= {name: text for name, text in typed.items() if name in host}
    if page == "find":
        return {**host, **drive}
    card = _card(typed.get("gpu", "RTX 3090"))
    if _unified(card):
        return {"gpu": card, **pool, **drive}
    cards = _cards(card, typed.get("gpu_count", "1"), address.get("gpu2", ""))
    if typed.get("bridge", "").casefold() == "nvlink bridge":
        joined = {"bridge": "true"}
    else:
        joined = {}
    return {**cards, **joined, **host, **pool, **drive, **_link(address)}


def _card(text: str) -> str:
    if text.casefold() == "no gpu":
        return MachineSpec.NO_GPU
    return text


def _cards(card: str, count: str, other: str) -> Texts:
    """Cards of one kind, or of two as in "2x RTX 3090 + RTX 4090"."""
    if other.casefold() not in ("", "none"):
        return {"gpu": f"{card if count == '1' else f'{count}x {card}'}{MachineSpec.MIXED}{other}"}
    if count == "1":
        return {"gpu": card}
    return {"gpu": card, "gpu_count": count}


def _unified(card: str) -> bool:
    try:
        row = GPUS.named(card).row
    except UnknownName:
        return False
    return row.unified and not row.of_ram


def _link(address: Mapping[str, str]) -> Texts:
    match = re.fullmatch(r"PCIe (\d+) x(\d+)", address.get("link", ""), re.IGNORECASE)
    if match:
        return {"pcie_gen": match[1], "pcie_lanes": match[2]}
    return {}


def _of_page(texts: Texts, address: Mapping[str, str], page: str) -> Texts:
    """Keys of a page in place of the form's; its runtime was llama.cpp where none was chosen."""
    for key, name in OF_PAGES.get(page, {}).items():
        if name == "runtime":
            usual = LLAMA_CPP.name
        else:
            usual = ""
        text = address.get(key, usual)
        if not text or text.casefold() == "any":
            texts.pop(name, None)
        else:
            texts[name] = text
    return texts


Problems = tuple[str, ...]
PAID = ("currency", "usd_rate")  # inputs that say in what money the others are


@dataclass(frozen=True, kw_only=True)
class Opened:
    """Request of an address, with the problems of its values."""

    request: Request  # the request; what cannot be read has its default
    problems: tuple[str, ...] = ()  # what cannot be read, one sentence each


MONTH = r"20\d\d-(?:0[1-9]|1[0-2])"  # month of an address
DATED = "v"  # parameter of an address: month of the defaults that it leaves out
DEFAULTS_OF = "2026-12"  # month of the defaults in use
FORMER = "request/former_defaults.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class FormerDefault:
    """One row of data/request/former_defaults.csv: a former default of an input."""

    name: str  # the input
    text: str  # its default then, as in an address
    until: str  # first month with the other one


@cache
def former_defaults() -> tuple[FormerDefault, ...]:
    """Defaults that were changed, the oldest first."""
    return read(DATA / FORMER, FormerDefault)


def of_month(month: str) -> Texts:
    """Defaults of a month that have changed since then."""
    rows = [row for row in former_defaults() if month < row.until]
    return {row.name: row.text for row in reversed(rows)}


def to_address(request: Request) -> dict[str, str]:
    """Parameters of the address that reopens a request, machine and model first: without
    defaults, with their month.
    """
    texts = to_texts(request)
    first = {name: texts.pop(name) for name in ("machine", "model") if name in texts}
    return {**first, **texts, DATED: DEFAULTS_OF}


def to_texts(request: Request, *, defaults: bool = False) -> dict[str, str]:
    """Texts by name, without open inputs, and without defaults unless `defaults` asks for them."""
    if defaults:
        values = vars(request)
    else:
        values = request.stated()
    return {
        entry.name: entry.text(values[entry.name])
        for entry in INPUTS.values()
        if values.get(entry.name) not in (None, "", ())
    }


def from_texts(texts: Mapping[str, str], page: str = "") -> Request:
    """Request of a saved report, of a row, or of an address that must be right.

    Keys are as in `renamed`; unknown names are left out, and an empty text leaves its input open.

    Raises:
        InputError: a text that cannot be read, or numbers that do not go together.
    """
    return Request(**{name: _value(name, text) for name, text in _named(texts, page).items()})


UNREADABLE = "(a name that is too long)"
"""Name that nothing has, in place of one that is not read: another would be another question."""


def from_address(parameters: Mapping[str, str], page: str = "") -> Opened:
    """Request of an address, and the problems of its values; it never raises.

    Keys are as in `renamed`; open inputs have the defaults of its month.
    """
    if re.fullmatch(MONTH, parameters.get(DATED, "")):
        parameters = of_month(parameters[DATED]) | dict(parameters)
    with suppress(InputError):
        return Opened(request=from_texts(parameters, page))
    named = _named(parameters, page)
    paid, problems = _read({}, {name: named.pop(name) for name in PAID if name in named})
    try:
        Request(**paid)
    except InputError as error:
        paid = {}
        problems = (*problems, f"{error} Shown instead: US dollars.")
    values, more = _read(paid, named)
    return Opened(request=Request(**values), problems=(*problems, *more))


def _read(paid: Mapping[str, Any], texts: Mapping[str, str]) -> tuple[dict[str, Any], Problems]:
    """Values that can be asked in a currency, and a sentence for each of the others."""
    values = {**paid}
    problems = []
    for name, text in texts.items():
        try:
            value = _value(name, text)
            if name not in PAID:
                Request(**paid, **{name: value})
            values[name] = value
        except InputError as error:
            if INPUTS[name].kind == Kind.NAME and name not in (*CLOSED, *PAID):
                values[name] = UNREADABLE
                problems.append(str(error))
            else:
                problems.append(f"{error} Shown instead: {_default(name)}.")
    return values, tuple(problems)


def _named(texts: Mapping[str, str], page: str) -> dict[str, str]:
    """Texts by the registry's names, without empty ones."""
    if page or is_former(texts):
        texts = renamed(texts, page)
    return {name: text for name, text in texts.items() if name in INPUTS and text}


def _value(name: str, text: str) -> Any:
    """Value of a text, a name of a closed list in its spelling."""
    value = INPUTS[name].read(text)
    if name not in CLOSED:
        return value
    name_listed = runtime(value).name if name == "runtime" else respelled(name, value)
    if not takes(name, name_listed):
        raise UnknownName(INPUTS[name].label, text, listed(name))
    return name_listed


def _default(name: str) -> str:
    default = DEFAULTS[name]
    if default in (None, "", ()):
        return INPUTS[name].empty or "nothing"
    return INPUTS[name].text(default)
