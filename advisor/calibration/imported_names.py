"""Names of imported machines, apart from their measurements: most questions need no more."""

from advisor.paths import data_folder
from advisor.permission import permitted

FOLDER = "machines"
THIS = "this"  # name of the machine that the program runs on


def names() -> tuple[str, ...]:
    """Names of all imported machines, in alphabetical order; none where they are hidden."""
    if not permitted().here:
        return ()
    stems = (path.stem for path in (data_folder() / FOLDER).glob("*.json"))
    return tuple(sorted(stems, key=str.casefold))


def is_imported(name: str) -> bool:
    """Whether a name is "this" or an imported machine's, ignoring case."""
    return is_this(name) or bool(stored_name(name))


def is_this(name: str) -> bool:
    """Whether a name means the machine that the program runs on."""
    return name.strip().casefold() == THIS


def stored_name(name: str) -> str:
    """Name of an imported machine in its stored spelling, ignoring case; empty for an unknown
    name.
    """
    folded = name.strip().casefold()
    return next((stored for stored in names() if stored.casefold() == folded), "")
