"""Names of runtimes as people type them: other spellings, apps that run one of them, and engines
that are not described here, each a row of data/runtimes/runtime_names.csv.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True, slots=True)
class RuntimeNameRow:
    """One row of data/runtimes/runtime_names.csv."""

    name: str  # as its makers write it
    spellings: str  # other spellings, separated by semicolons
    runtime: str  # name of the runtime that it is or runs; empty for one that is not described
    note: str  # for an app, what to know besides; for an engine that is not described, why
    source: str  # its own page; empty for a spelling of a runtime
    retrieved: str  # date when that was read

    @property
    def refusal(self) -> str:
        """Reason why there is no answer for it; empty where there is one."""
        if self.runtime:
            return ""
        return f"{self.name} is known and not modelled. {self.note}"

    @property
    def taken_as(self) -> str:
        """Sentence on the runtime that answers for an app; empty for a runtime's own name."""
        if not self.source or not self.runtime:
            return ""
        more = f" {self.note[0].upper()}{self.note[1:]}." if self.note else ""
        return f"{self.name} runs {self.runtime}: the answer is that of {self.runtime}.{more}"


def row_of(name: str) -> RuntimeNameRow | None:
    """Row of a name, whatever its case, blanks and dashes; None for another name."""
    return _rows().get(_bare(name))


@cache
def _rows() -> Mapping[str, RuntimeNameRow]:
    rows: dict[str, RuntimeNameRow] = {}
    for row in read(DATA / "runtimes/runtime_names.csv", RuntimeNameRow):
        for spelling in (row.name, *filter(None, row.spellings.split("; "))):
            rows.setdefault(_bare(spelling), row)
    return rows


def _bare(name: str) -> str:
    """Letters and digits of a name, without a version at its end: "vLLM 0.33" is "vllm"."""
    folded = re.sub(r"\s+v?\d+(?:\.\d+)+\w*$|[:@]\S*$", "", name.strip().casefold())
    return re.sub(r"[^a-z0-9]", "", folded)
