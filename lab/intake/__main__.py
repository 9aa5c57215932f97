"""`python -m lab.intake`: print the pull request of some reports, and write its rows.

    gh issue list --label run --json number,author,url,createdAt,body > issues.json
    python -m lab.intake issues.json --to data/measurements > pull_request.md

A file may also be one filled form, or what a tool wrote; --by and --url then say who published it
and where. Exit code 0 where a report became a row, 1 where none did.
"""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from advisor.errors import AdvisorError
from advisor.evidence.accuracy.fresh import WITHIN, FreshScore, constants_digest
from lab import fresh
from lab.intake import pull_request
from lab.intake.files import write_rows
from lab.intake.sent import reports_in
from lab.intake.taken import Intake, take


def main(words: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    args = _parser().parse_args(words)
    try:
        paths: list[Path] = args.files
        every = (reports_in(path, sender=args.by, address=args.url) for path in paths)
        intake = take(report for reports in every for report in reports)
        if args.to is not None:
            write_rows(intake, args.to)
    except AdvisorError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    month = datetime.now(UTC).strftime("%B %Y")
    sys.stdout.write(f"# {pull_request.title(intake, month)}\n\n")
    sys.stdout.write(pull_request.body(intake, scores_of(intake)))
    if intake.taken:
        return 0
    return 1


def scores_of(intake: Intake) -> list[FreshScore]:
    """Scores of the rows that are not doubtful, by family."""
    sound = [run.sent.row for run in intake.taken if not run.doubts]
    every = list(fresh.figures(sound))
    if not every:
        return []
    day = datetime.now(UTC).date().isoformat()
    scores = fresh.scores(every, day, constants_digest())
    return [score for score in scores if WITHIN not in score.kind]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab.intake", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="issues, filled forms, results")
    parser.add_argument("--by", default="", help="who published a file that is no issue")
    parser.add_argument("--url", default="", help="page on which it was published")
    parser.add_argument("--to", type=Path, help="folder whose *_sent.csv take the rows")
    return parser


if __name__ == "__main__":
    sys.exit(main())
