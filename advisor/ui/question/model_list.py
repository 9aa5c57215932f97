"""Order of the list of models: the best on this machine first, with their speeds, then by year.

Speeds are those that the page Models has computed for the machine; the list waits for none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from advisor.advice.finder.runnable import Runnable, quality_rows
from advisor.formatting import tokens_per_second
from advisor.model import catalog
from advisor.request.request import Request, listed
from advisor.ui.question import current

FIRST = 8  # models that are named with their speeds
KEPT = 64  # machines whose best models are remembered
NEWEST = "9"  # year of what was published in the last months
_BEST: dict[str, Mapping[str, str]] = {}
"""Speeds of the best models in words, by the machine's inputs."""


def remember(request: Request, best: Iterable[Runnable]) -> None:
    """Keep the best models of a machine for its list."""
    named = [row for row in best if row.model.name in catalog.model_rows()][:FIRST]
    speeds = {
        row.model.name: f"{tokens_per_second(row.speed.decode)} in {row.model.format}"
        for row in named
    }
    while len(_BEST) >= KEPT:
        _BEST.pop(next(iter(_BEST)), None)
    _BEST[_key(request)] = speeds


def _key(request: Request) -> str:
    inputs = {name: getattr(request, name) for name in current.MACHINE}
    return repr(replace(Request(), **inputs))


def best(request: Request) -> Mapping[str, str]:
    """Speeds of the best models on a machine, in words; empty where they are not known yet."""
    return _BEST.get(_key(request), {})


def ordered(request: Request) -> list[str]:
    """Models of the list."""
    first = list(best(request))
    return [*first, *(name for name in by_year() if name not in first)]


@cache
def by_year() -> Sequence[str]:
    """Models, the newest year first, within a year by their published score."""
    return sorted(listed("model"), key=lambda name: (_year(name), _score(name)), reverse=True)


def _year(name: str) -> str:
    """Year of publication; of the last months, which have none yet, after all others."""
    row = catalog.model_rows().get(name)
    return (row.released if row is not None else "")[:4] or NEWEST


def _score(name: str) -> float:
    row = quality_rows().get(name)
    return row.score if row is not None else 0.0


def meant(text: str) -> str:
    """First model of the list whose name has all typed words; empty for none."""
    words = text.replace("-", " ").casefold().split()
    if not words:
        return ""
    names = ordered(current.present())
    return next((name for name in names if _has(name, words)), "")


def _has(name: str, words: Sequence[str]) -> bool:
    spaced = name.replace("-", " ").casefold()
    return all(word in spaced for word in words)
