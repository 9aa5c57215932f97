"""Rented machines without a GPU by the rule of their family: "c7g.16xlarge", "n2-standard-32".

The family gives the processor, the memory of each virtual processor and how many of these a core
has; the size gives their number.
"""

import re
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceFamilyRow:
    """One row of data/hardware/instance_families.csv: a family of rented machines.

    `pattern` is the family's part of the name, with "#" for the number of virtual processors where
    the name has it inside; `threads_per_core` is 2 where a virtual processor is a hyper-thread.
    """

    provider: str
    pattern: str
    cpu: str
    threads_per_core: int
    gib_per_vcpu: float
    metal_vcpu: int | None
    source: str
    source_date: str
    retrieved: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Instance:
    """Rented machine of a family.

    Attributes:
        name: name as the provider writes it, in lower case.
        family: row of the family.
        vcpu: virtual processors.
    """

    name: str
    family: InstanceFamilyRow
    vcpu: int

    @property
    def cores(self) -> int:
        """Physical cores."""
        return max(1, self.vcpu // self.family.threads_per_core)

    @property
    def ram_gib(self) -> float:
        """Main memory [GiB]."""
        return self.vcpu * self.family.gib_per_vcpu

    @property
    def note(self) -> str:
        """Derivation of the numbers, in a sentence."""
        each = "a core" if self.family.threads_per_core == 1 else "half a core"
        taken = f"{self.name}: {self.vcpu} virtual processors, each {each} of {self.family.cpu}"
        return f"{taken}; {self.family.note}." if self.family.note else f"{taken}."


SIZE = r"\.(?:(?P<times>\d*)x?large|metal(?:-(?P<metal>\d+)xl)?)"
NAMED_SO = re.compile(
    r"(?<![\w.-])(?:[a-z]\d\w*(?:-flex)?\.[\w-]+|[a-z]\d\w?-[a-z]+-\d+|(?:standard_)?[de]\d+\w*_v\d)\b"
)
OF_XLARGE = 4
"""Virtual processors of Amazon's xlarge; large has half of them."""


@cache
def families() -> tuple[InstanceFamilyRow, ...]:
    """Families of rented machines without a GPU."""
    return tuple(read(DATA / "hardware/instance_families.csv", InstanceFamilyRow))


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], InstanceFamilyRow], ...]:
    return tuple((_pattern(row), row) for row in families())


def _pattern(row: InstanceFamilyRow) -> re.Pattern[str]:
    if row.provider == "Amazon Web Services":
        return re.compile(rf"(?:{row.pattern}){SIZE}")
    if "#" in row.pattern:
        return re.compile(row.pattern.replace("#", r"(?P<vcpu>\d+)"))
    return re.compile(rf"(?:{row.pattern})-(?P<vcpu>\d+)")


def instance_in(text: str) -> Instance | None:
    """Rented machine that a word of a plain text names; None where none does."""
    for word in NAMED_SO.findall(text):
        for pattern, row in _patterns():
            match = pattern.fullmatch(word)
            vcpu = _vcpu(match, row) if match else None
            if vcpu:
                return Instance(name=word, family=row, vcpu=vcpu)
    return None


def _vcpu(match: re.Match[str], row: InstanceFamilyRow) -> int | None:
    """Virtual processors of a size; None where the family has no such size."""
    groups = match.groupdict()
    if groups.get("vcpu"):
        return int(groups["vcpu"])
    if groups.get("metal"):
        return OF_XLARGE * int(groups["metal"])
    if "metal" in match[0]:
        return row.metal_vcpu
    if "xlarge" in match[0]:
        return OF_XLARGE * int(groups["times"] or 1)
    return OF_XLARGE // 2
