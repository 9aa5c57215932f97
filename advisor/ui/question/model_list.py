"""Order of the list of models: the best on this machine first, with their speeds, then by year.

Speeds are computed when nobody is served, for each machine that an answer was shown for; the list
waits for none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from advisor.advice.finder.runnable import Runnable, Trials, quality_rows
from advisor.cost_model.workload import Workload
from advisor.model import catalog
from advisor.request.lists import listed
from advisor.request.request import Nouns, Request
from advisor.ui.question import current
from advisor.units import tokens_per_second

FIRST = 8  # models that are named with their speeds
KEPT = 64  # machines whose best models are remembered
NEWEST = "9"  # year of what was published in the last months
_BEST: dict[str, Mapping[str, str]] = {}
"""Speeds of the best models in words, by the machine's inputs."""
WANTED: dict[str, Nouns] = {}
"""Questions whose machines have none yet, by the machine's inputs."""


def want(nouns: Nouns) -> None:
    """Ask for the best models of a question's machine, where they are not known."""
    key = _key(nouns.request)
    if key not in _BEST and len(WANTED) < KEPT:
        WANTED[key] = nouns


def compute() -> None:
    """Compute the best models of the machine that has waited longest."""
    key = next(iter(WANTED), None)
    nouns = WANTED.pop(key, None) if key is not None else None
    if nouns is not None:
        trials = Trials(nouns.machine, Workload(), nouns.money.reading_tps)
        remember(nouns.request, trials.highest_rated(FIRST))


def remember(request: Request, best: Iterable[Runnable]) -> None:
    """Keep the best models of a machine for its list."""
    speeds = {
        row.model.name: f"{tokens_per_second(row.speed.decode)}, {row.model.format}"
        for row in islice(best, FIRST)
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
    if row is not None:
        return row.score
    return 0.0


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
