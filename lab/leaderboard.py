"""Newer scores of models: `python -m lab.leaderboard FILE ADDRESS`.

FILE holds rows of lmarena-ai/leaderboard-dataset (Hugging Face, CC BY 4.0, subset
text_style_control, split latest), as the dataset viewer answers them
(https://datasets-server.huggingface.co/rows?dataset=lmarena-ai%2Fleaderboard-dataset) or as a copy
keeps them: "rows" with model_name, rating, rating_lower, rating_upper and category. Scores in
data/models/quality.csv that were rated under a name in FILE are written anew with the day of FILE;
others stay, and are named. The board's scale holds: of 47 models rated in January and in August
2026 46 moved by 4 points or less.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path

from advisor.advice.finder.runnable import QualityRow, quality_rows
from advisor.catalog.csv_tables import DATA, as_text
from advisor.errors import InputError

TABLE = DATA / "models/quality.csv"
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
    except (AttributeError, KeyError, TypeError, ValueError) as error:
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
    """Rows with the newer scores, highest first."""
    every = []
    for row in rows.values():
        new = newer.get(row.rated_as)
        if new is not None and new.date > row.date:
            row = replace(row, **asdict(new), retrieved=today, source=source)
        every.append(row)
    return tuple(sorted(every, key=lambda row: -row.score))


def as_csv(rows: Sequence[QualityRow]) -> str:
    """The table as it is shipped: scores are whole numbers."""
    return as_text(
        replace(row, score=round(row.score), plus_minus=round(row.plus_minus)) for row in rows
    )


def main(arguments: Sequence[str]) -> int:
    """Write data/models/quality.csv anew from a file; say what stayed."""
    if len(arguments) != 2:
        sys.exit("usage: python -m lab.leaderboard FILE.json ADDRESS_OF_THE_FILE")
    file, source = arguments
    newer = rated(Path(file).read_text(encoding="utf-8"))
    rows = renewed(quality_rows(), newer, source, date.today().isoformat())
    TABLE.write_text(as_csv(rows), encoding="utf-8")
    stayed = [row.model for row in rows if row.source != source]
    others = ", ".join(stayed) or "none"
    sys.stdout.write(f"{len(rows) - len(stayed)} scores are new; as they were: {others}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
