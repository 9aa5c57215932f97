"""Names that APIs sell and no list has: `python -m lab.hosted_models PRICES.json VERSION`.

PRICES.json is litellm's table of prices (MIT). Written to data/models/hosted_models.csv are the
names of chat models of known families that no model here is called by, so that a refusal can say
why.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

from advisor.catalog.csv_tables import DATA
from advisor.catalog.records import csv_text
from advisor.errors import AdvisorError, UnknownName
from advisor.model.by_name.known import known_keys
from advisor.model.by_name.named import meant
from advisor.model.by_name.names import has_size, take_apart
from advisor.model.by_name.readings import HOSTED, HostedRow

SOURCE = "https://github.com/BerriAI/litellm/blob/v{}/model_prices_and_context_window.json"
REGION = re.compile(r"(?:(?:us|eu|global|apac|in|jp|au|ca)\.)?[a-z0-9-]+\.(?=[a-z])")
"""Region and publisher before a name of Amazon's."""
PASSING = re.compile(r"latest|variant\d|contributor|@")
"""Words of a name that stands for others, or for a place where it is sold."""


def rows(table: Mapping[str, Mapping[str, object]], version: str) -> Iterator[HostedRow]:
    """Rows of the chat models that nobody here knows."""
    families = {key.split()[0] for key in known_keys() if key}
    seen = set()
    for name, told in table.items():
        last = REGION.sub("", name.rpartition("/")[2])
        apart = take_apart(last)
        known = not apart.shape or apart.shape[0] not in families or has_size(apart.shape)
        if told.get("mode") not in ("chat", "responses") or known or PASSING.search(last):
            continue
        if apart.key not in seen and _is_unknown(last):
            seen.add(apart.key)
            yield HostedRow(
                name=last,
                source=SOURCE.format(version),
                source_date=date.today().isoformat(),
            )


def _is_unknown(name: str) -> bool:
    try:
        meant(name)
    except UnknownName:
        return True
    except AdvisorError:
        return False
    return False


if __name__ == "__main__":
    prices = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    hosted = sorted(rows(prices, sys.argv[2]), key=lambda row: row.name.casefold())
    (DATA / HOSTED).write_text(csv_text(tuple(hosted)), encoding="utf-8")
