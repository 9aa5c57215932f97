"""Parser of the commands: each as data/commands/ has it, with its options and inputs of a request.

Only the module of the command that is run is imported, since all of them take twice the time of the
rest before an answer.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

import advisor
from advisor.catalog.csv_tables import DATA, read
from advisor.cli.command import program
from advisor.errors import AdvisorError, InputError, UnknownName


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRow:
    """One row of data/commands/commands.csv; lists are separated by blanks."""

    command: str  # its words ("report list"); a first word without a function has actions
    run: str  # function of this package that runs it
    json: bool = True  # takes `--json`
    groups: str  # groups of inputs (data/inputs.csv) that it takes
    without: str  # inputs of those groups that it does not take
    required: str  # inputs that must be given
    positional: str  # inputs that are given by their place
    epilog: str  # function with the end of its help
    help: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandOption:
    """One row of data/commands/options.csv: an option of commands that is no input of a request."""

    command: str  # commands that take it, separated by semicolons
    name: str  # its names, or that of a word given by its place
    kind: str  # a key of `KINDS`
    default: str  # value where it is not given; of an option with "?", where it has no value
    metavar: str
    choices: str
    nargs: str
    one_of: str  # options of which exactly one is given
    required: bool = False
    help: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OthersOption:
    """One row of data/commands/others_options.csv: a name that other programs, or people, have for
    an option.
    """

    word: str  # the name, with its dashes
    option: str  # the option here
    of: str  # program that has the name; empty for a plain word
    source: str  # page of the program's options


COMMANDS = read(DATA / "commands/commands.csv", CommandRow)  # commands, in the order of the help
OPTIONS = read(DATA / "commands/options.csv", CommandOption)  # options, in the order of the help


def _day(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day such as 2026-11-22") from None


KINDS: dict[str, dict[str, Any]] = {
    "name": {"type": str},
    "lower": {"type": str.lower},
    "words": {"type": str, "default": ""},
    "names": {"action": "append", "default": []},
    "number": {"type": float},
    "whole": {"type": int},
    "file": {"type": Path},
    "files": {"action": "append", "type": Path, "default": []},
    "day": {"type": _day},
    "switch": {"action": "store_true"},
}
"""Arguments of argparse by an option's kind."""


REPHRASED = (
    (r"argument (.+?): invalid int value: (.*)", r"\1 is \2; it should be a whole number"),
    (r"argument (.+?): invalid float value: (.*)", r"\1 is \2; it should be a number"),
    (r"argument (.+?): expected (one|at least one) argument", r"\1 has no value"),
    (r"argument (.+?): not allowed with argument (.*)", r"\1 cannot be given beside \2"),
    (r"argument (.+?): (.*)", r"\1: \2"),
    (r"ambiguous option: (\S+) could match (.*)", r"\1 may mean \2"),
    (r"the following arguments are required: (.*)", r"\1 must be given"),
    (r"one of the arguments (.*) is required", r"One of \1 must be given"),
)
"""Messages of argparse, and what is said instead."""
COMMAND = "COMMAND"  # what stands for a command's name in the help
WITHOUT_COMMAND = (
    'A machine, and a model beside it, need no command: `{program} "laptop 4060 16gb" qwen3-8b`.'
)
CHOICE = re.compile(r"argument (.+?): invalid choice: '(.*)' \(choose from (.*)\)")


class CommandParser(argparse.ArgumentParser):
    """Parser whose errors are exceptions, as sentences without the list of all options."""

    def error(self, message: str) -> NoReturn:
        """Called by argparse for words that it cannot parse."""
        hint = f"`{self.prog} --help` says what it takes."
        if choice := CHOICE.fullmatch(message):
            what, text, allowed = choice.groups()
            names = allowed.replace("'", "")
            if what == COMMAND:
                hint = f"{WITHOUT_COMMAND.format(program=program())} {hint}"
            raise UnknownName(
                what.lstrip("-").lower(), text, names.split(", "), f"Choose from {names}. {hint}"
            )
        for pattern, sentence in REPHRASED:
            message = re.sub(f"^{pattern}$", sentence, message)
        raise InputError(f"{message.removesuffix('.')}. {hint}")


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Options of the typed words.

    Raises:
        InputError: words that the command does not take; the message says which may be meant.
    """
    words = with_options(named_first(words))
    for row in COMMANDS:
        if row.run and words[: len(row.command.split())] == row.command.split():
            _check_options(row, words)
    args, further = parser(next(iter(words), "")).parse_known_args(words)
    if further:
        raise InputError(
            f"{further[0][:80]!r} is one word too many. Put a name of several words in quotes. "
            f"`{program()} {args.command.command} --help` says what it takes."
        )
    return args


SHORT = "short"  # command of two words that are a machine and a model
HERE = "here"  # command of one that is a machine


def named_first(words: Sequence[str]) -> Sequence[str]:
    """Words of a command line that begin with their command.

    Words that name a machine and a model, and no command, get the command `short`; a machine alone
    gets `here`.
    """
    commands = tuple(row.command.split()[0] for row in COMMANDS)
    # Argparse, too, takes a word with a blank in it for no option.
    given = [*takewhile(lambda word: " " in word or not word.startswith("-"), words)]
    if not given or get_close_matches(given[0].casefold(), commands, n=1, cutoff=MISSPELLED):
        return words
    if len(given) > 1:
        return [SHORT, *words]
    if " " in given[0] or _is_known(given[0]):
        return [HERE, *words]
    return words


def with_options(words: Sequence[str]) -> Sequence[str]:
    """Words with `--machine` and `--model` before a machine and a model that stand right behind a
    command which takes both: `advise "laptop 4060 16gb" qwen3-8b`.

    One of them alone is what no option gives; where neither is given, a model that is known, else
    the machine.
    """
    row = next((row for row in COMMANDS if [row.command] == [*words[:1]]), None)
    if row is None or any(not option.name.startswith("-") for option in options_of(row.command)):
        return words
    taken = set(option_names(row))
    behind = words[1:]
    given = [*takewhile(lambda word: not word.startswith("-"), behind)]
    options = behind[len(given) :]
    missing = [
        name
        for name in ("--machine", "--model")
        if name in taken and name not in {word.partition("=")[0] for word in options}
    ]
    if len(given) == 1 and len(missing) == 2 and _is_model(given[0]):
        missing.remove("--machine")
    named = [part for pair in zip(missing, given, strict=False) for part in pair]
    return [words[0], *named, *given[len(missing) :], *options]


def _is_model(word: str) -> bool:
    """Whether a word names a model, and no machine."""
    from advisor.machine.spec import MachineSpec
    from advisor.request.named import is_model, named_machine

    try:
        named_machine(word, MachineSpec())
    except AdvisorError:
        return is_model(word)
    return False


def _is_known(word: str) -> bool:
    """Whether a word names a machine, or a model in its place."""
    from advisor.machine.spec import MachineSpec
    from advisor.request.named import named_machine  # for a single word that is no command

    try:
        named_machine(word, MachineSpec())
    except UnknownName:
        return False
    except AdvisorError:  # of a model, or of a machine that cannot be
        return True
    return True


MISSPELLED = 0.75
"""Likeness from which a first word is a command misspelled ("estmate"); "laptop" is 0.67 like
"app"."""


def _check_options(row: CommandRow, words: Sequence[str]) -> None:
    """Refuse what is no option of a command, nor the start of one's name."""
    names = tuple(option_names(row))
    for word in takewhile("--".__ne__, words):
        name = word.partition("=")[0]
        fitting = [each for each in names if each.startswith(name)]
        if not name.startswith("-") or name in fitting or len(fitting) == 1:
            continue
        meant = _of_others(name, names)
        if not meant and (fitting or not name.startswith("--")):
            continue  # argparse refuses it in words of its own, or it is a number below zero
        raise InputError(
            f"`{row.command}` has no option {name[:80]}.{meant or _elsewhere(name, names)} "
            f"`{program()} {row.command} --help` says what it takes."
        )


def _of_others(name: str, names: Sequence[str]) -> str:
    """Sentence on a command's option that other programs or people call otherwise; empty for no
    such name.
    """
    for other in read(DATA / "commands/others_options.csv", OthersOption):
        if other.word == name and other.option in names:
            if other.of:
                return f" What {other.of} calls {name} is {other.option} here."
            return f" It is {other.option} here."
    return ""


def _elsewhere(name: str, names: Sequence[str]) -> str:
    """Sentence on the commands that take an option, or on a name that is like it; empty without
    either.
    """
    takers = [f"`{each.command}`" for each in COMMANDS if name in option_names(each)]
    if takers:
        return f" It is an option of {', '.join(takers[:4])}."
    close = UnknownName("option", name, names).close
    if close:
        return f" Did you mean {close[0]}?"
    return ""


def option_names(row: CommandRow) -> Iterator[str]:
    """Names of a command's options."""
    from advisor.catalog.inputs import INPUTS

    yield from ("--help", "--json") if row.json else ("--help",)
    yield from (
        each.option for each in INPUTS.of(row.groups, f"{row.without} {row.positional}").values()
    )
    yield from (
        name
        for each in options_of(row.command)
        for name in each.name.split()
        if name.startswith("-")
    )


def parser(command: str = "") -> CommandParser:
    """Parser of a command and its options; of all commands for an unknown name.

    For `--version` it has no command.
    """
    top = CommandParser(prog=program(), description=advisor.__doc__)
    top.add_argument("--version", action="version", version=advisor.__version__)
    parents = {"": top.add_subparsers(required=True, metavar=COMMAND)}
    every = () if command == "--version" else COMMANDS
    for row in [row for row in every if row.command.split()[0] == command] or every:
        group, _, name = row.command.rpartition(" ")
        text = row.help.replace("%", "%%")
        made = parents[group].add_parser(name, help=text, description=text)
        if row.run:
            _fill(made, row)
        else:
            parents[name] = made.add_subparsers(required=True, metavar="ACTION")
    return top


def _fill(made: argparse.ArgumentParser, row: CommandRow) -> None:
    """Add the options of a command."""
    made.set_defaults(command=row)
    if row.epilog:
        module, _, function = row.epilog.rpartition(".")
        made.epilog = getattr(import_module(module), function)()
    if row.json:
        made.add_argument("--json", action="store_true", help="print JSON for other programs")
    if row.groups:
        from advisor.request.command_line import add_options

        add_options(made, row.groups, row.without, row.required, row.positional)
    exclusive: dict[str, Any] = {"": made}
    for option in options_of(row.command):
        if option.one_of not in exclusive:
            exclusive[option.one_of] = made.add_mutually_exclusive_group(required=True)
        exclusive[option.one_of].add_argument(*option.name.split(), **_settings(option))


def options_of(command: str) -> Iterator[CommandOption]:
    """Options of a command."""
    return (option for option in OPTIONS if command in option.command.split(";"))


def _settings(option: CommandOption) -> dict[str, Any]:
    """Arguments of argparse for an option."""
    settings = {**KINDS[option.kind], "help": option.help.replace("%", "%%")}
    if option.default:
        value = settings["type"](option.default)
        settings["const" if option.nargs == "?" else "default"] = value
        settings["help"] += "" if isinstance(value, str) else f" ({option.default})"
    if option.choices:
        settings["choices"] = option.choices.split()
    given = {name: getattr(option, name) for name in ("metavar", "nargs", "required")}
    return settings | {name: value for name, value in given.items() if value}
