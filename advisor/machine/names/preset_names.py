"""Names of machines that are sold or rented as a whole.

They are rows of data/hardware/machines.csv, and families of rented machines without a GPU.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import UnknownName
from advisor.machine.names import words
from advisor.machine.names.cpu_names import share_of_channels
from advisor.machine.names.gpu_names import GpuName, GpuNames, listed
from advisor.machine.names.gpu_words import either, is_of_size, names_apple
from advisor.machine.names.words import (
    Written,
    any_of,
    folded,
    plain,
    telling_words,
    words_of_kind,
)
from advisor.machine.rows import HostRow, MachineRow
from advisor.machine.spec import MachineSpec


@dataclass(frozen=True, kw_only=True)
class MachineName:
    """Reading of a machine's name."""

    name: str  # name of the preset, or of the parts
    spec: MachineSpec  # parts and sizes
    preset: MachineRow | None = None  # row of data/hardware/machines.csv; None for a list of parts
    notes: tuple[str, ...] = ()  # assumptions, one sentence each
    memory_note: str = ""  # the one on its memory, which a typed size replaces; empty for none
    alternatives: tuple[str, ...] = ()  # other presets or cards that the name may mean
    of_cloud: bool = False  # whether a provider owns it and rents it out


CHIPS_OF = {"amd": "ryzen", "intel": "core"}
"""First word of the names of a maker's chips, by the maker, who may stand before a small machine of
another: "AMD GMKtec EVO-X2"."""


class PresetNames:
    """Index of presets."""

    def __init__(self, rows: Mapping[str, MachineRow], gpus: GpuNames) -> None:
        self.rows = rows
        self.gpus = gpus
        self._exact: dict[str, MachineRow] = {}
        self._worded: list[tuple[Counter[str], MachineRow]] = []
        for row in rows.values():
            for spelling in (row.name, *filter(None, map(str.strip, row.aliases.split(";")))):
                self._exact.setdefault(folded(spelling), row)
                if row.kind != "cloud" or not COUNTED.match(spelling):
                    self._exact.setdefault(words.squeezed(spelling), row)
                if row.kind != "cloud" or spelling == row.name:
                    self._worded.append((telling_words(spelling), row))
        # words of each preset's own name
        self._words = {row.name: wanted for wanted, row in reversed(self._worded)}
        self._worded.sort(key=lambda entry: -entry[0].total())
        cards = " ".join(f"{row.name} {row.aliases}" for row in gpus.rows.values()).casefold()
        named = (word for spelled, _ in self._worded for word in spelled)
        self._telling = {
            *words_of_kind("of processors"),
            *words_of_kind("number"),
            *LETTERS.findall(cards),
            *named,
        }

    def row_of(self, written: Written) -> MachineRow | None:
        """Preset by its name, or the only one whose words are all in a text."""
        exact = self._exact.get(written.text) or self._exact.get(written.squeezed)
        exact = exact or self._rented_in(written)
        if exact is not None:
            return exact
        given = written.telling
        for wanted, row in self._worded:
            if (
                wanted.keys() <= given.keys()
                and wanted <= given
                and all(self._is_beside(word, row) for word in given - wanted)
            ):
                if wanted:
                    return self._of_size(wanted, row, written)
                return None
        return None

    def sold_in(self, written: Written) -> MachineRow | None:
        """PC whose words are all in a text, with any further words."""
        given = written.telling
        kinds = ("mini", "desktop", "office")
        sold = ((wanted, row) for wanted, row in self._worded if row.kind in kinds and wanted)
        return next((row for wanted, row in sold if wanted <= given), None)

    def macs_of(self, written: Written) -> tuple[str, ...]:
        """Macs of the product that a text names without a chip, with the memory in it."""
        product = any_of("product of apple").search(written.text)
        if product is None:
            return ()
        macs = [
            row
            for row in self.rows.values()
            if row.kind == "mac" and plain(row.name).startswith(product[0])
        ]
        sizes = {f"{size:g}" for size in written.memory_sizes}
        sizes |= set(NUMBER.findall(written.text))
        fitting = [row.name for row in macs if sizes & set(row.ram_options_gib.split(";"))]
        return tuple(fitting or (row.name for row in macs))

    def _rented_in(self, written: Written) -> MachineRow | None:
        """Cloud instance whose name is a word of a text without a count of machines."""
        if any_of("own count").match(written.text):
            return None
        instances = any_of("instance word").findall(written.text)
        rows = (self._exact.get(word) or self._exact.get(f"standard_{word}") for word in instances)
        return next((row for row in rows if row and row.kind == "cloud"), None)

    def with_cards(self, written: Written, gpus: list[GpuName]) -> MachineRow | None:
        """Preset of a provider that the text names, with these cards; None where the provider has
        several.
        """
        if len(gpus) != 1:
            return None
        size = gpus[0].memory_gib
        meant = [gpus[0].row.name]
        if not any_of("card socket").search(written.text):
            cards = [self.gpus.rows[name] for name in gpus[0].alternatives]
            meant += [row.name for row in cards if not size or is_of_size(row, size)]
        offers = [
            row
            for row in self.rows.values()
            if row.kind == "cloud"
            and row.gpu in meant
            and row.gpu_count == gpus[0].count
            and plain(row.note.split(";")[0]).split()[0].removesuffix(".ai") in written.text.split()
        ]
        least = min((meant.index(row.gpu) for row in offers), default=0)
        fitting = [row for row in offers if meant.index(row.gpu) == least]
        if len({row.ram_gib for row in fitting}) == 1:
            return fitting[0]
        return None

    def _of_size(self, wanted: Counter[str], row: MachineRow, written: Written) -> MachineRow:
        """Preset among several with the same words whose cards have a size in the text; `row` where
        none has.
        """
        sizes = written.sizes
        same = [other for spelled, other in self._worded if spelled == wanted]
        fitting = (other for other in same if self.gpus.rows[other.gpu].memory_gib in sizes)
        if len(same) > 1:
            return next(fitting, row)
        return row

    def _is_beside(self, word: str, row: MachineRow) -> bool:
        """Whether a word names no other machine: it is memory, a part, or no hardware."""
        own = telling_words(f"{row.name} {row.gpu} {row.cpu.partition('x ')[2] or row.cpu}")
        return (
            any_of("says nothing").fullmatch(word) is not None
            or word in row.ram_options_gib.split(";")
            or word == f"{row.gpu_count}x"
            or (word == "desktop" and row.kind in ("mini", "desktop", "office"))
            or word in own
            or word.rstrip("+") in own
            or CHIPS_OF.get(word) in own
            or (word.isalpha() and len(word) > 2 and word not in self._telling)
        )

    def as_sold(self, row: MachineRow, written: Written) -> MachineName:
        """Preset with the memory size of the name."""
        if row.gpu == MachineSpec.NO_GPU:
            gpu = None
        else:
            gpu = self._chip(row, written)
        ram, note = _memory(row, written, gpu)
        cpu, which = processor_of(row, written)
        notes = (*(gpu.notes if gpu else ()), which, note)
        spec = MachineSpec(
            gpu=gpu.row.name if gpu else MachineSpec.NO_GPU,
            gpu_count=row.gpu_count or 1,
            cpu=cpu or None,
            cores=row.cores,
            ram_gb=ram,
            ram_channels=row.ram_channels,
            ram_mts=row.ram_mts,
            disk=row.disk or None,
        )
        own = self._words[row.name]
        others = (name for name in self.rows if name != row.name and own <= self._words[name])
        return MachineName(
            name=row.name,
            spec=spec,
            preset=row,
            notes=tuple(dict.fromkeys(filter(None, notes))),
            memory_note=note,
            alternatives=tuple(others)[:4],
            of_cloud=row.kind == "cloud",
        )

    def _chip(self, row: MachineRow, written: Written) -> GpuName:
        """GPU of a preset; for a Mac, the variant with the cores in the name."""
        sold = GpuName(row=self.gpus.rows[row.gpu], memory_gib=words.size_gib(plain(row.gpu)))
        if row.kind != "mac" or not names_apple(written.text):
            return sold
        typed = self.gpus.match(written.text)
        same = typed.row.name.rpartition(" ")[0] == sold.row.name.rpartition(" ")[0]
        if same:
            return typed
        return replace(sold, memory_gib=typed.memory_gib)


NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?![\w.])")
LETTERS = re.compile(r"[a-z]{3,}")
COUNTED = re.compile(r"\d+x", re.IGNORECASE)
"""Names of rented machines that begin with a count are those of their cards too."""
DRIVE_FROM = 4
"""A size beside a machine's name that is so many times its largest memory is its drive's."""


def processor_of(row: MachineRow, written: Written) -> tuple[str, str]:
    """Processor of a preset that a text says, or the most usual one, with a note on others."""
    usual, *others = row.cpu.split("; ")
    numbers = {name: name.rpartition(" ")[2].casefold() for name in (usual, *others)}
    taken = next((name for name, number in numbers.items() if number in written.text), "")
    if taken or not others:
        return taken or usual, ""
    line = any_of("line alone").search(written.text)
    if line:
        of_line = (name for name in numbers if f" {line[0].split()[-1]}-" in name.casefold())
        usual = next(of_line, usual)
    return usual, f"{row.name} is sold with several processors: {usual} is taken."


def _memory(row: MachineRow, written: Written, gpu: GpuName | None) -> tuple[float | None, str]:
    """Main memory of a preset, from its name or as sold [GiB], with assumptions."""
    sold = tuple(float(size) for size in row.ram_options_gib.split(";") if size)
    beside = (written.telling - telling_words(row.name)).keys()
    bare = beside & set(row.ram_options_gib.split(";"))
    sizes = written.memory_sizes or [float(size) for size in bare]
    if row.kind == "cloud" and written.names_ram:
        return written.main_memory, ""
    stated = [size for size in sizes if not sold or size < DRIVE_FROM * max(sold)]
    if gpu and not gpu.row.unified:
        card = gpu.row.memory_gib
    else:
        card = 0.0
    own = stated and card and stated[0] in (card, card * row.gpu_count)
    if stated and row.kind != "cloud" and not own:
        odd = sold and stated[0] not in sold
        note = f"{row.name} is sold with {either(sold)} GB of memory; {stated[0]:g} GB as typed."
        return stated[0], note if odd else ""
    if row.ram_gib is None:
        return None, f"How much memory {row.name} has is not on its page; type it."
    if len(sold) > 1:
        return row.ram_gib, f"Taken with {row.ram_gib:g} GB of memory; sold with {either(sold)} GB."
    return row.ram_gib, ""


# Rented machines without a GPU by the rule of their family: "c7g.16xlarge", "n2-standard-32".
#
# The family gives the processor, the memory of each virtual processor and how many of these a core
# has; the size gives their number.


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


MOST_SOCKETS = 2  # sockets of the hosts of rented machines
LEFT_OUT = "{!r} in the name is no part that is known and is left out."


@dataclass(frozen=True, kw_only=True)
class Instance:
    """Rented machine by the rule of its family."""

    name: str  # name, as typed
    family: InstanceFamilyRow
    vcpu: int  # number of virtual processors

    def machine(self, host: HostRow, gpus: list[GpuName], unknown: Iterable[str]) -> MachineName:
        """Machine with a host and the cards named beside it; `unknown` words are left out.

        Raises:
            UnknownName: a number of virtual processors that no machine of the family has.
        """
        cards, count = listed(gpus)
        cores = max(1, self.vcpu // self.family.threads_per_core)
        sockets = max(1, math.ceil(cores / host.cores))
        if sockets > MOST_SOCKETS:
            why = f"{cores} cores are more than {MOST_SOCKETS} {host.name} have."
            raise UnknownName("machine", self.name, (), why)
        spec = MachineSpec(
            gpu=cards,
            gpu_count=count,
            cpu=f"{sockets}x {host.name}" if sockets > 1 else host.name,
            cores=cores,
            ram_gb=self.vcpu * self.family.gib_per_vcpu,
            ram_channels=share_of_channels(host, cores),
        )
        if self.family.threads_per_core == 1:
            part = "a core"
        else:
            part = "half a core"
        if self.family.note:
            remark = f"; {self.family.note}"
        else:
            remark = ""
        of_host = f"each {part} of {self.family.cpu}{remark}"
        taken = f"{self.name}: {self.vcpu} virtual processors, {of_host}."
        left_out = (LEFT_OUT.format(item) for item in unknown)
        notes = (taken, *(note for gpu in gpus for note in gpu.notes), *left_out)
        if gpus:
            name = f"{self.name}, {cards}"
        else:
            name = self.name
        return MachineName(name=name, spec=spec, notes=notes, of_cloud=True)


SIZE = r"\.(?:(?P<times>\d*)x?large|metal(?:-(?P<metal>\d+)xl)?)"
OF_XLARGE = 4  # virtual processors of Amazon's xlarge; large has half of them


families = cache(lambda: read(DATA / "hardware/instance_families.csv", InstanceFamilyRow))
"""Families of rented machines without a GPU."""


@cache
def _pattern(row: InstanceFamilyRow) -> re.Pattern[str]:
    if row.provider == "Amazon Web Services":
        return re.compile(rf"(?:{row.pattern}){SIZE}")
    if "#" in row.pattern:
        return re.compile(row.pattern.replace("#", r"(?P<vcpu>\d+)"))
    return re.compile(rf"(?:{row.pattern})-(?P<vcpu>\d+)")


def instance_in(written: Written) -> Instance | None:
    """Rented machine that a text names by the rule of a family; None where it names none."""
    for word in any_of("family word").findall(written.text):
        for row in families():
            match = _pattern(row).fullmatch(word)
            if match:
                vcpu = _vcpu(match, row)
            else:
                vcpu = None
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
