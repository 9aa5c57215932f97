"""Annotations of a report: name, notes, tags and author, checked and normalised."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from advisor.errors import InputError
from advisor.reports.store.saved import ReportHead

LONGEST_NAME = 200
LONGEST_TAG = 40
LONGEST_NOTES = 20_000
MOST_TAGS = 20
FIELDS = ("name", "notes", "tags")
"""Fields that can be changed after a report is saved."""
_OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
Value = str | tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class EditConflict:
    """Field that another person changed during an edit.

    Attributes:
        field: name of the field.
        kept: the other person's value, which stays.
        refused: the value that is not saved.
    """

    field: str
    kept: Value
    refused: Value

    def __str__(self) -> str:
        return (
            f"Somebody else changed the {self.field} meanwhile, to {_shown(self.kept)}; that "
            f"stays. Yours was not kept: {_shown(self.refused)}."
        )


@dataclass(frozen=True, kw_only=True)
class AnnotatedReport:
    """Result of an edit.

    Attributes:
        head: the report after the edit.
        conflicts: fields not saved because another person had changed them.
    """

    head: ReportHead
    conflicts: tuple[EditConflict, ...] = ()


def conflicts_of(
    wanted: Mapping[str, Value], now: ReportHead, seen: ReportHead | None
) -> tuple[EditConflict, ...]:
    """Fields that an edit and another person changed to different values.

    Args:
        wanted: new values by field.
        now: the report as it is saved.
        seen: the report as the editor saw it; None to overwrite in any case.
    """
    if seen is None:
        return ()
    return tuple(
        EditConflict(field=field, kept=getattr(now, field), refused=value)
        for field, value in wanted.items()
        if getattr(now, field) != getattr(seen, field)
        and value not in (getattr(now, field), getattr(seen, field))
    )


def clean(field: str, value: Value) -> Value:
    """Normalised value of a field.

    Args:
        field: one of `FIELDS`.
        value: its value as typed.

    Raises:
        InputError: an invalid value.
    """
    if isinstance(value, str):
        return clean_notes(value) if field == "notes" else clean_name(value)
    return clean_tags(value)


def clean_name(name: str) -> str:
    """Name of a report as saved: one line, without spaces around it.

    Raises:
        InputError: empty, longer than 200 characters, or with control characters.
    """
    text = name.strip()
    if not text:
        raise InputError("The report has no name; give it one, such as the model and the GPU.")
    if len(text) > LONGEST_NAME:
        raise InputError(f"The name has {len(text)} characters; at most {LONGEST_NAME} fit.")
    if any(_is_control(letter) for letter in text):
        raise InputError(f"The name {text!r} holds line breaks or control characters; use letters.")
    return text


def clean_author(author: str) -> str:
    """Author as saved: as a name, or empty.

    Raises:
        InputError: longer than 200 characters, or with control characters.
    """
    return clean_name(author) if author.strip() else ""


def clean_notes(notes: str) -> str:
    """Notes as saved: several lines, without spaces around them.

    Raises:
        InputError: longer than 20,000 characters, or with control characters.
    """
    text = notes.strip()
    if len(text) > LONGEST_NOTES:
        raise InputError(f"The notes have {len(text):,} characters; at most {LONGEST_NOTES:,} fit.")
    if any(_is_control(letter) and letter not in "\r\n\t" for letter in text):
        raise InputError("The notes hold control characters; use letters and line breaks.")
    return text


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as saved: sorted, each once, without spaces around them.

    Raises:
        InputError: more than 20, or one that is too long or holds a comma or control characters.
    """
    texts = sorted({" ".join(tag.split()) for tag in tags} - {""})
    if len(texts) > MOST_TAGS:
        raise InputError(f"The report has {len(texts)} tags; at most {MOST_TAGS} fit.")
    for tag in texts:
        if len(tag) > LONGEST_TAG:
            raise InputError(
                f"The tag {tag[:80]!r} has {len(tag)} characters; at most {LONGEST_TAG} fit."
            )
        if "," in tag or any(_is_control(letter) for letter in tag):
            raise InputError(f"The tag {tag!r} holds a comma or control characters; use letters.")
    return tuple(texts)


def _is_control(letter: str) -> bool:
    # Bidirectional overrides make a name read as another one.
    return unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} or letter in _OVERRIDES


def _shown(value: Value) -> str:
    text = value if isinstance(value, str) else ", ".join(value)
    return repr(text if len(text) <= 200 else f"{text[:199]}…")
