"""Whole machines by common names: a preset, or GPU, processor and memory in words.

"Mac Studio M3 Ultra 512GB" and "g6e.xlarge" are rows of data/hardware/machines.csv; "2x 3090
Threadripper" and "Legion with 4070" are put together from their parts.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from advisor.errors import UnknownName
from advisor.machine.names.apple_names import either, names_apple
from advisor.machine.names.cpu_names import CpuName, CpuNames
from advisor.machine.names.gpu_names import GpuName, GpuNames
from advisor.machine.names.machine_words import (
    CARD,
    is_laptop,
    memory_sizes,
    says_nothing,
    server_memory,
    spelled_out,
    squeezed,
    stray_number,
    telling_words,
    typical_platform,
    without_line_numbers,
)
from advisor.machine.names.spelling import counted, plain, sizes_gib, without_sizes
from advisor.machine.rows import MachineRow
from advisor.machine.spec import MIXED, NO_GPU, MachineSpec

HINT = "Name its GPU, processor and memory, or import one that was measured."
TYPICAL_LAPTOP = "Laptop LPDDR5X-7500 (typical)"


@dataclass(frozen=True, kw_only=True)
class MachineName:
    """Reading of a machine's name.

    Attributes:
        name: of the preset, or of the parts.
        spec: its parts and sizes.
        preset: row of data/hardware/machines.csv; None for one put together from its parts.
        notes: what was assumed, one sentence each.
        alternatives: other presets or cards that the name may mean.
    """

    name: str
    spec: MachineSpec
    preset: MachineRow | None = None
    notes: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()


class MachineNames:
    """Names of machines, ready to be matched.

    Args:
        rows: presets by name.
        gpus: names of GPUs.
        cpus: names of processors.
    """

    def __init__(self, rows: Mapping[str, MachineRow], gpus: GpuNames, cpus: CpuNames) -> None:
        self.rows, self.gpus, self.cpus = rows, gpus, cpus
        self._exact: dict[str, MachineRow] = {}
        self._worded: list[tuple[Counter[str], MachineRow]] = []
        for row in rows.values():
            for spelling in (row.name, *filter(None, map(str.strip, row.aliases.split(";")))):
                self._exact.setdefault(plain(spelling), row)
                if row.kind != "cloud" or spelling == row.name:
                    self._exact.setdefault(squeezed(spelling), row)
                    self._worded.append((telling_words(spelling), row))
        self._worded.sort(key=lambda entry: -entry[0].total())

    def match(self, name: str) -> MachineName:
        """The machine that a name means.

        Raises:
            UnknownName: neither a preset nor parts of the catalogue; close names first.
        """
        text = plain(name)
        row = self.preset(text)
        if row is None:
            text = spelled_out(text)
            row = self.preset(text)
        return (
            self._as_sold(row, text)
            if row
            else self._several(text) or self._put_together(name, text)
        )

    def _several(self, text: str) -> MachineName | None:
        """Machines of a preset over a network, where its chip has room for no second: "2x DGX
        Spark".
        """
        bare, count = counted(text)
        row = self.preset(bare.strip()) if count > 1 else None
        if row is None or not self.gpus.match(row.gpu).row.unified:
            return None
        single = self._as_sold(row, bare.strip())
        return replace(
            single, name=f"{count}x {row.name}", spec=replace(single.spec, machines=count)
        )

    def preset(self, text: str) -> MachineRow | None:
        """The preset of a plain text: by name, else the one whose words are all there, and nothing
        beside them that means another; None where there is none.
        """
        exact = self._exact.get(text) or self._exact.get(squeezed(text))
        if exact is not None:
            return exact
        words = telling_words(text)
        for wanted, row in self._worded:
            sizes = row.ram_options_gib.split(";")
            rest = words - wanted
            if wanted <= words and all(says_nothing(word) or word in sizes for word in rest):
                return row if wanted else None
        return None

    def _as_sold(self, row: MachineRow, text: str) -> MachineName:
        """A preset, with the memory that the name says."""
        gpu = self._chip(row, text)
        ram, note = _memory(row, text, gpu)
        notes = tuple(dict.fromkeys((*gpu.notes, *([note] if note else []))))
        spec = MachineSpec(
            gpu=gpu.row.name,
            gpu_count=row.gpu_count,
            cpu=row.cpu or None,
            cores=row.cores,
            ram_gb=ram,
            ram_channels=row.ram_channels,
            disk=row.disk or None,
        )
        words = telling_words(row.name)
        others = (name for name in self.rows if name != row.name and words <= telling_words(name))
        return MachineName(
            name=row.name, spec=spec, preset=row, notes=notes, alternatives=tuple(others)[:4]
        )

    def _chip(self, row: MachineRow, text: str) -> GpuName:
        """GPU of a preset; of a Mac, with the cores that the name says of its own chip."""
        sold = self.gpus.match(row.gpu)
        if row.kind != "mac" or not names_apple(text):
            return sold
        typed = self.gpus.match(text)
        same = typed.row.name.rpartition(" ")[0] == sold.row.name.rpartition(" ")[0]
        return typed if same else replace(sold, memory_gib=typed.memory_gib)

    def _put_together(self, name: str, text: str) -> MachineName:
        """A machine of the parts that its name has.

        Raises:
            UnknownName: no part is known, or a number in the name belongs to none.
        """
        laptop = is_laptop(text)
        text = without_line_numbers(text)
        gpus, rest = self._cards(text, laptop=laptop)
        rented = self._rented(text, gpus)
        if rented is not None:
            return self._as_sold(rented, text)
        cpu = self._processor(rest)
        self._refuse_unknown(name, rest, known=bool(gpus), cpu=cpu)
        if not gpus and cpu and cpu.gpu and cpu.row.segment in ("unified", "laptop"):
            gpus = [self._own_graphics(cpu)]
        chip = gpus[0].row if len(gpus) == 1 and gpus[0].row.unified else None
        sizes = memory_sizes(rest)
        if not sizes and cpu and cpu.row.segment in ("server", "workstation"):
            sizes = server_memory(rest)
        platform = cpu.row.name if cpu else None
        notes = [note for part in (*gpus, cpu) if part for note in part.notes]
        if cpu is None and chip is None:
            platform = typical_platform(rest) or (TYPICAL_LAPTOP if laptop else None)
            notes += [f"The processor is taken as {platform}."] if platform else []
        cards, count = _listed(gpus)
        spec = MachineSpec(
            gpu=cards,
            gpu_count=count,
            cpu=platform,
            ram_gb=max(sizes) if sizes else (gpus[0].memory_gib if chip else None),
        )
        label = (f"{count}x {cards}" if count > 1 else cards) if gpus else ""
        return MachineName(
            name=", ".join(filter(None, (label, "" if chip else platform))),
            spec=spec,
            notes=tuple(notes),
            alternatives=gpus[0].alternatives if gpus else (),
        )

    def _refuse_unknown(self, name: str, rest: str, *, known: bool, cpu: CpuName | None) -> None:
        stray = "" if cpu else stray_number(rest)
        if (known and not stray) or cpu:
            return
        offers = [row.name for row in self.rows.values() if row.kind != "cloud"]
        hint = f"{stray!r} in it is no part that is known. {HINT}" if stray else HINT
        raise UnknownName("machine", name, (*offers, *self.gpus.rows, *self.rows), hint)

    def _rented(self, text: str, gpus: list[GpuName]) -> MachineRow | None:
        """A provider's machine with these cards, where the text names the provider."""
        if len(gpus) != 1:
            return None
        meant = (gpus[0].row.name, *gpus[0].alternatives)
        offers = [
            row
            for row in self.rows.values()
            if row.kind == "cloud"
            and row.gpu in meant
            and row.gpu_count == gpus[0].count
            and plain(row.note.split(";")[0]).split()[0].removesuffix(".ai") in text.split()
        ]
        return min(offers, key=lambda row: meant.index(row.gpu), default=None)

    def names_cards(self, text: str) -> bool:
        """A plain text names graphics cards of the catalogue."""
        return bool(self._cards(text, laptop=False)[0])

    def _cards(self, text: str, *, laptop: bool) -> tuple[list[GpuName], str]:
        """GPUs of a text, kind by kind, and what is left of it."""
        if names_apple(text):
            return [self.gpus.match(text)], " "
        cards: list[GpuName] = []

        def taken(match: re.Match[str]) -> str:
            mention = match[0].strip()
            try:
                gpu = self._card(mention, laptop=laptop)
                sizes = sizes_gib(mention)
                if not sizes or abs(sizes[0] - gpu.row.memory_gib) <= 1:
                    cards.append(gpu)
                    return " | "
                cards.append(self._card(without_sizes(mention), laptop=laptop))
            except UnknownName:
                return match[0]
            return f" | {sizes[0]:g}gb | "  # not the card's own size: the machine's memory

        return cards, CARD.sub(taken, text)

    def _card(self, mention: str, *, laptop: bool) -> GpuName:
        """The card of a mention; the laptop part of that name in a laptop.

        Raises:
            UnknownName: with close names.
        """
        if laptop and "laptop" not in mention:
            try:
                return self.gpus.match(f"{mention} laptop")
            except UnknownName:
                pass
        return self.gpus.match(mention)

    def _own_graphics(self, cpu: CpuName) -> GpuName:
        """Graphics of a chip by the chip's own name, else those of its generation."""
        try:
            return self.gpus.match(cpu.row.name)
        except UnknownName:
            return self.gpus.match(cpu.gpu)

    def _processor(self, text: str) -> CpuName | None:
        bare = re.sub(r"\s+", " ", text.replace("|", " ")).strip(" ,;+")
        try:
            return self.cpus.match(bare) if bare else None
        except UnknownName:
            return None


def _memory(row: MachineRow, text: str, gpu: GpuName) -> tuple[float | None, str]:
    """Main memory of a preset as its name says, else as sold [GiB], and what is assumed."""
    sold = tuple(float(size) for size in row.ram_options_gib.split(";") if size)
    bare = (telling_words(text) - telling_words(row.name)).keys() & set(
        row.ram_options_gib.split(";")
    )
    stated = memory_sizes(text) or [float(size) for size in bare]
    own = not gpu.row.unified and stated and stated[0] == gpu.row.memory_gib
    if stated and row.kind != "cloud" and not own:
        odd = sold and stated[0] not in sold
        note = f"{row.name} is sold with {either(sold)} GB of memory; {stated[0]:g} GB as typed."
        return stated[0], note if odd else ""
    if row.ram_gib is None:
        return None, f"How much memory {row.name} has is not on its page; type it."
    if len(sold) > 1:
        return row.ram_gib, f"Taken with {row.ram_gib:g} GB of memory; sold with {either(sold)} GB."
    return row.ram_gib, ""


def _listed(gpus: list[GpuName]) -> tuple[str, int]:
    """Cards as `MachineSpec` takes them, and how many times all of them."""
    if not gpus:
        return NO_GPU, 1
    if len(gpus) == 1:
        return gpus[0].row.name, gpus[0].count
    kinds = (f"{gpu.count}x {gpu.row.name}" if gpu.count > 1 else gpu.row.name for gpu in gpus)
    return MIXED.join(kinds), 1
