"""Scores of models: the leaderboard's own data set, as the dataset viewer of the Hub answers.

lmarena-ai/leaderboard-dataset (CC BY 4.0), subset text_style_control, split latest [1]; a copy of
the same rows is read too. Scores that are newer than those on record stand in their place. The
board's scale holds: of 47 models rated in January and in August 2026 46 moved by 4 points or less.

References:
    [1] https://huggingface.co/docs/dataset-viewer/filter (GET /filter with `where`, at most 100
        rows an answer).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from urllib.parse import urlencode

from advisor.advice.finder.runnable import QualityRow, quality_rows
from advisor.errors import InputError
from advisor.failures import NetworkError
from advisor.refresh.addresses import address, text_of
from advisor.refresh.fetched import Fetched

TABLE = "scores"
"""Name of the table."""
PAGE = 100  # rows of an answer
MOST_PAGES = 20  # answers that are asked for
QUERY = {
    "dataset": "lmarena-ai/leaderboard-dataset",
    "config": "text_style_control",
    "split": "latest",
    "where": "\"category\"='overall'",
}
NO_SCORES = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)
"""What reading of another file raises, beside one that is nested without end."""
WANTED = "give the rows of lmarena-ai/leaderboard-dataset, subset text_style_control, as JSON"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rated:
    """Score of one model on the board; fields as in `QualityRow`."""

    score: int  # [points]
    plus_minus: int  # half the width of its interval [points]
    date: str  # day on which the board was published


def rated(text: str) -> Mapping[str, Rated]:
    """Overall scores of a file by the board's name of the model."""
    try:
        content = json.loads(text)
        day = content.get("meta", {}).get("leaderboard_publish_date", "")
        rows = [entry.get("row", entry) for entry in content["rows"]]
        scores = {
            str(row["model_name"]): Rated(
                score=round(float(row["rating"])),
                plus_minus=round((float(row["rating_upper"]) - float(row["rating_lower"])) / 2),
                date=str(row.get("leaderboard_publish_date") or day),
            )
            for row in rows
            if row["category"] == "overall"
        }
    except (*NO_SCORES, RecursionError) as error:
        raise InputError(f"The file has no scores that can be read; {WANTED}.") from error
    if not scores:
        raise InputError(f"The file has no overall scores; {WANTED}.")
    for day in {row.date for row in scores.values()}:
        try:
            date.fromisoformat(day)
        except ValueError as error:
            raise InputError(f"The board's day is {day!r}, not one such as 2026-08-19.") from error
    return scores


def renewed(
    rows: Mapping[str, QualityRow], newer: Mapping[str, Rated], source: str, today: str
) -> tuple[QualityRow, ...]:
    """Rows of scores in which newer scores replace older ones, highest first."""
    every = []
    for row in rows.values():
        new = newer.get(row.rated_as)
        if new is not None and new.date > row.date:
            row = replace(row, **asdict(new), retrieved=today, source=source)
        every.append(row)
    return tuple(sorted(every, key=lambda row: -row.score))


def fetched(seconds: float, today: date) -> Fetched[QualityRow]:
    """Scores on record, in which newer scores of the board replace older ones.

    Raises:
        NetworkError: no answer, or one without scores.
    """
    url = address(TABLE)
    newer: dict[str, Rated] = {}
    for page in range(MOST_PAGES):
        query = urlencode({**QUERY, "offset": page * PAGE, "length": PAGE})
        text = text_of(f"{url}?{query}", seconds)
        try:
            rows = rated(text)
        except InputError as error:
            if page and not _rows_in(text):
                break
            raise NetworkError(f"The leaderboard's answer is not as expected. {error}") from error
        newer |= rows
        if _rows_in(text) < PAGE:
            break
    before = quality_rows()
    rows_now = renewed(before, newer, url, today.isoformat())
    missing = [row.model for row in before.values() if row.rated_as not in newer]
    notes = (f"The board rates {', '.join(missing[:3])} no more.",) if missing else ()
    return Fetched(rows=rows_now, notes=notes)


def _rows_in(text: str) -> int:
    """Rows of an answer; 0 where it has none."""
    try:
        rows = json.loads(text)["rows"]
    except (*NO_SCORES, RecursionError):
        return 0
    if isinstance(rows, list):
        return len(rows)
    return 0
