"""Processors by name, as systems print it and people write it.

The model number gives the generation, and the generation the memory channels, their rate and the
instruction sets. Cores come from the list of models, from the name, or are assumed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

from advisor.errors import UnknownName
from advisor.machine.names.cpu_checks import contradictions, other_brand
from advisor.machine.names.cpu_rows import apple_cores, derived_row, several_sockets, title
from advisor.machine.names.cpu_words import (
    in_latin,
    packages,
    refusal,
    without_remarks,
    without_sample,
    written_out,
)
from advisor.machine.names.spelling import plain, size_gib
from advisor.machine.rows import CpuGenerationRow, CpuModelRow, HostRow

TYPICAL = "generic"
"""Vendor of typical platforms."""
MOST_SOCKETS = 8
"""Sockets of the largest boards."""
HINT = "`data/hardware/hosts.csv` lists those it knows, `cpu_generations.csv` their generations."


class CpuObjection(UnknownName):
    """A name that says less than a processor's model, with the reason."""


class TooManySockets(CpuObjection):
    """A processor more often than boards have sockets for it."""


@dataclass(frozen=True, kw_only=True)
class CpuName:
    """Reading of a processor's name.

    Attributes:
        row: catalogue row, or one derived from the generation, for all sockets together.
        gpu: catalogue name of its graphics; empty where unknown.
        memory_gib: memory size in the name [GiB]; None where it has none.
        notes: assumptions, one sentence each.
        alternatives: other rows that the name may mean.
    """

    row: HostRow
    gpu: str = ""
    memory_gib: float | None = None
    notes: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()


class CpuNames:
    """Index of processor names.

    Args:
        hosts: catalogue rows by name.
        models: cores of further models, by name in lower case.
        generations: common properties of each generation.
    """

    def __init__(
        self,
        hosts: Mapping[str, HostRow],
        models: Mapping[str, CpuModelRow],
        generations: Iterable[CpuGenerationRow],
    ) -> None:
        self.hosts = hosts
        self.models = models
        self.generations = tuple(generations)
        self.exact: dict[str, HostRow] = {}
        for row in hosts.values():
            for spelling in (row.name, *row.aliases.split(";")):
                if spelling.strip():
                    self.exact.setdefault(plain(spelling), row)
        bare = [(without_remarks(spelling), row) for spelling, row in self.exact.items()]
        self.bare = {name: row for name, row in bare if name and row.vendor != TYPICAL}
        self.typical = {name: row for name, row in bare if name and row.vendor == TYPICAL}

    def match(self, name: str) -> CpuName:
        """Processor of a name.

        Raises:
            UnknownName: no row, model or generation; lists similar names, or says why.
        """
        text = in_latin(plain(name))
        exact = self.exact.get(text)
        if exact is not None:
            notes = tuple(contradictions(text, exact, exact))
            gpu = self._graphics(exact.name)
            return CpuName(row=exact, gpu=gpu, memory_gib=size_gib(text), notes=notes)
        self._refuse_several(name, text)
        single, sockets = packages(text)
        single, sample = without_sample(single)
        meant = self._meant(single)
        if meant is None:
            why = refusal(text)
            if why:
                raise CpuObjection("CPU", name, (), why)
            raise UnknownName("CPU", name, self._offers(single), HINT)
        why = "" if meant.row.vendor == TYPICAL else other_brand(single, meant.row.name)
        if why:
            raise CpuObjection("CPU", name, (meant.row.name,), why)
        row = several_sockets(meant.row, self._sockets(name, meant.row, sockets), self.hosts)
        checked = contradictions(single, meant.row, row)
        notes = (*checked, *meant.notes, *((SAMPLE,) if sample else ()))
        return replace(meant, row=row, memory_gib=size_gib(text), notes=notes)

    def _meant(self, text: str) -> CpuName | None:
        """Processor of a plain text without a number of sockets; None for an unknown one."""
        candidates = (
            *self._scalable(text),
            text,
            without_remarks(text),
            *written_out(text, listed=False),
        )
        full = tuple(dict.fromkeys(candidates))
        numbers = written_out(text, listed=True)
        listed = (self._listed(each, text) for each in chain(full, numbers))
        ruled = (self._by_generation(each, text) for each in full)
        typical = (self._typical(each) for each in full)
        return next(filter(None, chain(listed, ruled, typical)), None)

    def _scalable(self, text: str) -> Iterator[str]:
        """Xeon Scalable of a number without its metal: "Xeon 5120" is a Gold 5120, where systems
        print "Xeon CPU 5120" for the one of 2006.
        """
        number = BARE_XEON.search(text)
        for metal in METALS if number else ():
            name = f"xeon {metal} {number[1]}" if number else ""
            if name in self.models:
                yield name

    def _refuse_several(self, name: str, text: str) -> None:
        """Two processors to choose from ("5955WX or 5975WX") are none.

        Raises:
            CpuObjection: the name, with both.
        """
        meant: list[str] = []
        for part in EITHER.split(text) if EITHER.search(text) else ():
            with suppress(UnknownName):
                meant.append(self.match(part).row.name)
        if len(set(meant)) > 1:
            raise CpuObjection(
                "CPU", name, (), f"It names {' and '.join(meant)}: take one of them."
            )

    def _sockets(self, name: str, row: HostRow, count: int) -> int:
        """Sockets that a count means: "x 16" behind a processor with eight cores, as desktops show
        it, counts its threads.

        Raises:
            TooManySockets: more than boards have for its generation.
        """
        generation = next(self._generations_of(row.name.casefold()), None)
        most = generation.max_sockets if generation else MOST_SOCKETS
        if count <= most or row.segment == "unified":
            return count
        if row.cores <= count <= 2 * row.cores:
            return 1
        boards = f"one socket for {row.name}" if most == 1 else f"{most} sockets for {row.name}"
        why = f"No board has {count} sockets for it: boards have up to {boards}."
        raise TooManySockets("CPU", name, (), why)

    def _listed(self, candidate: str, text: str) -> CpuName | None:
        """Catalogue row of a name, or a listed model."""
        host = self.exact.get(candidate) or self.bare.get(candidate)
        if host is not None:
            return CpuName(row=apple_cores(host, text), gpu=self._graphics(host.name))
        return self._by_generation(candidate, text) if candidate in self.models else None

    def _typical(self, candidate: str) -> CpuName | None:
        """Typical platform of a line that is named without a model: "EPYC"."""
        row = self.typical.get(candidate)
        note = f"No model is named: taken as {row.name}." if row else ""
        return CpuName(row=row, notes=(note,)) if row else None

    def _by_generation(self, candidate: str, text: str) -> CpuName | None:
        generation = next(self._generations_of(candidate), None)
        return self._by_rule(candidate, generation, text) if generation else None

    def _generations_of(self, name: str) -> Iterator[CpuGenerationRow]:
        """Generations whose pattern matches a plain name."""
        for row in self.generations:
            if name.startswith(_beginning(row.pattern)) and _compiled(row.pattern).fullmatch(name):
                yield row

    def _by_rule(self, candidate: str, generation: CpuGenerationRow, text: str) -> CpuName:
        model = self.models.get(candidate)
        same = model or self._same_silicon(candidate)
        stated = re.search(r"\b(\d{1,3})[- ]?c(?:ores?)?\b|\b[aqm](\d{2,3})-\d{2}[xm]?\b", text)
        cores = same.cores if same else int(stated[1] or stated[2]) if stated else generation.cores
        listed = same if isinstance(same, CpuModelRow) else None
        own = listed is not None and bool(listed.memory_mts or listed.memory_channels)
        memory = "memory as its maker lists it" if own else "channels and memory rate"
        notes = [f"{generation.name}: {memory}{'' if own else ' of its generation'}."]
        if same is None:
            self._refuse_other_line(candidate)
        if same is None and stated is None:
            counted = "1 core is" if cores == 1 else f"{cores} cores are"
            notes.append(f"{counted} assumed: the list does not have this model.")
        if generation.note:
            notes.append(f"{generation.note[0].upper()}{generation.note[1:]}.")
        row = derived_row(model.name if model else title(candidate), generation, cores, listed)
        graphics = listed.gpu if listed else ""
        return CpuName(row=row, gpu=graphics or generation.gpu, notes=tuple(notes))

    def _same_silicon(self, candidate: str) -> CpuModelRow | HostRow | None:
        """Model with the same cores: a Ryzen without its PRO or with it, an EPYC without the P of a
        single socket, a Xeon Scalable without the M or L of more memory.
        """
        for pattern, written in SAME_SILICON:
            other = pattern.sub(written, candidate)
            if other != candidate:
                same = self.models.get(other) or self.exact.get(other)
                if same is not None:
                    return same
        return None

    def _refuse_other_line(self, candidate: str) -> None:
        """A number of another line of the same maker is none of this one: no i7-9900K.

        Raises:
            CpuObjection: the model of the other line.
        """
        match = LINE.fullmatch(candidate)
        for digit in "3579" if match else "":
            other = f"{match[1]}{digit}{match[2]}" if match else ""
            row = self.models.get(other) or self.exact.get(other)
            if row is not None:
                why = f"There is a {row.name}, but no {title(candidate)}."
                raise CpuObjection("CPU", title(candidate), (), why)

    def _graphics(self, name: str) -> str:
        """Graphics of a model, else of its generation; empty where unknown."""
        folded = name.casefold()
        model = self.models.get(folded)
        own = (model.gpu,) if model and model.gpu else ()
        usual = (row.gpu for row in self._generations_of(folded))
        return next(chain(own, usual), "")

    def _offers(self, text: str) -> Iterator[str]:
        """Similar names, those with the same number first."""
        digits = set(re.findall(r"\d{3,5}", text))
        same = (name for name in self.models if digits & set(re.findall(r"\d{3,5}", name)))
        near = [name for name in self.hosts if digits & set(re.findall(r"\d{3,5}", name))]
        near += (self.models[name].name for name in same)
        yield from dict.fromkeys(near) or self.hosts


EITHER = re.compile(r" / | or ")
BARE_XEON = re.compile(r"\bxeon (\d{4}[a-z]*\+?)(?![\w-])")
METALS = ("platinum", "gold", "silver", "bronze")
SAMPLE = "An engineering sample may have other clocks and slower memory than the processor sold."
LINE = re.compile(r"(core i|core ultra |ryzen )[3579]([ -]\d.*)")
"""Names with a line and a number that makers give out once."""
SAME_SILICON = (
    (re.compile(r"^(ryzen .*)pro "), r"\1"),
    (re.compile(r"^(ryzen (?:ai )?[3579] (?:hx )?)(?!pro )"), r"\1pro "),
    (re.compile(r"^(epyc \d{4})p$"), r"\1"),
    (re.compile(r"^(xeon (?:gold|platinum) \d{4})[ml]$"), r"\1"),
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _beginning(pattern: str) -> str:
    """Common first letters of a pattern's names; other patterns need not be compiled."""
    outside = pattern
    while "(" in outside:
        outside = re.sub(r"\([^()]*\)", "", outside)
    several = "|" in outside
    beginning = re.match(r"[a-z ]*(?![?*{])", pattern)
    return "" if several or beginning is None else beginning[0]
