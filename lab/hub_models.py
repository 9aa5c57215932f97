"""A newer list of the Hub's models: `python -m lab.hub_models [COUNT]`.

Asks Hugging Face for its most downloaded text models, reads the config.json of those that are not
in the list yet, and writes data/models/hub_models.csv.xz anew with them first. Rows that are known
stay as they are; a repository that cannot be read is passed over and named.
"""

import csv
import io
import lzma
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple

from advisor.errors import AdvisorError, InputError
from advisor.model.by_name.hub_list import COLUMNS, FILE, HubRow, hub_list, more_rows
from advisor.model.by_name.names import take_apart
from advisor.model.config.values import Config, language_model
from advisor.model.hub import Limits, endpoint, fetch, json_object, repository, small_file

USUAL_COUNT = 500  # repositories that are asked for; the Hub answers at most a thousand at once
LISTING_CAP = 20_000_000  # a listing of a thousand repositories has some megabytes [B]
PATIENT = Limits(seconds=60.0)


def most_downloaded(count: int) -> tuple[str, ...]:
    """The Hub's most downloaded text models, `owner/name`."""
    query = f"pipeline_tag=text-generation&sort=downloads&direction=-1&limit={count}"
    answer = fetch(f"{endpoint()}/api/models?{query}", cap=LISTING_CAP, limits=PATIENT)
    listing = json_object(b'{"models": ' + answer.body + b"}", "the listing of models")["models"]
    if not isinstance(listing, list):
        raise InputError("The Hub's listing of models is no list; ask again later.")
    names = (entry.get("id") for entry in listing if isinstance(entry, Mapping))
    return tuple(name for name in names if isinstance(name, str) and "/" in name)


SIZES = {
    **{name: name for name in ("layers", "hidden", "heads", "kv_heads", "head_dim", "experts")},
    "vocab": "vocab_size",
    "feed_forward": "moe_intermediate",
    "shared_feed_forward": "shared_intermediate",
    "experts_used": "experts_per_token",
    "context": "max_context",
}
"""Fields or keys of a config.json by the column that has their number."""


def row_of(identity: str, config: Mapping[str, object], parameters: int, released: str) -> HubRow:
    """A row of the list from the repository's config.json; a nested language model is found.

    `parameters` are the weights that its files hold.
    """
    values = Config(name=identity, values=language_model(config))
    sizes = {column: values.whole(key) for column, key in SIZES.items()}
    heads = sizes["heads"]
    sizes["kv_heads"] = sizes["kv_heads"] or heads
    sizes["head_dim"] = sizes["head_dim"] or (sizes["hidden"] // heads if heads else 0)
    sizes["feed_forward"] = sizes["feed_forward"] or values.whole("intermediate")
    return HubRow(
        name=identity,
        key=" ".join(take_apart(identity).shape),
        architecture=str(config.get("model_type") or "unknown"),
        parameters=parameters,
        released=released,
        **sizes,
    )


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
    listed = hub_list()
    try:
        unknown = [name for name in most_downloaded(count) if listed.named(name) is None]
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
