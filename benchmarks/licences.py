"""Licences of the packages that `make run` installs, as their own metadata state them.

    python -m benchmarks.licences        writes docs/licences.md

Prints how many have each. Versions stand in .ci/lock.txt.
"""

from collections import Counter
from importlib.metadata import PackageMetadata, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/licences.md"
HEAD = """# Licences of other people's packages

Packages that `make run` installs on Linux, with the licence that their metadata state;
`python -m benchmarks.licences` writes this page. None is part of the repository or the wheel.
fpdf2 (LGPL), certifi and tqdm (MPL) are used as they are, unchanged.

| package | licence |
|---|---|
"""


def required(file: str) -> list[Requirement]:
    """Packages that a file of requirements names, with their bounds."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    texts = (line.partition("#")[0].strip() for line in lines)
    return [Requirement(text) for text in texts if text and not text.startswith("-r ")]


def licences() -> dict[str, str]:
    """Licence of each package that requirements.txt names, and of those that they need."""
    waiting = required("requirements.txt")
    named: dict[str, str] = {}
    while waiting:
        needed = waiting.pop()
        name = canonicalize_name(needed.name)
        if name in named or (needed.marker and not needed.marker.evaluate({"extra": ""})):
            continue
        package = distribution(needed.name)
        named[name] = _licence(package.metadata)
        waiting += [Requirement(text) for text in package.requires or ()]
    return dict(sorted(named.items()))


def _licence(metadata: PackageMetadata) -> str:
    """Licence by its expression, else by the classifiers, else in the package's words."""
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    classifiers = metadata.get_all("Classifier") or ()
    named = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License ::")]
    return "; ".join(named) or metadata["License"]


def page() -> str:
    """Text of docs/licences.md."""
    return HEAD + "".join(f"| {name} | {licence} |\n" for name, licence in licences().items())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    for licence, count in Counter(licences().values()).most_common():
        print(f"{count:3}  {licence}")
