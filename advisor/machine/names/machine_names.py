"""Names of whole machines: a preset, or a list of GPU, processor and memory.

"Mac Studio M3 Ultra 512GB" and "g6e.xlarge" are rows of data/hardware/machines.csv; "2x 3090
Threadripper" and "Legion with 4070" are put together from their parts.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from advisor.catalog.name_matching import spellings
from advisor.errors import UnknownName
from advisor.lazy import lazy
from advisor.machine.names import gpu_words, preset_names, statements, words
from advisor.machine.names.cpu_names import CpuName, CpuNames, TooManySockets, share_of_channels
from advisor.machine.names.gpu_names import GpuName, GpuNames, listed, size_unsaid, sliced
from advisor.machine.names.gpu_words import OtherMemory, either, memory_options, names_apple
from advisor.machine.names.preset_names import Instance, MachineName, PresetNames
from advisor.machine.names.words import Written, any_of, folded, plain, without_network
from advisor.machine.rows import GpuRow, MachineRow
from advisor.machine.spec import NO_CARD, MachineSpec

# Graphics cards within the name of a machine: which, how many, and what of the name is left.


class CardMentions:
    """Reader of the cards that a machine's name mentions."""

    def __init__(self, gpus: GpuNames) -> None:
        self.gpus = gpus

    def names_any(self, written: Written) -> bool:
        """Whether a text names graphics cards, of the catalogue or unknown ones."""
        cards, rest = self.within(written, laptop=False)
        return bool(cards) or any(self.unknown(rest))

    def lists_several(self, written: Written) -> bool:
        """Whether a text lists graphics cards: "3090 + 3090"."""
        text = gpu_words.named_part(written.text)
        return (
            bool(any_of("list of cards").search(text))
            and len(any_of("card").findall(text)) > 1
            and self.names_any(Written(text))
        )

    def within(self, written: Written, *, laptop: bool) -> tuple[list[GpuName], Written]:
        """GPUs in a text, each kind once with its number, and the rest of the text.

        Chips count where there is no card.
        """
        text = written.text
        if names_apple(text) or any_of("of several").search(text):
            chip = self.gpus.match(text)
            others = () if len(set(any_of("apple chip").findall(text))) < 2 else (ONE_CHIP,)
            return [replace(chip, notes=(*chip.notes, *others))], Written(" ")
        cards: list[GpuName] = []
        text = self._without_own_sizes(gpu_words.boards_of_two(text))
        text = self._with_size_behind(self._with_label_behind(text))

        def taken(match: re.Match[str]) -> str:
            mention = any_of("kind behind card").sub("", match[0].strip())
            mention = any_of("attached count").sub(" x", mention)
            sizes = [] if sliced(mention) else words.sizes_gib(mention)
            try:
                gpu = self._card(mention, laptop=laptop)
                if not sizes or abs(sizes[0] - gpu.row.memory_gib) <= 1:
                    cards.append(gpu)
                    return " | "
            except OtherMemory:
                pass
            except UnknownName:
                return match[0]
            modules = any_of("modules").match(mention)  # "8x64gb 3090"
            if modules and int(modules[2]) in words.SIZES_OF_MODULES:
                cards.append(self._card(mention[modules.end() :].strip(), laptop=laptop))
                return f" | {int(modules[1]) * int(modules[2])}gb ram | "
            gpu = self._card(words.without_sizes(mention), laptop=laptop)
            changed = _changed(gpu, sizes[0], match)
            cards.append(changed or gpu)
            if changed or any_of("of all cards").match(match.string[match.end() :]):
                return " | "
            return f" | {sizes[0]:g}gb | "  # not the card's own size: the machine's memory

        rest = any_of("of card before").sub(r" \1", text)
        rest = self._card_in(rest).sub(taken, rest)
        own = [gpu for gpu in cards if not gpu.row.unified]
        chips = [gpu.row for gpu in cards if own and gpu not in own]
        notes = (LEFT_TO_CHIP.format(row.name) for row in chips if not row.of_ram)
        own[:1] = [replace(gpu, notes=(*gpu.notes, *notes)) for gpu in own[:1]]
        names = (any_of("of chip").sub(r"\1", row.name).casefold() for row in chips)
        return _summed(own or cards), Written(" | ".join((rest, *names)))

    @lazy
    def _odd_spellings(self) -> tuple[str, ...]:
        """Spellings of the catalogue that the pattern of cards does not read whole, longest first.

        "R9 390X", "GeForce MX150", "Gaudi 2"; names of processors and Apple's chips are read
        elsewhere.
        """
        rows = (row for row in self.gpus.rows.values() if row.vendor != "Apple")
        spelled = {folded(text) for row in rows for text in spellings(row)}
        elsewhere = any_of("of a processor").search
        odd = (text for text in spelled if not any_of("card").fullmatch(text))
        return tuple(sorted(filter(lambda text: not elsewhere(text), odd), key=len, reverse=True))

    def _card_in(self, text: str) -> re.Pattern[str]:
        """Pattern of cards, and of the odd spellings that a plain text has."""
        card = any_of("card")
        present = [re.escape(spelling) for spelling in self._odd_spellings if spelling in text]
        if not present:
            return card
        count = any_of("card count").pattern
        tail = any_of("card tail").pattern
        longer = r"(?![\w.-])(?! \d+\b(?! ?[gt]))"  # "RX Vega" of "RX Vega 56"
        odd = rf"{count}{any_of('makers').pattern}(?:{'|'.join(present)}){longer}{tail}"
        return re.compile(rf"{odd}|{card.pattern}")

    def _without_own_sizes(self, text: str) -> str:
        """Plain text without remarks in brackets that repeat a card's memory."""
        for match in reversed(list(any_of("card").finditer(text))):
            remark = any_of("remark of size").match(text, match.end())
            if remark is None or Written(remark[0]).names_ram:
                continue
            with suppress(UnknownName):
                own = self.gpus.match(f"{match[0].strip()} {remark[1]}").row.memory_gib
                if all(abs(size - own) <= 1 for size in words.sizes_gib(remark[0])):
                    text = f"{text[: match.end()]} {text[remark.end() :]}"
        return text

    def _with_label_behind(self, text: str) -> str:
        """Plain text in which the word RAM between two sizes belongs to the second one.

        It does where the first size is the memory of the card before it: "RTX 4060 8GB RAM 32GB",
        "RTX 3060 12GB VRAM 32GB RAM".
        """
        text = any_of("label of the card before a size").sub(r"\g<0>,", text)
        for match in reversed(list(any_of("card").finditer(text))):
            between = any_of("label between sizes").match(text, match.end())
            if between is None:
                continue
            with suppress(UnknownName):
                self.gpus.match(f"{match[0].strip()} {between[1]}gb")
                before = f"{text[: match.end()]} {between[1]}gb"
                text = f"{before}, {between[2]}gb ram {text[between.end() :]}"
        return text

    def _with_size_behind(self, text: str) -> str:
        """Plain text in which the size before a changed card stands behind its name.

        "22GB RTX 2080 Ti, 64 GB RAM", "8GB RTX 5060 Ti, 32 GB"; only where another size is called
        RAM, or may be it beside a card that is sold with the first.
        """
        for match in reversed(list(self._card_in(text).finditer(text))):
            mention = match[0].strip()
            before = any_of("size before a card").search(text[: match.start()])
            if before is None or words.sizes_gib(mention):
                continue
            rest = Written(f"{text[: before.start(1)]} {text[match.end() :]}")
            size = float(before[1])
            with suppress(UnknownName):
                own = self._is_sold_with(mention, size)
                beside = (
                    other not in words.SIZES_OF_DRIVES or other < words.DRIVE_FROM * size
                    for other in rest.memory_sizes
                )
                if (own and any(beside)) or (
                    rest.names_ram and (own or _may_have(self.gpus.match(mention).row, size))
                ):
                    named = f"{text[: before.start(1)]}{mention} {before[1]}gb"
                    text = named + text[match.end() :]
        return text

    def _is_sold_with(self, mention: str, size: float) -> bool:
        """Whether a card of the catalogue has the name of a mention and a memory size [GiB]."""
        try:
            return self.gpus.match(f"{mention} {size:g}gb").row.memory_gib == size
        except UnknownName:
            return False

    def _card(self, mention: str, *, laptop: bool) -> GpuName:
        """Card of a mention; in a laptop, the laptop GPU of that name."""
        if laptop and "laptop" not in mention and not any_of("max-q").search(mention):
            try:
                return self.gpus.match(f"{mention} laptop")
            except OtherMemory:
                raise
            except UnknownName:
                pass
        return self.gpus.match(mention)

    def unknown(self, rest: Written) -> Iterator[str]:
        """Mentions of cards in the rest of a text that the catalogue does not have."""
        mentions = (match[0].strip() for match in any_of("card").finditer(rest.text))
        return filter(any_of("surely a card").search, mentions)


ONE_CHIP = "Several chips are named: the first alone is taken."
LEFT_TO_CHIP = "{} shares the RAM and is left out beside a card."


def _counted(cards: str, count: int) -> str:
    """Name of several equal cards: "2x RTX 3090"."""
    if count > 1:
        return f"{count}x {cards}"
    return cards


CHANGED = 1.25, 2.5
"""Least and largest memory of a changed card, relative to what it is sold with: RTX 2080 Ti with 22
GB, 3080 with 20, 3070 with 16, 4080 Super with 32; a size beyond is the machine's memory."""


def _may_have(card: GpuRow, size: float) -> bool:
    """Whether a card may have a size that it is not sold with [GiB]."""
    least, most = CHANGED
    return not card.unified and least <= size / card.memory_gib <= most


def _changed(gpu: GpuName, size: float, mention: re.Match[str]) -> GpuName | None:
    """Card with changed memory; None for a card as sold.

    It is changed where its mention has a size that it is not sold with, and the machine's memory is
    stated beside it [GiB].
    """
    beside = f"{mention.string[: mention.start()]} | {mention.string[mention.end() :]}"
    if not _may_have(gpu.row, size) or not Written(beside).memory_sizes:
        return None
    told = (
        f"{gpu.row.name} is sold with {gpu.row.memory_gib:g} GB: its {size:g} GB are taken as "
        "those of a changed card."
    )
    return replace(gpu, part_gib=size, memory_gib=size, notes=(*gpu.notes, told))


def _summed(gpus: list[GpuName]) -> list[GpuName]:
    """GPUs of a list with each kind once ("3090 + 3090" are two of one kind)."""
    kinds: dict[tuple[str, float | None], GpuName] = {}
    for gpu in gpus:
        kind = gpu.row.name, gpu.part_gib
        before = kinds[kind].count if kind in kinds else 0
        if gpu.row.unified:  # a chip that is named twice: "Strix Halo, Radeon 8060S"
            count = max(gpu.count, before)
        else:
            count = gpu.count + before
        kinds[kind] = replace(gpu, count=count)

    def again(gpu: GpuName) -> bool:
        """Whether cards are named a second time with their socket: "8x V100 server: 8x
        V100-SXM2-16GB".
        """
        same = (other.row.name for other in kinds.values() if other.count == gpu.count > 1)
        return gpu.memory_gib is None and not set(same).isdisjoint(gpu.alternatives)

    return [gpu for gpu in kinds.values() if not again(gpu)]


SEVERAL_CARDS = (
    "Laptops are sold with many processors and cards: name its processor or its graphics card, and "
    'its memory, as in "laptop, Core i5-1235U, 16 GB RAM".'
)
NO_CARD_NAMED = "No graphics card is named: none is counted."
HINT = "Name its GPU, processor and memory, or import one that was measured."


class MachineNames:
    """Index of machine names."""

    def __init__(self, rows: Mapping[str, MachineRow], gpus: GpuNames, cpus: CpuNames) -> None:
        self.rows = rows
        self.gpus = gpus
        self.cpus = cpus
        self.presets = PresetNames(rows, gpus)
        self.cards = CardMentions(gpus)

    def match(self, name: str) -> MachineName:
        """Machine of a name, with the statements of the name beside its parts.

        Raises:
            UnknownName: no part is known, or the text names no machine: a bare size of memory, an
                amount of money, a question.
            InputError: a size of memory that no machine has.
        """
        written = Written.of(name)
        why = statements.question(written)
        if why:
            raise UnknownName("machine", name, (), why)
        statements.check_sizes(written)
        stated = statements.statements(written)
        bare = (stated.rest if stated.rest.text else written).without_lanes
        if bare.text not in (written.text, ""):
            named = self._machine(Written.of(bare.text))
        else:
            named = self._machine(written)
        card = self._only_card(named)
        return _with_link(statements.applied(stated, named, card), card, written)

    def _only_card(self, named: MachineName) -> GpuRow | None:
        """Row of a machine's cards, where all are of one kind; None in other cases."""
        if named.spec.gpu in (None, MachineSpec.NO_GPU):
            return None
        with suppress(UnknownName):  # several kinds of cards have no single row
            return self.gpus.match(str(named.spec.gpu)).row
        return None

    def _machine(self, typed: Written) -> MachineName:
        """Machine of a name, without its link."""
        text = typed.without_system.text
        text = any_of("several of").sub(lambda count: f"{count[1] or count[2]}x ", text)
        bare, network = without_network(text)
        if network and bare:
            alone = Written.of(without_network(typed.text)[0])
            return _joined(self._machine(alone), network)
        written = Written(text.replace(" / ", ", ") if text.count("/") == 1 else text)
        why = written.meaning("refused")
        if why:
            raise UnknownName("machine", typed.name, (), why)
        return self._single(typed, written)

    def _single(self, typed: Written, written: Written) -> MachineName:
        """Machine of a text without a network: a preset, a rented one, several equal ones, or
        parts.
        """
        row = self.presets.row_of(written)
        if row is None:
            rented = preset_names.instance_in(written)
            if rented is not None:
                return self._of_family(rented, written)
            several = self._several(written)
            if several is not None:
                return several
            written = _spelled_out(written)
            row = self.presets.row_of(written)
        if any_of("plain computer").fullmatch(written.text.strip()):
            return self._of_parts(typed, written, [], None, written, [NO_CARD_NAMED])
        if row and self._has_another_chip(row, written):
            return self._put_together(typed, written)
        if row:
            return self.presets.as_sold(row, written)
        return self._several(written) or self._put_together(typed, written)

    def _has_another_chip(self, row: MachineRow, written: Written) -> bool:
        """Whether a small machine's name states another chip than the usual one."""
        if row.kind == "mini":
            chip = self._processor(written)
        else:
            chip = None
        if chip is None or chip.row.segment != "unified":
            return False
        return chip.gpu not in ("", row.gpu) and chip.row.name.rpartition(" ")[2] in written.text

    def _several(self, written: Written) -> MachineName | None:
        """Equal machines over a network, of servers and of chips that stand alone."""
        bare, count = written.counted
        text = written.text
        if count < 2:
            return None
        if any_of("own count").match(bare.text) and text.endswith(bare.text):
            single = self._put_together(Written.of(text), bare)
            times = " machines with"
        else:
            row = self.presets.row_of(bare)
            times = "x"
            joined = row and (
                row.kind == "server"
                or (row.kind == "cloud" and any_of("of whole").search(bare.text))
                or (row.gpu != MachineSpec.NO_GPU and self.gpus.match(row.gpu).row.unified)
            )
            macs = row is None and names_apple(text) and gpu_words.count_of_macs(text) > 1
            counts = row is None and any_of("own count").match(text)
            chips = counts and any_of("chip of a machine").match(bare.text)
            if not joined and not macs and not chips:
                return None
            if row:
                single = self.presets.as_sold(row, bare)
            else:
                single = self._put_together(Written.of(text), bare)
        name = f"{count}{times} {single.name}"
        return replace(single, name=name, spec=replace(single.spec, machines=count))

    def _of_family(self, instance: Instance, written: Written) -> MachineName:
        """Rented machine of a family, with cards named beside it: "n1-standard-8 + T4"."""
        beside = written.text.replace(instance.name, " | ").replace("_", " ")
        gpus, rest = self.cards.within(Written(beside), laptop=False)
        for card in self.cards.unknown(rest):
            self.gpus.match(card)
        host = self.cpus.match(instance.family.cpu).row
        return instance.machine(host, gpus, rest.unknown_items())

    def _put_together(self, typed: Written, written: Written) -> MachineName:
        """Machine of the parts in a text, which is the typed one without what is read already."""
        laptop = written.is_laptop
        bare = written.without("line", " | ")
        gpus, rest = self.cards.within(bare, laptop=laptop)
        rest = rest.modules_summed
        for card in self.cards.unknown(rest):
            self.gpus.match(card)  # no card that is named beside known parts is left out
        rented = self.presets.with_cards(bare, gpus)
        if rented is not None:
            return self.presets.as_sold(rented, bare)
        cpu = self._processor(rest)
        if cpu is None and gpus and not gpus[0].row.unified:
            cpu, rest = self._as_sold(written, rest)
        unnamed = cpu is None and not self.presets.macs_of(bare)
        if unnamed:
            unknown = any_of("processor of a line").search(rest.text)
        else:
            unknown = None
        if unknown:
            self.cpus.match(unknown[0])  # no processor that is named is left out
        gpus, notes = self._beside(cpu, gpus, bare, rest)
        numbers = rest.without_model if laptop and gpus else rest
        self._refuse_unknown(typed, numbers, gpus, cpu)
        items = rest.unknown_items()
        left_out = (item for item in items if not self._processor(Written(item)))
        notes += map(preset_names.LEFT_OUT.format, left_out)
        alone = any_of("cpu only").search(rest.text)
        if not gpus and cpu and cpu.gpu and cpu.row.segment in OF_GRAPHICS and not alone:
            gpus = [self._own_graphics(cpu)]
            if cpu.row.segment == "laptop":
                notes.append(f"No graphics card is named: {gpus[0].row.name} is taken.")
        return self._of_parts(typed, written, gpus, cpu, rest, notes)

    def _as_sold(self, written: Written, rest: Written) -> tuple[CpuName | None, Written]:
        """Processor of a PC that is named beside a card, and the rest of the text with its
        memory.
        """
        sold = self.presets.sold_in(written)
        if sold is None or not sold.cpu:
            return None, rest
        name, which = preset_names.processor_of(sold, written)
        notes = [which or f"{sold.name} has a {name}."]
        if sold.ram_gib and not rest.memory_sizes:
            notes.append(f"Taken with {sold.ram_gib:g} GB of memory, as {sold.name} is sold.")
            rest = Written(f"{rest.text} | {sold.ram_gib:g}gb")
        return replace(self.cpus.match(name), notes=tuple(notes)), rest

    def _beside(
        self, cpu: CpuName | None, gpus: list[GpuName], written: Written, rest: Written
    ) -> tuple[list[GpuName], list[str]]:
        """Graphics beside a processor (a laptop's for processors of laptops), and assumptions."""
        if cpu is None:
            line = any_of("line alone").search(rest.text)
            if line:
                typical = f"{line[0]!r} says no model: the processor is a typical one."
            else:
                typical = ""
            return gpus, [typical] if line else []
        mobile_part = cpu.row.segment == "laptop" and any_of("gaming processor").search(
            cpu.row.name
        )
        if mobile_part and len(gpus) == 1 and not written.is_tower:
            mobile, _ = self.cards.within(written, laptop=True)
            if mobile[0].count == 1 and mobile[0].row != gpus[0].row:
                return mobile, [f"{cpu.row.name} is in laptops: so is its {mobile[0].row.name}."]
        return gpus, []

    def _refuse_unknown(
        self, typed: Written, rest: Written, gpus: list[GpuName], cpu: CpuName | None
    ) -> None:
        """Check that a name has parts and no unknown number ("gnode-a5000" has no known part)."""
        if cpu:
            stray = ""
        else:
            stray = rest.stray_number
        platform = rest.meaning("platform") and rest.memory_channels
        if not gpus and not stray and (platform or NO_CARD.search(rest.text)):
            return
        if cpu or (gpus and (not stray or any(stray in plain(gpu.row.name) for gpu in gpus))):
            return
        macs = self.presets.macs_of(typed)
        if macs:
            raise UnknownName("machine", typed.name, macs, "Say which chip it has.")
        numbered = Written(any_of("laptop number").sub(" ", rest.text))
        if typed.is_laptop and not numbered.stray_number:
            raise UnknownName("machine", typed.name, (), SEVERAL_CARDS)
        count = words.too_many(typed.text)
        if count:
            raise UnknownName("machine", typed.name, (), count)
        offers = [row.name for row in self.rows.values() if row.kind != "cloud"]
        if stray:
            hint = f"{stray!r} in it is no part that is known. {HINT}"
        else:
            hint = HINT
        raise UnknownName("machine", typed.name, (*offers, *self.gpus.rows, *self.rows), hint)

    def _own_graphics(self, cpu: CpuName) -> GpuName:
        """Graphics on a chip, by the chip's name or its generation."""
        try:
            return self.gpus.match(cpu.row.name)
        except UnknownName:
            return self.gpus.match(cpu.gpu)

    def _processor(self, written: Written) -> CpuName | None:
        bare = any_of("in brackets").sub(r" \1 ", written.text.replace("|", " "))
        # "Raspberry Pi 500+" keeps its sign; the one of a list stands alone.
        bare = re.sub(r"\s+", " ", bare).lstrip(" ,;+").rstrip(" ,;").removesuffix(" +")
        sockets = any_of("sockets behind").search(bare)
        if sockets:
            start = max(bare.rfind(sign, 0, sockets.start()) for sign in ",;+") + 1
            before = bare[:start]
            after = bare[sockets.end() :]
            bare = f"{before} {sockets[2]}x {bare[start : sockets.end(1)].lstrip()}{after}".lstrip()
        telling = set(re.findall(r"[a-z]+", words.without_sizes(bare)))
        telling -= words.words_of_kind("kind of machine").keys()
        try:
            return self.cpus.match(bare) if telling else None
        except TooManySockets:
            raise
        except UnknownName:
            return None

    def _of_parts(
        self,
        typed: Written,
        written: Written,
        gpus: list[GpuName],
        cpu: CpuName | None,
        rest: Written,
        notes: list[str],
    ) -> MachineName:
        """Machine of graphics and a processor; `rest` is the text without graphics."""
        chip = gpus[0].row if len(gpus) == 1 and gpus[0].row.unified else None
        modules = typed.memory_type
        memory, bare = _stated_memory(rest, cpu, gpus)
        notes += bare
        notes += (note for part in (*gpus, cpu) if part for note in part.notes)
        platform = cpu.row.name if cpu else ""
        if cpu is None and chip is None:
            platform = _platform(rest, written, modules, gpus)
            if platform:
                notes.append(f"The processor is taken as {platform}.")
        cores = None
        if chip is None:
            cores, assumed = _cores(rest, cpu)
            notes += assumed
        notes += filter(None, (size_unsaid(gpu, self.gpus.rows) for gpu in gpus))
        cards, count = listed(gpus)
        channels = None
        rate = None
        if chip is None or chip.of_ram:
            channels = written.memory_channels
            rate = typed.memory_rate
        if cpu and chip is None and rate is None:
            rate, assumed_rate = words.rate_of_type(modules, cpu.row)
            notes.append(assumed_rate)
        if cpu:
            channels = _channels(cpu, channels, cores)
        unsaid = ""
        if chip and not memory:
            memory, unsaid = _memory_of(gpus[0])
        spec = MachineSpec(
            gpu=cards,
            gpu_count=count,
            cores=cores,
            ram_channels=channels,
            ram_mts=rate,
            vram_gb=gpus[0].part_gib if len(gpus) == 1 else None,
            cpu=platform or None,
            ram_gb=memory,
        )
        label = _counted(cards, count) if gpus else ""
        return MachineName(
            name=", ".join(filter(None, (label, "" if chip else platform))),
            spec=spec,
            notes=tuple(filter(None, (*notes, unsaid))),
            memory_note=unsaid,
            alternatives=gpus[0].alternatives if gpus else (),
        )


OF_GRAPHICS = ("unified", "laptop")
"""Segments of processors whose graphics compute where no card is named."""
TYPICAL_LAPTOP = "Laptop DDR5-5600 dual-channel (typical)"
"""Host of a laptop with a graphics card, whose modules are plugged in."""
USUAL_MEMORY = "ddr5"  # memory of a desktop without a graphics card whose name says none


def _stated_memory(
    rest: Written, cpu: CpuName | None, gpus: list[GpuName]
) -> tuple[float | None, list[str]]:
    """Memory that a text states [GB], with a note on a number without a unit; None for no size."""
    if cpu is not None and cpu.row.segment in ("server", "workstation"):
        memory = max(rest.memory_sizes or rest.server_memory, default=None)
    else:
        memory = rest.main_memory
    if memory or cpu is None or not gpus:
        return memory, []
    bare = any_of("bare memory").search(rest.text)
    if bare is None:
        return memory, []
    return float(bare[1]), [f"{bare[1]} at its end is taken as {bare[1]} GB of memory."]


def _platform(rest: Written, written: Written, modules: str, gpus: list[GpuName]) -> str:
    """Typical host of a machine whose processor is not named; empty where nothing tells of one."""
    desktop = words.meaning("platform", USUAL_MEMORY)
    usual = words.meaning("platform", modules.casefold())
    if not usual and not gpus:
        usual = desktop
    platform = rest.meaning("platform") or usual
    if written.is_laptop and platform in ("", desktop):
        return TYPICAL_LAPTOP
    return platform


def _channels(cpu: CpuName, stated: int | None, cores: int | None) -> int | None:
    """Memory channels of all sockets; a text may state those of one. None for the usual ones."""
    if stated:
        of_socket = (cpu.row.memory_channels or stated) / cpu.row.sockets
        return stated * cpu.row.sockets if stated <= of_socket else stated
    if cores:
        return share_of_channels(cpu.row, cores)
    return stated


def _joined(named: MachineName, network: str) -> MachineName:
    """Machine with a network, which joins several machines or cards alone."""
    several = named.spec.machines * named.spec.gpu_count > 1
    return replace(named, spec=replace(named.spec, network=network if several else None))


def _spelled_out(written: Written) -> Written:
    """Text with abbreviations and instances expanded, and spaces for underscores but in Azure's
    names.
    """
    expanded = written.spelled_out
    if any_of("azure").search(expanded.text):
        return expanded
    return Written(expanded.text.replace("_", " "))


def _with_link(named: MachineName, card: GpuRow | None, written: Written) -> MachineName:
    """Machine with the link to its cards that a text states, and notes on it."""
    generation, lanes = written.link
    shared = card is not None and card.unified
    if not (generation or lanes) or named.spec.gpu in (None, MachineSpec.NO_GPU) or shared:
        return named
    if card is not None:
        generation = min(generation, card.pcie_gen or generation)
        lanes = min(lanes, card.pcie_lanes or lanes)
    spec = replace(named.spec, pcie_gen=generation or None, pcie_lanes=lanes or None)
    told = statements.link_note(generation, lanes)
    return replace(named, spec=spec, notes=(*named.notes, told))


def _cores(rest: Written, cpu: CpuName | None) -> tuple[int | None, list[str]]:
    """Cores that a machine has of its processor, as its name states them, and assumptions."""
    threads = rest.count_of("virtual processors")
    if threads:
        assumed = f"{threads} virtual processors are taken as half a core each."
        return max(1, threads // 2), [assumed]
    part = rest.count_of("cores of a part")
    if part and cpu and part < cpu.row.cores:
        return part, [f"{part} of the {cpu.row.cores} cores, with their share of the channels."]
    if part is None and (cpu is None or cpu.row.is_typical):
        return rest.count_of("stated cores"), []
    return part, []


def _memory_of(chip: GpuName) -> tuple[float | None, str]:
    """Memory of a chip as named, or its only size [GiB]; with a note where it has several sizes."""
    sold = memory_options(chip.row)
    if chip.memory_gib or (len(sold) < 2 and chip.count == 1 and not chip.row.of_ram):
        return chip.memory_gib or (sold or (chip.row.memory_gib,))[0], ""
    if len(sold) < 2:
        return None, ""
    assumed = f"{chip.row.memory_gib:g} GB is assumed; sold with {either(sold)} GB."
    return None, f"How much memory it has is not said: {assumed}"
