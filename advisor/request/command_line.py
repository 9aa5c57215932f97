"""A request as options of the command line."""

import argparse
import shlex
from collections.abc import Sequence
from typing import Any, NoReturn

from advisor.catalog.inputs import INPUTS, Input, Kind
from advisor.errors import InputError
from advisor.request.lists import CLOSED, listed, respelled
from advisor.request.request import DEFAULTS, Request

PROGRAM = ("python", "-m", "advisor")
TITLES = {
    "what": "model and machine",
    "machine": "machine (none given: this one)",
    "work": "request",
    "known": "known speeds",
    "session": "session of an agent",
    "draft": "drafted tokens",
    "load": "many users",
    "placement": "placement",
    "money": "time and money",
    "wishes": "wishes",
    "prices": "your prices",
    "currency": "currency",
    "ownership": "what you have",
    "target": "target",
}
"""Headings of the groups in `--help`."""
FULL = " ".join(group for group in TITLES if group != "target")  # groups of a comparison


def add_options(
    parser: argparse.ArgumentParser,
    groups: str = FULL,
    without: str = "",
    required: str = "model",
    positional: str = "",
) -> None:
    """Add an option for each input of some groups of the registry, or of single names.

    Those of `without` are left out; positional ones are given by their place, in their order. All
    are names separated by blanks.
    """
    placed = positional.split()
    for name in placed:
        entry = INPUTS[name]
        parser.add_argument(name, metavar=entry.label.upper(), help=_help(entry))
    chosen = INPUTS.of(groups, without).values()
    whole = (group for group in groups.split() if group in TITLES)
    for group in dict.fromkeys((*whole, *(entry.group for entry in chosen))):
        part = parser.add_argument_group(TITLES[group])
        for entry in chosen:
            if entry.group == group and entry.name not in placed:
                _add(part, entry, required=entry.name in required.split())


def _add(group: "argparse._ArgumentGroup", entry: Input, *, required: bool) -> None:
    help_text = _help(entry)
    if entry.kind in (Kind.SWITCH, Kind.OFF):
        group.add_argument(
            entry.option,
            dest=entry.name,
            action="store_const",
            default=None,
            const=entry.kind == Kind.SWITCH,
            help=help_text,
        )
        return
    several = entry.kind in (Kind.PRICES, Kind.TEXTS)
    group.add_argument(
        entry.option,
        dest=entry.name,
        type=_reader(entry),
        required=required,
        action="extend" if several else LastOf,
        default=None,
        metavar=_metavar(entry),
        help=help_text,
    )


class LastOf(argparse.Action):
    """Option with one value; of several values the last counts, and `replaced` says so."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse gives it by its place
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Called by argparse for each time that the option is given."""
        before = getattr(namespace, self.dest, None)
        if before is not None and before != values:
            told = f"{option_string} is given twice: {values} counts, and {before} does not."
            namespace.replaced = (*getattr(namespace, "replaced", ()), told)
        setattr(namespace, self.dest, values)


def _metavar(entry: Input) -> str:
    if entry.kind == Kind.PRICES:
        return "NAME=USD"
    if entry.kind == Kind.TEXTS:
        return "TEXT"
    return entry.unit.upper() or ("N" if entry.limits else "NAME")


def _help(entry: Input) -> str:
    if entry.name in ("kv_type", "load_mode"):
        names = f": {', '.join(listed(entry.name))}"
    else:
        names = ""
    default = DEFAULTS[entry.name]
    if type(default) in (float, int):
        usual = f" ({default:g})"
    else:
        usual = ""
    return f"{entry.help}{names}{usual}".replace("%", "%%")


def _reader(entry: Input) -> Any:
    """Reader of an option's value; argparse prints its error after the option's name."""

    def value(text: str) -> Any:
        try:
            read = entry.read(text)
            return respelled(entry.name, read) if entry.name in CLOSED else read
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return value


def from_args(args: argparse.Namespace) -> Request:
    """Request of parsed options.

    Raises:
        InputError: a number outside its limits.
    """
    parsed = {entry.name: getattr(args, entry.name, None) for entry in INPUTS.values()}
    values = {name: value for name, value in parsed.items() if value is not None}
    for name in ("own_price", "own_rent", "known", "also"):
        values[name] = tuple(values.get(name, ()))
    return Request(**values)


def from_argv(words: Sequence[str]) -> Request:
    """Request of the words behind a command; options that change no answer are left out.

    Raises:
        InputError: words that are no options of a comparison, or values that they do not take.
    """
    parser = StrictParser(add_help=False)
    add_options(parser)
    for name in ("--save", "--author"):
        parser.add_argument(name)
    parser.add_argument("--json", action="store_true")
    return from_args(parser.parse_args(words))


def to_argv(request: Request) -> list[str]:
    """Options that give the request; values that are defaults have none."""
    values = request.stated()
    entries = (entry for entry in INPUTS.values() if entry.name in values)
    return [word for entry in entries for word in _words(entry, values[entry.name])]


def command(request: Request, name: str = "advise") -> str:
    """Command that gives the answer to a request, quoted for a shell."""
    return shlex.join((*PROGRAM, name, *to_argv(request)))


def _words(entry: Input, value: Any) -> tuple[str, ...]:
    if entry.kind in (Kind.PRICES, Kind.TEXTS):
        return tuple(word for part in value for word in (entry.option, entry.text((part,))))
    if isinstance(value, bool):
        if value == (entry.kind == Kind.SWITCH):
            return (entry.option,)
        return ()
    return entry.option, entry.text(value)


class StrictParser(argparse.ArgumentParser):
    """Parser that raises an error instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        """Called by argparse for words that it cannot parse."""
        raise InputError(f"The command is not understood: {message}.")
