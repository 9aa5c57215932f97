"""Newer scores of models: `python -m lab.leaderboard FILE ADDRESS`.

FILE holds rows of lmarena-ai/leaderboard-dataset (Hugging Face, CC BY 4.0, subset
text_style_control, split latest), as the dataset viewer answers them
(https://datasets-server.huggingface.co/rows?dataset=lmarena-ai%2Fleaderboard-dataset) or as a copy
keeps them: "rows" with model_name, rating, rating_lower, rating_upper and category. Scores in
data/models/quality.csv that were rated under a name in FILE are written anew with the day of FILE;
others stay, and are named. The board's scale holds: of 47 models rated in January and in August
2026 46 moved by 4 points or less.
"""

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from pathlib import Path

from advisor.advice.finder.runnable import QualityRow, quality_rows
from advisor.catalog.csv_tables import DATA
from advisor.errors import InputError

TABLE = DATA / "models/quality.csv"
HOW = "give the rows of lmarena-ai/leaderboard-dataset, subset text_style_control, as JSON"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rated:
    """Score of one model on the board."""

    score: float  # [points]
    plus_minus: float  # half the width of its interval [points]
    day: str  # on which the board was published


def rated(text: str) -> Mapping[str, Rated]:
    """Overall scores of a file by the board's name of the model."""
    try:
        content = json.loads(text)
        day = content.get("meta", {}).get("leaderboard_publish_date", "")
        scores = dict(_overall(content["rows"], day))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"The file has no scores that can be read; {HOW}.") from error
    if not scores:
        raise InputError(f"The file has no overall scores; {HOW}.")
    for row in scores.values():
        _check_day(row.day)
    return scores


def _overall(rows: Sequence[Mapping[str, object]], day: str) -> Iterator[tuple[str, Rated]]:
    for entry in rows:
        row = entry.get("row", entry)
        if not isinstance(row, Mapping):
            raise TypeError(row)
        if row["category"] == "overall":
            width = float(row["rating_upper"]) - float(row["rating_lower"])
            published = row.get("leaderboard_publish_date") or day
            yield (
                str(row["model_name"]),
                Rated(
                    score=round(float(row["rating"])),
                    plus_minus=round(width / 2),
                    day=str(published),
                ),
            )


def _check_day(day: str) -> None:
    try:
        date.fromisoformat(day)
    except ValueError as error:
        raise InputError(f"The board's day is {day!r}, not one such as 2026-08-19.") from error


def renewed(
    rows: Mapping[str, QualityRow], newer: Mapping[str, Rated], source: str, today: str
) -> tuple[QualityRow, ...]:
    """Rows with the newer scores, highest first."""
    every = []
    for row in rows.values():
        new = newer.get(row.rated_as)
        if new is not None and new.day > row.date:
            row = replace(
                row, score=new.score, plus_minus=new.plus_minus, date=new.day,
                retrieved=today, source=source,
            )  # fmt: skip
        every.append(row)
    return tuple(sorted(every, key=lambda row: -row.score))


def as_csv(rows: Sequence[QualityRow]) -> str:
    """The table as it is shipped."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(QualityRow))
    for row in rows:
        writer.writerow(
            f"{value:g}" if isinstance(value, float) else value for value in asdict(row).values()
        )
    return out.getvalue()


def main(arguments: Sequence[str]) -> int:
    """Write data/models/quality.csv anew from a file; say what stayed."""
    file, source = Path(arguments[0]), arguments[1]
    newer = rated(file.read_text(encoding="utf-8"))
    rows = renewed(quality_rows(), newer, source, date.today().isoformat())
    TABLE.write_text(as_csv(rows), encoding="utf-8")
    stayed = [row.model for row in rows if row.source != source]
    others = ", ".join(stayed) or "none"
    sys.stdout.write(f"{len(rows) - len(stayed)} scores are new; as they were: {others}.\n")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m lab.leaderboard FILE.json ADDRESS_OF_THE_FILE")
    sys.exit(main(sys.argv[1:]))
