"""Presets by name: machines that people own or rent, as rows of data/hardware/machines.csv."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from advisor.machine.names.cpu_names import CpuName
from advisor.machine.names.gpu_names import GpuName, GpuNames
from advisor.machine.names.gpu_words import either, memory_options, names_apple
from advisor.machine.names.words import (
    NUMBERS,
    cores_of_part,
    main_memory,
    memory_sizes,
    plain,
    rate_of_type,
    says_nothing,
    server_memory,
    sizes_gib,
    squeezed,
    telling_words,
    typical_platform,
    virtual_processors,
    words_of_kind,
)
from advisor.machine.rows import GpuRow, HostRow, MachineRow
from advisor.machine.spec import MIXED, NO_GPU, MachineSpec


@dataclass(frozen=True, kw_only=True)
class MachineName:
    """Reading of a machine's name."""

    name: str  # name of the preset, or of the parts
    spec: MachineSpec  # parts and sizes
    preset: MachineRow | None = None  # row of data/hardware/machines.csv; None for a list of parts
    notes: tuple[str, ...] = ()  # assumptions, one sentence each
    memory_note: str = ""  # the one on its memory, which a typed size replaces; empty for none
    alternatives: tuple[str, ...] = ()  # other presets or cards that the name may mean
    instance: str = ""  # name of a rented machine, read by the rule of its family; empty for others

    @property
    def rented(self) -> str:
        """Name of a machine that a provider owns and rents out; empty for others."""
        of_cloud = self.preset is not None and self.preset.kind == "cloud"
        return self.name if of_cloud else self.instance


class PresetNames:
    """Index of presets."""

    def __init__(self, rows: Mapping[str, MachineRow], gpus: GpuNames) -> None:
        self.rows, self.gpus = rows, gpus
        self._exact: dict[str, MachineRow] = {}
        self._worded: list[tuple[Counter[str], MachineRow]] = []
        self._words = {name: telling_words(name) for name in rows}
        for row in rows.values():
            for spelling in (row.name, *filter(None, map(str.strip, row.aliases.split(";")))):
                self._exact.setdefault(plain(spelling), row)
                if row.kind != "cloud" or not COUNTED.match(spelling):
                    self._exact.setdefault(squeezed(spelling), row)
                if row.kind != "cloud" or spelling == row.name:
                    own = spelling == row.name
                    words = self._words[row.name] if own else telling_words(spelling)
                    self._worded.append((words, row))
        self._worded.sort(key=lambda entry: -entry[0].total())
        cards = " ".join(f"{row.name} {row.aliases}" for row in gpus.rows.values()).casefold()
        named = (word for words, _ in self._worded for word in words)
        self._telling = {*words_of_kind("of processors"), *NUMBERS, *LETTERS.findall(cards), *named}

    def row_of(self, text: str) -> MachineRow | None:
        """Preset of a plain text: by name, else the one whose words are all in the text, without
        words of other presets; None where there is none.
        """
        exact = self._exact.get(text) or self._exact.get(squeezed(text)) or self._rented_in(text)
        if exact is not None:
            return exact
        words = telling_words(text)
        given = words.keys()
        for wanted, row in self._worded:
            if (
                wanted.keys() <= given
                and wanted <= words
                and all(self._is_beside(word, row) for word in words - wanted)
            ):
                return self._of_size(wanted, row, text) if wanted else None
        return None

    def macs_of(self, text: str) -> tuple[str, ...]:
        """Macs of the product that a plain text names without a chip, with the memory in it."""
        product = PRODUCT_OF_APPLE.search(text)
        if product is None:
            return ()
        macs = [
            row
            for row in self.rows.values()
            if row.kind == "mac" and plain(row.name).startswith(product[0])
        ]
        sizes = {f"{size:g}" for size in memory_sizes(text)} | set(NUMBER.findall(text))
        fitting = [row.name for row in macs if sizes & set(row.ram_options_gib.split(";"))]
        return tuple(fitting or (row.name for row in macs))

    def _rented_in(self, text: str) -> MachineRow | None:
        """Cloud instance whose name is a word of a plain text without a count of machines."""
        if OWN_COUNT.match(text):
            return None
        words = INSTANCE.findall(text)
        rows = (self._exact.get(word) or self._exact.get(f"standard_{word}") for word in words)
        return next((row for row in rows if row and row.kind == "cloud"), None)

    def _of_size(self, wanted: Counter[str], row: MachineRow, text: str) -> MachineRow:
        """Of presets with the same words the one with cards of a size in the text, else `row`."""
        sizes = sizes_gib(text)
        same = [other for words, other in self._worded if words == wanted]
        fitting = (other for other in same if self.gpus.rows[other.gpu].memory_gib in sizes)
        return next(fitting, row) if len(same) > 1 else row

    def _is_beside(self, word: str, row: MachineRow) -> bool:
        """A word beside a preset's name that means no other machine: its memory, how many cards, a
        part of its own, a word of no hardware, or nothing.
        """
        own = telling_words(f"{row.name} {row.gpu} {row.cpu.partition('x ')[2] or row.cpu}")
        return (
            says_nothing(word)
            or word in row.ram_options_gib.split(";")
            or word == f"{row.gpu_count}x"
            or (word == "desktop" and row.kind in ("mini", "desktop"))
            or word in own
            or word.rstrip("+") in own
            or (word.isalpha() and len(word) > 2 and word not in self._telling)
        )

    def as_sold(self, row: MachineRow, text: str) -> MachineName:
        """Preset with the memory size of the name."""
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
        words = self._words[row.name]
        others = (name for name in self.rows if name != row.name and words <= self._words[name])
        return MachineName(
            name=row.name, spec=spec, preset=row, notes=notes, memory_note=note,
            alternatives=tuple(others)[:4],
        )  # fmt: skip

    def _chip(self, row: MachineRow, text: str) -> GpuName:
        """GPU of a preset; for a Mac, the variant with the cores in the name."""
        sold = self.gpus.match(row.gpu)
        if row.kind != "mac" or not names_apple(text):
            return sold
        typed = self.gpus.match(text)
        same = typed.row.name.rpartition(" ")[0] == sold.row.name.rpartition(" ")[0]
        return typed if same else replace(sold, memory_gib=typed.memory_gib)


PRODUCT_OF_APPLE = re.compile(r"\b(?:mac (?:studio|mini|pro)|macbook (?:pro|air)|imac)\b")
NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?![\w.])")
LETTERS = re.compile(r"[a-z]{3,}")
COUNTED = re.compile(r"\d+x", re.IGNORECASE)
"""Names of rented machines that begin with a count are those of their cards too."""
DRIVE_FROM = 4
"""A size beside a machine's name that is so many times its largest memory is its drive's."""
OWN_COUNT = re.compile(rf"(?!1x |single |one )(?:\d+x |(?:{'|'.join(NUMBERS)})\b)")
INSTANCE = re.compile(r"(?<![\w.-])[a-z]\w*(?:[.-]\w+)+|standard_\w+|n[cdvgp]\w*_v\d\b")


def _memory(row: MachineRow, text: str, gpu: GpuName) -> tuple[float | None, str]:
    """Main memory of a preset, from its name or as sold [GiB], with assumptions."""
    sold = tuple(float(size) for size in row.ram_options_gib.split(";") if size)
    bare = (telling_words(text) - telling_words(row.name)).keys() & set(
        row.ram_options_gib.split(";")
    )
    sizes = memory_sizes(text) or [float(size) for size in bare]
    stated = [size for size in sizes if not sold or size < DRIVE_FROM * max(sold)]
    cards = gpu.row.memory_gib, gpu.row.memory_gib * row.gpu_count
    own = not gpu.row.unified and stated and stated[0] in cards
    if stated and row.kind != "cloud" and not own:
        odd = sold and stated[0] not in sold
        note = f"{row.name} is sold with {either(sold)} GB of memory; {stated[0]:g} GB as typed."
        return stated[0], note if odd else ""
    if row.ram_gib is None:
        return None, f"How much memory {row.name} has is not on its page; type it."
    if len(sold) > 1:
        return row.ram_gib, f"Taken with {row.ram_gib:g} GB of memory; sold with {either(sold)} GB."
    return row.ram_gib, ""


# Machine of the graphics, the processor and the memory that a name lists.

TYPICAL_LAPTOP = "Laptop DDR5-5600 dual-channel (typical)"
"""Host of a laptop with a graphics card, whose modules are plugged in."""
USUAL_MEMORY = "ddr5"
"""Memory of a desktop without a graphics card whose name says none."""
FEWEST_CHANNELS = 2
"""Memory channels that a small part of a host reaches, as in data/hardware/machines.csv."""
SIZED = re.compile(r" \d+GB$")
"""End of the names of cards that are sold with several memory sizes."""


def machine_of_parts(
    gpus: list[GpuName],
    cpu: CpuName | None,
    rest: str,
    notes: list[str],
    *,
    stated: tuple[int | None, float | None, str],
    laptop: bool,
    rows: Mapping[str, GpuRow],
) -> MachineName:
    """Machine of graphics and a processor, with the memory that the rest of its name has.

    Args:
        gpus: graphics, kind by kind.
        cpu: processor; None for an unknown one.
        rest: plain text without graphics.
        notes: what was assumed so far.
        stated: channels of a socket, rate [MT/s] and type of the memory in the name.
        laptop: the machine is a laptop.
        rows: rows of all graphics.
    """
    chip = gpus[0].row if len(gpus) == 1 and gpus[0].row.unified else None
    large = cpu is not None and cpu.row.segment in ("server", "workstation")
    sizes = memory_sizes(rest) or (server_memory(rest) if large else [])
    memory = max(sizes, default=None) if large else main_memory(rest)
    platform = cpu.row.name if cpu else None
    notes = [*notes, *(note for part in (*gpus, cpu) if part for note in part.notes)]
    if cpu is None and chip is None:
        kind = typical_platform(stated[2].casefold() or ("" if gpus else USUAL_MEMORY))
        platform = typical_platform(rest) or (TYPICAL_LAPTOP if laptop else kind)
        notes += [f"The processor is taken as {platform}."] if platform else []
    threads = None if chip else virtual_processors(rest)
    if threads:
        notes.append(f"{threads} virtual processors are taken as half a core each.")
    part = None if chip or threads else cores_of_part(rest)
    if part and cpu and part < cpu.row.cores:
        notes.append(f"{part} of the {cpu.row.cores} cores, with their share of the channels.")
    cores = max(1, threads // 2) if threads else part
    notes += [note for gpu in gpus if (note := _other_sizes(gpu, rows))]
    cards, count = listed(gpus)
    channels, rate = stated[:2] if chip is None or chip.of_ram else (None, None)
    if cpu and chip is None and rate is None:
        rate, assumed = rate_of_type(stated[2], cpu.row)
        notes += [assumed] if assumed else []
    if cpu and channels:
        channels = _of_all_sockets(channels, cpu.row)
    elif cpu and cores:
        channels = share_of_channels(cpu.row, cores)
    spec = MachineSpec(
        gpu=cards,
        gpu_count=count,
        cores=cores,
        ram_channels=channels,
        ram_mts=rate,
        vram_gb=gpus[0].part_gib if len(gpus) == 1 else None,
        cpu=platform or None,
        ram_gb=memory or (_own_memory(gpus[0]) if chip else None),
    )
    unsaid = _unsaid_memory(gpus[0]) if chip and spec.ram_gb is None else ""
    label = (f"{count}x {cards}" if count > 1 else cards) if gpus else ""
    return MachineName(
        name=", ".join(filter(None, (label, "" if chip else platform))),
        spec=spec,
        notes=tuple(filter(None, (*notes, unsaid))),
        memory_note=unsaid,
        alternatives=gpus[0].alternatives if gpus else (),
    )


def _of_all_sockets(channels: int, row: HostRow) -> int:
    """Memory channels of all sockets, where those of a single socket may be stated."""
    of_socket = (row.memory_channels or channels) / row.sockets
    return channels * row.sockets if channels <= of_socket else channels


def _other_sizes(gpu: GpuName, rows: Mapping[str, GpuRow]) -> str:
    """Note on the memory that a name does not say, where cards of it differ; else empty."""
    own = gpu.row.memory_gib
    sizes = {own, *(rows[name].memory_gib for name in gpu.alternatives)}
    if gpu.memory_gib or len(sizes) == 1 or not SIZED.search(gpu.row.name):
        return ""
    bare = SIZED.sub("", gpu.row.name)
    return f"{bare} is sold with {either(tuple(sorted(sizes)))} GB: {own:g} GB is assumed."


def share_of_channels(host: HostRow, cores: int) -> int:
    """Memory channels that some cores of a host are given."""
    channels = (host.memory_channels or FEWEST_CHANNELS) * cores / host.cores
    return max(FEWEST_CHANNELS, round(channels))


def listed(gpus: list[GpuName]) -> tuple[str, int]:
    """Cards as `MachineSpec.gpu` takes them, and the factor on their numbers."""
    if not gpus:
        return NO_GPU, 1
    if len(gpus) == 1:
        return gpus[0].row.name, gpus[0].count
    kinds = (f"{gpu.count}x {gpu.row.name}" if gpu.count > 1 else gpu.row.name for gpu in gpus)
    return MIXED.join(kinds), 1


def _unsaid_memory(gpu: GpuName) -> str:
    """Note on the memory of a chip that is sold with several sizes; empty for others."""
    sold = memory_options(gpu.row)
    if len(sold) < 2:
        return ""
    return (
        f"How much memory it has is not said: {gpu.row.memory_gib:g} GB is assumed; sold with "
        f"{either(sold)} GB."
    )


def _own_memory(gpu: GpuName) -> float | None:
    """Memory of a chip as its name says, else of a single one the only size that it has [GiB]."""
    sold = memory_options(gpu.row) or (gpu.row.memory_gib,)
    only = len(sold) == 1 and gpu.count == 1 and not gpu.row.of_ram
    return gpu.memory_gib or (sold[0] if only else None)
