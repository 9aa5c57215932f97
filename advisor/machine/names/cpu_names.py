"""Names of processors, as systems print them and people write them.

The model number gives the generation, and the generation the memory channels, their rate and the
instruction sets. Cores come from the list of models, from the name, or are assumed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import chain

from advisor.errors import UnknownName
from advisor.machine.names import words
from advisor.machine.names.words import any_of, folded, patterns, plain
from advisor.machine.rows import CpuGenerationRow, CpuModelRow, HostRow

# Rows of processors that the catalogue has no row of: by their generation, with several sockets,
# or with the cores that a system states.


def several_sockets(row: HostRow, sockets: int, hosts: Mapping[str, HostRow]) -> HostRow:
    """Row of several packages on one board."""
    if sockets == 1 or row.sockets > 1:
        return row
    name = f"{sockets}x {row.name}"
    if name in hosts:
        return hosts[name]
    sums = {name: (figure := getattr(row, name)) and figure * sockets for name in OF_EACH_SOCKET}
    return replace(row, name=name, aliases="", sockets=sockets, **sums)


OF_EACH_SOCKET = (
    *("cores", "performance_cores", "threads", "ccds", "memory_channels", "bandwidth_gbs"),
    *("max_memory_gib", "llc_mib", "pcie_lanes"),
)
"""Columns that all sockets together have several times."""


def derived_row(
    name: str, generation: CpuGenerationRow, cores: int, model: CpuModelRow | None
) -> HostRow:
    """Row of a model, from its generation and from its own row in the list of models."""
    channels = (model and model.memory_channels) or generation.memory_channels
    rate = (model and model.memory_mts) or generation.memory_mts
    return HostRow(
        name=name,
        vendor=generation.vendor,
        segment=generation.segment,
        cores=cores,
        performance_cores=model.performance_cores if model else None,
        sockets=1,
        memory_type=(model and model.memory_type) or generation.memory_type,
        memory_channels=channels,
        memory_mts=rate,
        bandwidth_gbs=channels * 8 * rate / 1000,
        instruction_sets=generation.instruction_sets,
        pcie_gen=generation.pcie_gen,
        source=generation.source,
        source_date=generation.source_date,
        retrieved=generation.retrieved,
        note=generation.note,
    )


def title(candidate: str) -> str:
    """Name in the vendor's spelling: "ryzen 9 9955hx3d" is "Ryzen 9 9955HX3D"."""
    written = []
    spelled = words.words_of_kind("spelled by makers")
    for word in candidate.split():
        if word in spelled:
            written.append(spelled[word])
        elif re.fullmatch(r"v\d|[wim]\d-\w+", word):
            written.append(word[0] + word[1:].upper() if "-" in word else word)
        else:
            written.append(word.upper() if any(c.isdigit() for c in word) else word.title())
    return " ".join(written)


# Words of a processor's name: model number, number of sockets, and words without meaning.


def written_out(text: str, kind: str) -> Iterator[str]:
    """Full names for the shortened model numbers in a plain text, the likeliest first."""
    bare = re.sub(r"[(),/\s]+", " ", without_noise(text))
    for pattern, names in patterns(kind):
        for match in pattern.finditer(bare):
            groups = [group or "" for group in match.groups()]
            yield from (" ".join(name.format(*groups).split()) for name in names.split("; "))


def packages(text: str) -> tuple[str, int]:
    """Plain text without its number of sockets, and that number, 1 by default."""
    for pattern, number in patterns("sockets"):
        match = pattern.search(text)
        if match:
            count = int(number or match[1])
        else:
            count = 0
        if match and count:
            return " ".join(f"{text[: match.start()]} {text[match.end() :]}".split()), count
    return text, 1


def without_noise(text: str) -> str:
    """Plain text without vendor, clock, core count, graphics, memory and sizes."""
    bare = any_of("beside processor").sub(" ", words.without_sizes(text))
    return " ".join(bare.replace("ryzen threadripper", "threadripper").split()).strip(" ,;")


def without_remarks(text: str) -> str:
    """Plain text without noise and bracketed remarks."""
    return without_noise(re.sub(r"\([^)]*\)|\[[^]]*\]", " ", text))


TYPICAL = "generic"  # vendor of typical platforms
MOST_SOCKETS = 8  # sockets of the largest boards
HINT = "`data/hardware/hosts.csv` lists those it knows, `cpu_generations.csv` their generations."


class CpuObjection(UnknownName):
    """Reason why a name does not say a processor's model."""


class TooManySockets(CpuObjection):
    """Error on a processor that is named more often than boards have sockets for it."""


CpuName = words.NamedPart[HostRow]


class CpuNames:
    """Index of processor names."""

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
                    self.exact.setdefault(folded(spelling), row)
        bare = [(without_remarks(spelling), row) for spelling, row in self.exact.items()]
        self.bare = {name: row for name, row in bare if name and row.vendor != TYPICAL}
        self.typical = {name: row for name, row in bare if name and row.vendor == TYPICAL}

    def match(self, name: str) -> CpuName:
        """Processor of a name."""
        text = words.rewritten(words.translated(plain(name)), "processor joined")
        exact = self.exact.get(text)
        if exact is not None:
            notes = tuple(contradictions(text, exact, exact))
            gpu = self._graphics(exact.name)
            return CpuName(row=exact, gpu=gpu, memory_gib=words.size_gib(text), notes=notes)
        self._refuse_several(name, text)
        single, sockets = packages(text)
        without_sample = any_of("of sample").sub(" ", single)  # "9334QS"
        sample = without_sample != single
        single = " ".join(without_sample.split())
        meant = self._meant(single)
        if meant is None:
            bare = " ".join(re.sub(r"[,;]", " ", text).split())
            for pattern, why in patterns("refused processor"):
                if pattern.fullmatch(bare):
                    raise CpuObjection("CPU", name, (), why)
            raise UnknownName("CPU", name, self._offers(single), HINT)
        if meant.row.vendor == TYPICAL:
            why = ""
        else:
            why = other_brand(single, meant.row.name)
        if why:
            raise CpuObjection("CPU", name, (meant.row.name,), why)
        row = several_sockets(meant.row, self._sockets(name, meant.row, sockets), self.hosts)
        checked = contradictions(single, meant.row, row)
        notes = (*checked, *meant.notes, *((SAMPLE,) if sample else ()))
        return replace(meant, row=row, memory_gib=words.size_gib(text), notes=notes)

    def _meant(self, text: str) -> CpuName | None:
        """Processor of a plain text without a number of sockets; None for an unknown one."""
        spellings = (text, without_remarks(text), *written_out(text, "processor"))
        full = tuple(dict.fromkeys((*self._scalable(text), *spellings)))
        numbers = written_out(text, "processor number")
        listed = (self._listed(candidate, text) for candidate in chain(full, numbers))
        ruled = (self._by_generation(candidate, text) for candidate in full)
        typical = (self._typical(candidate) for candidate in full)
        return next(filter(None, chain(listed, ruled, typical)), None)

    def _scalable(self, text: str) -> Iterator[str]:
        """Name of a Xeon Gold by a number without the metal ("Xeon 5120"); "Xeon CPU 5120" is of
        2006.
        """
        number = any_of("bare xeon").search(text)
        names = (f"xeon {metal} {number[1]}" for metal in METALS) if number else ()
        yield from (name for name in names if name in self.models)

    def _refuse_several(self, name: str, text: str) -> None:
        """Check that a name leaves no choice between processors ("5955WX or 5975WX" does)."""
        meant: list[str] = []
        for part in any_of("either").split(text) if any_of("either").search(text) else ():
            with suppress(UnknownName):
                meant.append(self.match(part).row.name)
        if len(set(meant)) > 1:
            raise CpuObjection(
                "CPU", name, (), f"It names {' and '.join(meant)}: take one of them."
            )

    def _sockets(self, name: str, row: HostRow, count: int) -> int:
        """Number of sockets that a count means; "x 16" behind eight cores counts their threads."""
        generation = next(self._generations_of(row.name.casefold()), None)
        if generation:
            most = generation.max_sockets
        else:
            most = MOST_SOCKETS
        if count <= most or row.segment == "unified":
            return count
        if row.cores <= count <= 2 * row.cores:
            return 1
        if most == 1:
            boards = f"one socket for {row.name}"
        else:
            boards = f"{most} sockets for {row.name}"
        why = f"No board has {count} sockets for it: boards have up to {boards}."
        raise TooManySockets("CPU", name, (), why)

    def _listed(self, candidate: str, text: str) -> CpuName | None:
        """Processor with a row of its own, or in the list of models."""
        host = self.exact.get(candidate) or self.bare.get(candidate)
        if host is None:
            if candidate in self.models:
                return self._by_generation(candidate, text)
            return None
        kinds = re.search(r"\b(\d{1,2})p\s*\+\s*(\d{1,2})e\b", text)  # as a Mac states its cores
        if kinds and host.vendor == "Apple":
            fast = int(kinds[1])
            slow = int(kinds[2])
            both = fast + slow
            host = replace(host, cores=both, performance_cores=fast, threads=both)
        return CpuName(row=host, gpu=self._graphics(host.name))

    def _typical(self, candidate: str) -> CpuName | None:
        """Typical platform of a line that is named without a model ("EPYC")."""
        row = self.typical.get(candidate)
        if row:
            note = f"No model is named: taken as {row.name}."
        else:
            note = ""
        if row:
            return CpuName(row=row, notes=(note,))
        return None

    def _by_generation(self, candidate: str, text: str) -> CpuName | None:
        generation = next(self._generations_of(candidate), None)
        if generation:
            return self._by_rule(candidate, generation, text)
        return None

    def _generations_of(self, name: str) -> Iterator[CpuGenerationRow]:
        for row in self.generations:
            if name.startswith(_beginning(row.pattern)) and _compiled(row.pattern).fullmatch(name):
                yield row

    def _by_rule(self, candidate: str, generation: CpuGenerationRow, text: str) -> CpuName:
        model = self.models.get(candidate)
        same = model or self._same_silicon(candidate)
        stated = re.search(r"\b(\d{1,3})[- ]?c(?:ores?)?\b|\b[aqm](\d{2,3})-\d{2}[xm]?\b", text)
        if same:
            cores = same.cores
        elif stated:
            cores = int(stated[1] or stated[2])
        else:
            cores = generation.cores
        if isinstance(same, CpuModelRow):
            listed = same
        else:
            listed = None
        own = listed is not None and bool(listed.memory_mts or listed.memory_channels)
        if own:
            memory = "memory as its maker lists it"
        else:
            memory = "channels and memory rate"
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
        """Model with the same cores under another name.

        A Ryzen without its PRO or with it, an EPYC without the P of a single socket, a Xeon
        Scalable without the M or L of more memory.
        """
        for pattern, written in patterns("same silicon"):
            other = pattern.sub(written, candidate)
            if other != candidate:
                same = self.models.get(other) or self.exact.get(other)
                if same is not None:
                    return same
        return None

    def _refuse_other_line(self, candidate: str) -> None:
        """Check that a number is not of another line of the same maker (there is no i7-9900K)."""
        match = any_of("numbered line").fullmatch(candidate)
        others = (f"{match[1]}{digit}{match[2]}" for digit in "3579") if match else ()
        for other in others:
            row = self.models.get(other) or self.exact.get(other)
            if row is not None:
                why = f"There is a {row.name}, but no {title(candidate)}."
                raise CpuObjection("CPU", title(candidate), (), why)

    def _graphics(self, name: str) -> str:
        """Graphics of a model, or of its generation; empty where unknown."""
        folded = name.casefold()
        model = self.models.get(folded)
        listed = (model.gpu,) if model and model.gpu else ()
        usual = (row.gpu for row in self._generations_of(folded))
        return next(chain(listed, usual), "")

    def _offers(self, text: str) -> Iterator[str]:
        """Similar names, those with the same number first."""
        digits = set(re.findall(r"\d{3,5}", text))
        same = (name for name in self.models if digits & set(re.findall(r"\d{3,5}", name)))
        near = [name for name in self.hosts if digits & set(re.findall(r"\d{3,5}", name))]
        near += (self.models[name].name for name in same)
        yield from dict.fromkeys(near) or self.hosts


METALS = ("platinum", "gold", "silver", "bronze")
SAMPLE = "An engineering sample may have other clocks and slower memory than the processor sold."


_compiled: Callable[[str], re.Pattern[str]] = cache(re.compile)


@cache
def _beginning(pattern: str) -> str:
    """Common first letters of a pattern's names; other patterns need not be compiled."""
    outside = pattern
    while "(" in outside:
        outside = re.sub(r"\([^()]*\)", "", outside)
    several = "|" in outside
    beginning = re.match(r"[a-z ]*(?![?*{])", pattern)
    if several or beginning is None:
        return ""
    return beginning[0]


# Words of a processor's name that contradict the processor that its number means.


def other_brand(text: str, name: str) -> str:
    """Reason why the number is of another brand ("eMAG 8180" is no Xeon); empty where it is not."""
    brands = set(any_of("processor brand").findall(text))
    if not brands or brands & set(any_of("processor brand").findall(name.casefold())):
        return ""
    return f"The number is that of {name}, which is no {sorted(brands)[0].title()}."


MODEL_NUMBER = re.compile(r"\d{4,5}")
FEWEST_STATED_CORES = 2  # fewest cores that count as a statement; "single-core" speeds are of one


def contradictions(text: str, single: HostRow, row: HostRow) -> Iterator[str]:
    """Notes on a plain text that contradicts the processor that it is read as.

    They are another line ("Ryzen 9 9800X3D"), letters of a model that shares the row (EPYC 9354P),
    cores that are neither those of a socket, nor of all of them, nor their threads, and several
    EPYCs with a P. The text is without the number of sockets; `row` is that of all sockets
    together.
    """
    name = single.name
    typed, meant = (any_of("stated line").search(words) for words in (text, name.casefold()))
    if typed and meant and typed[2] != meant[2]:
        line = typed[0].strip(" -").title()
        yield f"There is no {line} of that number: {name} is taken."
    typed, meant = (any_of("xeon metal").search(words) for words in (text, name.casefold()))
    if typed and meant and typed[0] != meant[0]:
        yield f"There is no Xeon {typed[0].title()} of that number: {name} is taken."
    number = MODEL_NUMBER.search(name)
    model = re.escape(name[number.start() :].split()[0].casefold()) if number else ""
    letters = rf"(?<!\d){model}(?:([a-z]{{1,2}})\b|(\+)(?=\s|$))"
    lettered = re.search(letters, text) if model else None
    if lettered and lettered[2]:
        yield f"There is no {lettered[0].upper()}: {name} is taken."
    elif lettered:
        same = f"has the cores and the memory of {name}, and is counted as it."
        yield f"{lettered[0].upper()} {same}"
    yield from _other_cores(text, single, row)
    if row.sockets > 1 and any_of("of one socket").search(text):
        yield "EPYCs with a P work in boards with a single socket only."


def _other_cores(text: str, single: HostRow, row: HostRow) -> Iterator[str]:
    """Notes on stated cores that a processor has not; a typical one takes them over."""
    if row.is_typical:
        return
    usual = {single.cores, row.cores, single.performance_cores, single.threads, row.threads}
    for count in dict.fromkeys(int(number) for number in any_of("stated cores").findall(text)):
        if count >= FEWEST_STATED_CORES and count not in usual | {2 * single.cores, 2 * row.cores}:
            yield f"The name says {count} cores: {row.name} has {row.cores}."


FEWEST_CHANNELS = 2
"""Memory channels that a small part of a host reaches, as in data/hardware/machines.csv."""


def share_of_channels(host: HostRow, cores: int) -> int:
    """Number of memory channels that belong to some cores of a host."""
    channels = (host.memory_channels or FEWEST_CHANNELS) * cores / host.cores
    return max(FEWEST_CHANNELS, round(channels))
