"""A newer list of the Hub's models: `python -m lab.hub_models [COUNT]`.

Asks Hugging Face for its most downloaded text models, reads the config.json of those that are not
in the list yet, and writes data/models/hub_models.csv.xz anew with them first. Rows that are known
stay as they are; a repository that cannot be read is passed over and named.
"""

import csv
import io
import lzma
import sys
from collections.abc import Iterable, Iterator
from dataclasses import astuple

from advisor.errors import AdvisorError
from advisor.model.by_name.hub_list import COLUMNS, FILE, HubList, HubRow, more_rows, shipped
from advisor.model.hub import json_object, repository, small_file
from advisor.refresh.models import listing, row_of

USUAL_COUNT = 500  # repositories that are asked for; the Hub answers at most a thousand at once


def read_rows(names: Iterable[str]) -> Iterator[HubRow]:
    """Rows of repositories; those that cannot be read are named on standard error."""
    for name in names:
        try:
            repo = repository(name)
            config = json_object(small_file(repo, "config.json"), f"{name}/config.json")
            yield row_of(name, config, sum(repo.parameters.values()), "")
        except AdvisorError as error:
            sys.stderr.write(f"{name} is passed over: {error}\n")


def as_bytes(rows: Iterable[HubRow]) -> bytes:
    """The list as its file holds it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([value or "" for value in astuple(row)] for row in rows)
    return lzma.compress(text.getvalue().encode(), preset=9 | lzma.PRESET_EXTREME)


def main(arguments: list[str]) -> int:
    """Write the list anew; returns the exit code."""
    if arguments:
        count = int(arguments[0])
    else:
        count = USUAL_COUNT
    listed = HubList(shipped())
    try:
        names = [entry.name for entry in listing("text-generation", "downloads", count)]
        unknown = [name for name in names if listed.named(name) is None]
    except AdvisorError as error:
        sys.stderr.write(f"The list stays as it is: {error}\n")
        return 2
    new = tuple(read_rows(unknown))
    more = {row.name for row in more_rows()}
    FILE.write_bytes(as_bytes((*new, *(row for row in listed if row.name not in more))))
    sys.stdout.write(f"{len(new)} models are new of {count} that were asked for.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
