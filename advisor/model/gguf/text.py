"""Names and values of a GGUF header as they may be shown: short and printable."""

Value = int | float | bool | str | tuple[int | float | bool, ...]
"""Value of a header key."""

LONGEST = 60


def brief(value: Value) -> str:
    """A name or value in at most 60 characters; a list that repeats one entry as that entry."""
    if isinstance(value, tuple):
        if value and len(set(value)) == 1:
            return f"{value[0]} in all {len(value)} entries"
        return brief(" ".join(str(entry) for entry in value[:LONGEST]))
    text = str(value)
    shown = "".join(character if character.isprintable() else "?" for character in text[:LONGEST])
    return shown if len(text) <= LONGEST else shown[:-3] + "..."
