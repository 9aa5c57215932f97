"""The repository as git keeps it: commits, committed files, and what changed since."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from advisor.catalog.csv_tables import product_folder
from advisor.errors import InputError


def git(*words: str) -> str:
    """What git prints, run in the repository; InputError where it fails."""
    try:
        ran = subprocess.run(  # noqa: S603 - words of the lab, and a commit's name
            ("git", *words),  # noqa: S607 - the git of who runs the lab
            cwd=product_folder(),
            capture_output=True,
            check=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        told = getattr(error, "stderr", "") or str(error)
        raise InputError(f"git {' '.join(words)[:80]} failed: {told.strip()[:200]}.") from None
    return ran.stdout


def commit(name: str) -> tuple[str, str]:
    """Beginning of a commit's id, and its day."""
    identity, day = git("log", "-1", "--format=%h %cs", "--abbrev=8", name).split()
    return identity, day


def committed(path: Path, at: str = "HEAD") -> str:
    """Text of a file at a commit; empty where the commit has no such file."""
    place = path.relative_to(product_folder()).as_posix()
    if not git("ls-tree", at, "--", place):
        return ""
    return git("show", f"{at}:{place}")


def changed_files(folder: str) -> Iterator[Path]:
    """Files of a folder that differ from the last commit, new ones too."""
    for line in git("status", "--porcelain", "--untracked-files=all", "--", folder).splitlines():
        path = product_folder() / line[3:].strip('"')
        if path.is_file():
            yield path
