"""Plain YAML: mappings, lists, texts, numbers and true or false, each with the line it stands on.

A file of a stranger is read by this reader alone. Aliases, which let 400 bytes stand for gigabytes,
and tags, which choose a constructor, are refused. Scalars are read by one short list of spellings,
those of YAML 1.2's core schema with yes, no, on and off, and without octal and hexadecimal numbers;
a day stays a text.

Reference: https://yaml.org/spec/1.2.2/#103-core-schema, read 2026-11-28.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from advisor.errors import InputError

DEEPEST = 20  # levels of lists and mappings
MOST_VALUES = 50_000  # values of a file
LONGEST = 2_000  # letters of a text
WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "true": True, "false": False, "yes": True, "no": False,
    "on": True, "off": False,
    ".inf": float("inf"), "-.inf": float("-inf"), "+.inf": float("inf"), ".nan": float("nan"),
}  # fmt: skip
"""Plain scalars with a value of their own, in small letters."""
WHOLE = re.compile(r"[-+]?[0-9]{1,40}")
NUMBER = re.compile(r"[-+]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,4})?")
LOADER: Any = getattr(yaml, "CLoader", yaml.Loader)  # its events alone, never its constructors


@dataclass(kw_only=True)
class PlainFile:
    """Content of a file, and where each value stands."""

    value: Any = None  # mappings, lists, texts, numbers, true, false and None
    lines: dict[str, int] = field(default_factory=dict)  # line by path: "models[0].context"

    def where(self, message: str) -> str:
        """Line of the file with the value whose path begins a message; empty for an unknown
        path.
        """
        path = re.match(r"[\w.\[\]]+", message)
        name = path[0].rstrip(".") if path else ""
        while name and name not in self.lines:
            name = re.sub(r"(\.\w+|\[\d+\]|^\w+)$", "", name)
        if name:
            return f"line {self.lines[name]}"
        return ""


def read(text: str) -> PlainFile:
    """Content of a text.

    Raises:
        InputError: no YAML, an alias, a tag, a key that stands twice or is no text, or more values
            or levels than a file may have; the message names the line.
    """
    file = PlainFile()
    try:
        events = iter(yaml.parse(text, Loader=LOADER))
        file.value = _Reading(events=events, file=file).document()
    except yaml.MarkedYAMLError as error:
        problem = " ".join(str(error.problem or error.context).split())[:200]
        raise _refused(f"it is not YAML: {problem}", error.problem_mark) from error
    except yaml.YAMLError as error:
        raise InputError(f"it is not YAML: {' '.join(str(error).split())[:200]}.") from error
    return file


def _refused(why: str, mark: Any) -> InputError:
    line = f"line {mark.line + 1}: " if mark else ""
    return InputError(f"{line}{why}.")


@dataclass(kw_only=True)
class _Reading:
    """Reading of one document, event by event."""

    events: Iterator[Any]
    file: PlainFile
    values: int = 0

    def document(self) -> Any:
        """Value of the only document; None for an empty text."""
        value = None
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _refused("a second document begins, and one is read", event.start_mark)
                value = self._value(next(self.events), "", 0)
        return value

    def _value(self, event: Any, path: str, depth: int) -> Any:
        self._check(event, depth)
        self.file.lines.setdefault(path, event.start_mark.line + 1)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(path, depth + 1)
        return self._mapping(path, depth + 1)

    def _check(self, event: Any, depth: int) -> None:
        self.values += 1
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise _refused(
                "anchors and aliases are not read; write the value out", event.start_mark
            )
        if event.tag:
            what = f"the tag {event.tag[:40]!r} is not read; write the value alone"
            raise _refused(what, event.start_mark)
        if self.values > MOST_VALUES:
            raise _refused(f"more than {MOST_VALUES:,} values are not read", event.start_mark)
        if depth > DEEPEST:
            raise _refused(f"more than {DEEPEST} levels are not read", event.start_mark)

    def _list(self, path: str, depth: int) -> list[Any]:
        values: list[Any] = []
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            values.append(self._value(event, f"{path}[{len(values)}]", depth))
        return values

    def _mapping(self, path: str, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            self._check(event, depth)
            if isinstance(event, yaml.ScalarEvent):
                key = event.value
            else:
                key = None
            if not key or len(key) > LONGEST:
                raise _refused("a key is a short text, and this is none", event.start_mark)
            if key in values:
                raise _refused(f"the key {key[:80]!r} stands there twice", event.start_mark)
            if path:
                inner = f"{path}.{key[:80]}"
            else:
                inner = key[:80]
            self.file.lines[inner] = event.start_mark.line + 1
            values[key] = self._value(next(self.events), inner, depth)
        return values


def _scalar(event: Any) -> Any:
    """Value of a scalar: of a plain one by its spelling, of a quoted one its text."""
    text: str = event.value
    if len(text) > LONGEST:
        long = f"a text has {len(text):,} letters; at most {LONGEST:,} are read"
        raise _refused(long, event.start_mark)
    if not event.implicit[0]:
        return text
    if text.casefold() in WORDS:
        return WORDS[text.casefold()]
    if WHOLE.fullmatch(text):
        return int(text)
    if NUMBER.fullmatch(text):
        return float(text)
    return text
