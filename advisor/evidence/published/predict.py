"""Predictions for rows of a measurement file.

Reads the columns of any published file; a row that cannot be predicted gives the reason.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from advisor.cost_model.uncertainty import Margins, Range
from advisor.errors import AdvisorError, InputError
from advisor.evidence.published.case import Case, guessed_batch
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import (
    ANSWERED,
    STATED,
    UNREADABLE,
    PublishedRow,
)
from advisor.machine.machine import KnownRun
from advisor.units import Array, number

MOST_KEPT = 64  # answers that are kept for rows that state the same, as those of a table's run


KnownRuns = Mapping[str, tuple[KnownRun, ...]]
"""Known runs by the text that names their machine."""


def predictions(
    rows: Iterable[Mapping[str, str]], known: KnownRuns = MappingProxyType({})
) -> Iterator[dict[str, object]]:
    """Answers for rows of a table, as cells by column, in order.

    Equal rows are answered once; a row that fails has its reason. Known runs correct rows of the
    same machine.
    """
    for cells in rows:
        if why := cells.get(UNREADABLE):
            yield {**dict.fromkeys(ANSWERED, ""), "note": f"{why[:1].upper()}{why[1:]}."}
            continue
        stated = tuple((name, cell) for name in STATED if (cell := cells.get(name)))
        runs = known.get((cells.get("machine") or "").strip(), ())
        yield {**_answered(stated, runs), "id": cells.get("id") or ""}


@lru_cache(MOST_KEPT)
def _answered(
    stated: tuple[tuple[str, str], ...], known: tuple[KnownRun, ...]
) -> dict[str, object]:
    """Answer for a row, or the reason why it has none; a defect of the program does not stop the
    other rows, but is a warning, so that tests fail.
    """
    try:
        return answer(PublishedRow(dict(stated)), known)
    except AdvisorError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - a defect may empty one row, not a file
        reason = f"This row shows a defect of this program: {error!r}."
        warnings.warn(reason, RuntimeWarning, stacklevel=2)
    return {**dict.fromkeys(ANSWERED, ""), "note": reason}


def answer(row: PublishedRow, known: tuple[KnownRun, ...] = ()) -> dict[str, object]:
    """Answer for one row, with the columns `ANSWERED`, and what known runs of its machine teach;
    raises AdvisorError where it has none.
    """
    case = understood(row).on_known(known)
    written = case.estimate
    read = case.of_prompt.estimate
    if written.decode is None or read.prefill is None or read.first_token is None:
        raise InputError(written.refusal)
    users = float(written.work.users) * case.replicas
    output = case.work.output
    low, high = _range(case, written.decode)
    slow, fast = _range(case, read.prefill)
    reply = read.first_token.value + case.steps / written.decode.value
    speeds = (
        written.decode.value, low, high, written.decode.value * users, users * output / reply,
        read.prefill.value, slow, fast, read.first_token.value,
    )  # fmt: skip
    few = " and ".join(written.unmeasured)
    told = [f"few have timed {few} on this backend: the range is wider"] if few else []
    taught = written.token_lesson
    if taught is not None:
        told.append(f"by known runs {number(float(np.exp(-taught.log_ratio)), 3)} times as fast")
    cells = (
        row.cells.get("id", ""),
        *map(_number, speeds),
        "true" if np.all(written.fits) else "false",
        written.bottleneck,
        "; ".join((*case.notes, *told)),
    )
    return dict(zip(ANSWERED, cells, strict=True))


def _range(case: Case, speed: Range) -> tuple[Array, Array]:
    """80 % range of a speed, wider for a guessed batch."""
    if not case.guessed:
        return speed.low, speed.high
    margins = Margins(below=np.log(speed.value / speed.low), above=np.log(speed.high / speed.value))
    wider = margins.wider(guessed_batch(case.model)).around(speed.value)
    return wider.low, wider.high


def _number(value: object) -> float:
    """Number with six digits."""
    plain = float(np.ravel(np.asarray(value))[0])
    if not 0 < plain < np.inf:
        raise InputError(f"A speed comes out as {plain:g}; check the sizes that the row states.")
    return float(f"{plain:.6g}")
