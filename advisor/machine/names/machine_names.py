"""Whole machines by name: a preset, or a list of GPU, processor and memory.

"Mac Studio M3 Ultra 512GB" and "g6e.xlarge" are rows of data/hardware/machines.csv; "2x 3090
Threadripper" and "Legion with 4070" are put together from their parts.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import replace

from advisor.errors import UnknownName
from advisor.machine.names.apple_names import (
    count_of_macs,
    names_apple,
)
from advisor.machine.names.card_mentions import CardMentions
from advisor.machine.names.cpu_names import CpuName, CpuNames, TooManySockets
from advisor.machine.names.gpu_memory import is_of_size
from advisor.machine.names.gpu_names import GpuName, GpuNames
from advisor.machine.names.instance_names import Instance, instance_in
from advisor.machine.names.machine_memory import (
    memory_channels,
    memory_rate,
    memory_type,
    with_modules_summed,
)
from advisor.machine.names.machine_parts import listed, machine_of_parts, share_of_channels
from advisor.machine.names.machine_words import (
    KINDS_OF_MACHINE,
    is_laptop,
    is_tower,
    refusal,
    spelled_out,
    stray_number,
    translated,
    unknown_items,
    without_line_numbers,
    without_system,
)
from advisor.machine.names.preset_names import OWN_COUNT, MachineName, PresetNames
from advisor.machine.names.spelling import counted, plain, without_sizes
from advisor.machine.networks import without_network
from advisor.machine.rows import MachineRow
from advisor.machine.spec import MachineSpec

SEVERAL_CARDS = (
    "Laptops of that line are sold with several processors and cards: name its GPU, processor and "
    "memory."
)
LEFT_OUT = "{!r} in the name is no part that is known and is left out."
HINT = "Name its GPU, processor and memory, or import one that was measured."


class MachineNames:
    """Index of machine names.

    Args:
        rows: presets by name.
        gpus: index of GPU names.
        cpus: index of processor names.
    """

    def __init__(self, rows: Mapping[str, MachineRow], gpus: GpuNames, cpus: CpuNames) -> None:
        self.rows, self.gpus, self.cpus = rows, gpus, cpus
        self.presets = PresetNames(rows, gpus)
        self.cards = CardMentions(gpus)

    def match(self, name: str) -> MachineName:
        """Machine of a name.

        Raises:
            UnknownName: neither a preset nor known parts; lists similar names.
        """
        text = " ".join(without_system(translated(plain(name))).split())
        text = SEVERAL_OF.sub(lambda count: f"{count[1] or count[2]}x ", text)
        bare, network = without_network(text)
        if network and bare:
            named = self.match(bare)
            joined = named.spec.machines * named.spec.gpu_count > 1
            spec = replace(named.spec, network=network if joined else None)
            return replace(named, spec=spec)
        text = text.replace(" / ", " ") if text.count("/") == 1 else text
        why = refusal(text)
        if why:
            raise UnknownName("machine", name, (), why)
        row = self.presets.row_of(text)
        rented = None if row else instance_in(text)
        if rented is not None:
            return self._of_family(rented, text)
        several = None if row else self._several(text)
        if row is None and several is None:
            text = spelled_out(text)
            text = text if AZURE.search(text) else text.replace("_", " ")
            row = self.presets.row_of(text)
        if row:
            return self.presets.as_sold(row, text)
        return several or self._several(text) or self._put_together(name, text)

    def _several(self, text: str) -> MachineName | None:
        """Several machines of a preset joined by a network, of servers and of chips that do not
        take a second one: "2x DGX Spark".
        """
        bare, count = counted(text)
        if count > 1 and OWN_COUNT.match(bare.strip()):
            single = self._put_together(text, bare.strip())
            return replace(
                single,
                name=f"{count} machines with {single.name}",
                spec=replace(single.spec, machines=count),
            )
        row = self.presets.row_of(bare.strip()) if count > 1 else None
        if row and (
            row.kind == "server"
            or (row.kind == "cloud" and OF_WHOLE.search(bare.strip()))
            or self.gpus.match(row.gpu).row.unified
        ):
            single = self.presets.as_sold(row, bare.strip())
            label = row.name
        elif row is None and names_apple(text) and count_of_macs(text) > 1:
            single = self._put_together(text, bare.strip())
            label = single.name
        else:
            return None
        return replace(single, name=f"{count}x {label}", spec=replace(single.spec, machines=count))

    def _of_family(self, rented: Instance, text: str) -> MachineName:
        """Rented machine of a family with its share of the host's memory channels, and the cards
        that are named beside it ("n1-standard-8 + T4").

        Raises:
            UnknownName: a size that the family does not have, or an unknown card beside it.
        """
        beside = text.replace(rented.name, " | ").replace("_", " ")
        gpus, rest = self.cards.within(beside, laptop=False)
        self.cards.refuse_unknown(rest)
        cards, count = listed(gpus)
        host = self.cpus.match(rented.family.cpu).row
        sockets = max(1, math.ceil(rented.cores / host.cores))
        if sockets > MOST_SOCKETS:
            why = f"{rented.cores} cores are more than {MOST_SOCKETS} {host.name} have."
            raise UnknownName("machine", rented.name, (), why)
        spec = MachineSpec(
            gpu=cards,
            gpu_count=count,
            cpu=f"{sockets}x {host.name}" if sockets > 1 else host.name,
            cores=rented.cores,
            ram_gb=rented.ram_gib,
            ram_channels=share_of_channels(host, rented.cores),
        )
        left_out = (LEFT_OUT.format(item) for item in unknown_items(rest))
        notes = (rented.note, *(note for gpu in gpus for note in gpu.notes), *left_out)
        name = f"{rented.name}, {cards}" if gpus else rented.name
        return MachineName(name=name, spec=spec, notes=notes, instance=name)

    def _put_together(self, name: str, text: str) -> MachineName:
        """Machine of the parts in a name.

        Raises:
            UnknownName: no known part, or a number that belongs to no part.
        """
        laptop = is_laptop(text)
        written = translated(plain(name))
        stated = memory_channels(text), memory_rate(written), memory_type(written)
        text = without_line_numbers(text)
        gpus, rest = self.cards.within(text, laptop=laptop)
        rest = with_modules_summed(rest)
        self.cards.refuse_unknown(rest)
        rented = self._rented(text, gpus)
        if rented is not None:
            return self.presets.as_sold(rented, text)
        cpu = self._processor(rest)
        notes = []
        if cpu and _is_of_gaming_laptops(cpu) and len(gpus) == 1 and not is_tower(text):
            mobile, _ = self.cards.within(text, laptop=True)
            if mobile[0].count == 1 and mobile[0].row != gpus[0].row:
                gpus = mobile
                notes.append(f"{cpu.row.name} is in laptops: so is its {gpus[0].row.name}.")
        self._refuse_unknown(name, MODEL.sub(" ", rest) if laptop and gpus else rest, gpus, cpu)
        notes += [
            LEFT_OUT.format(item) for item in unknown_items(rest) if not self._processor(item)
        ]
        if not gpus and cpu and cpu.gpu and cpu.row.segment in ("unified", "laptop"):
            gpus = [self._own_graphics(cpu)]
            if cpu.row.segment == "laptop":
                notes.append(f"No graphics card is named: {gpus[0].row.name} is taken.")
        return machine_of_parts(
            gpus, cpu, rest, notes, stated=stated, laptop=laptop, rows=self.gpus.rows
        )

    def _refuse_unknown(
        self, name: str, rest: str, gpus: list[GpuName], cpu: CpuName | None
    ) -> None:
        """A name without parts, or with a number of no part, is refused; computers are called by
        their cards ("gnode-a5000").

        Raises:
            UnknownName: the name, with similar ones.
        """
        stray = "" if cpu else stray_number(rest)
        if cpu or (gpus and (not stray or any(stray in plain(gpu.row.name) for gpu in gpus))):
            return
        macs = self.presets.macs_of(plain(name))
        if macs:
            raise UnknownName("machine", name, macs, "Say which chip it has.")
        if is_laptop(plain(name)) and not stray:
            raise UnknownName("machine", name, (), SEVERAL_CARDS)
        offers = [row.name for row in self.rows.values() if row.kind != "cloud"]
        hint = f"{stray!r} in it is no part that is known. {HINT}" if stray else HINT
        raise UnknownName("machine", name, (*offers, *self.gpus.rows, *self.rows), hint)

    def _rented(self, text: str, gpus: list[GpuName]) -> MachineRow | None:
        """Preset of a provider that the text names, with these cards; None where it has several."""
        if len(gpus) != 1:
            return None
        others = tuple(
            name
            for name in (() if SOCKET.search(text) else gpus[0].alternatives)
            if not gpus[0].memory_gib or is_of_size(self.gpus.rows[name], gpus[0].memory_gib)
        )
        meant = (gpus[0].row.name, *others)
        offers = [
            row
            for row in self.rows.values()
            if row.kind == "cloud"
            and row.gpu in meant
            and row.gpu_count == gpus[0].count
            and plain(row.note.split(";")[0]).split()[0].removesuffix(".ai") in text.split()
        ]
        least = min((meant.index(row.gpu) for row in offers), default=0)
        fitting = [row for row in offers if meant.index(row.gpu) == least]
        return fitting[0] if len({row.ram_gib for row in fitting}) == 1 else None

    def _own_graphics(self, cpu: CpuName) -> GpuName:
        """Graphics on a chip, by the chip's name, else by its generation."""
        try:
            return self.gpus.match(cpu.row.name)
        except UnknownName:
            return self.gpus.match(cpu.gpu)

    def _processor(self, text: str) -> CpuName | None:
        bare = re.sub(r"\s+", " ", text.replace("|", " ")).strip(" ,;+")
        sockets = SOCKETS_BEHIND.search(bare)
        if sockets:
            before, after = bare[: sockets.end(1)], bare[sockets.end() :]
            bare = f"{sockets[2]}x {before.lstrip(' ,')}{after}"
        words = set(re.findall(r"[a-z]+", without_sizes(bare)))
        try:
            return self.cpus.match(bare) if words - KINDS_OF_MACHINE else None
        except TooManySockets:
            raise
        except UnknownName:
            return None


SEVERAL_OF = re.compile(
    r"^(?:a )?(?:cluster|stack|rack|set|network) of (\d) |^(\d) (?=dgx|mac |framework|strix|gb10)"
)
"""Number of whole machines before their name: "cluster of 4 Mac mini", "2 DGX Spark"."""
MODEL = re.compile(r"\b[a-z]{1,3}\d{3,4}[a-z]{1,4}\b")
"""A laptop's model, as its maker writes it behind the series: "GA403UI"."""
OF_WHOLE = re.compile(r"^[a-z]\w*[.-]\w|^standard_|\b(?:servers|nodes|instances|machines)\b")
"""Pattern of a rented machine's name behind a count that is of machines, not of cards."""
MOST_SOCKETS = 2
"""Sockets of the hosts of rented machines."""
SOCKETS_BEHIND = re.compile(
    r"\b((?!pcie|gen|l?p?ddr)(?=[\w-]*\d)(?![\w-]*[gt]b\b)[\w-]{4,}(?: v\d)?) ?[*x] ?([24])"
    r"(?=\s*(?:[,;+()]|cpus?\b|$))"
)
"""A processor's count behind its model: "7C13*2"."""
OF_GAMING_LAPTOPS = re.compile(r"\d(?:h|hk|hq|hs|hx|hx3d)$")
AZURE = re.compile(r"\bstandard_|_v\d+\b")
"""Names of Azure's sizes, whose cards are those of their preset only."""
SOCKET = re.compile(r"\b(?:sxm\d?|pcie|nvl)\b")


def _is_of_gaming_laptops(cpu: CpuName) -> bool:
    """Processor that is sold beside a laptop GPU: its name ends in H, HS or HX."""
    name = cpu.row.name.casefold()
    return cpu.row.segment == "laptop" and OF_GAMING_LAPTOPS.search(name) is not None
