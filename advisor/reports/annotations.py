"""What a person writes on a report: its name, notes, tags and author, as they are kept."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from advisor.errors import InputError
from advisor.reports.saved import ReportHead
from advisor.reports.tables import LONGEST_NAME, LONGEST_TAG

LONGEST_NOTES = 20_000
MOST_TAGS = 20
FIELDS = ("name", "notes", "tags")
"""Fields that can be changed after a report was saved."""
_OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
Value = str | tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class EditConflict:
    """A field that somebody else changed while a person was editing it.

    Attributes:
        field: its name.
        kept: the other's value, which stays.
        refused: the person's own.
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
    """A report after it was edited.

    Attributes:
        head: as it is now.
        conflicts: fields that stayed as somebody else had changed them.
    """

    head: ReportHead
    conflicts: tuple[EditConflict, ...] = ()


def conflicts_of(
    wanted: Mapping[str, Value], now: ReportHead, seen: ReportHead | None
) -> tuple[EditConflict, ...]:
    """Fields that both a person and somebody else changed, to different values.

    Args:
        wanted: new values by field.
        now: the report as it is.
        seen: as the person saw it; None to change it whatever it is now.
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
    """A value as it is kept.

    Args:
        field: one of `FIELDS`.
        value: of it.

    Raises:
        InputError: a value that cannot be used.
    """
    if isinstance(value, str):
        return clean_notes(value) if field == "notes" else clean_name(value)
    return clean_tags(value)


def clean_name(name: str) -> str:
    """A name as it is kept: one line without spaces around it.

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
    """An author as a name is kept, or nothing.

    Raises:
        InputError: longer than 200 characters, or with control characters.
    """
    return clean_name(author) if author.strip() else ""


def clean_notes(notes: str) -> str:
    """Notes as they are kept: several lines, no spaces around them.

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
    """Tags as they are kept: in alphabetical order, each once, without spaces around them.

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
