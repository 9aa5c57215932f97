"""Machine: GPUs, host, drive and links, every quantity with its origin."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar

import numpy as np

from advisor.catalog.constants import Constants, Names, names_of, shared_name
from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError
from advisor.lazy import lazy
from advisor.machine.backends import Backend, SoftwareEffect, driver_named, of_vendors
from advisor.units import GB, GIB, Array, Provenance, Quantity


@dataclass(frozen=True, kw_only=True)
class Link:
    """Link between host memory and a GPU."""

    name: str  # name, such as "PCIe 4 x16" or "NVLink-C2C"
    pinned: Quantity  # rate of copies to the GPU from page-locked memory [B/s]
    pageable: Quantity  # rate of copies to the GPU from ordinary memory [B/s]
    zero_copy: Quantity  # rate of kernels that read host memory directly [B/s]

    @staticmethod
    def pcie(generation: int, lanes: int) -> "Link":
        """PCI Express link, in proportion to measured copies over 16 lanes of its generation."""
        row = Constants.fitted().row("pcie_x16", f"PCIe {generation}")
        rate = row.value * lanes / 16
        source = f"{row.source}; {lanes} of 16 lanes"
        pinned = Quantity(rate, Provenance.DERIVED, source, row.date)
        return Link.given(pinned, f"PCIe {generation} x{lanes}")

    @staticmethod
    def given(pinned: Quantity, name: str = "link as given") -> "Link":
        """Link with a rate from pinned memory, to which a core first copies pageable memory."""
        copied = Constants.fitted().row("pageable_copy")
        read = Constants.fitted().row("zero_copy_share")
        slower = np.minimum(pinned.value, copied.value)
        over = pinned.value * read.value
        pageable = Quantity(slower, Provenance.DERIVED, copied.source, copied.date)
        zero_copy = Quantity(over, Provenance.DERIVED, read.source, read.date)
        return Link(name=name, pinned=pinned, pageable=pageable, zero_copy=zero_copy)


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """Graphics processor, or the GPU of a chip with unified memory."""

    MATRIX_TYPES: ClassVar = (("fp16", 1.0), ("fp32", 1.0), ("int8", 2.0))
    """Number types for prompts, with the number of operations that equal one in 16 bits: quantized
    formats multiply 8-bit integers, twice as many at a time."""

    name: str  # name in the catalogue
    vendor: str  # NVIDIA, AMD, Intel or Apple
    family: str  # generation of GPUs with the same kernels ("Ampere", "RDNA 3", "Apple M4")
    memory: Quantity  # memory available to programs; for unified memory the GPU's part [B]
    bandwidth: Quantity  # peak memory bandwidth [B/s]
    # dense peak by number type ("fp16", "fp8", "int8", ...) [FLOP/s]
    tensor_flops: Mapping[str, float] = field(default_factory=dict, hash=False)
    link: Link  # link to host memory
    board_power: float | None = None  # power limit [W]; None where unknown
    unified: bool = False  # whether it shares the host's memory
    # graphics of a processor whose memory is the PC's RAM; where they may not use enough of it, the
    # processor computes the rest
    of_ram: bool = False
    # rate to another GPU of its kind, one direction [B/s]; None for GPUs joined by `link` alone, 0
    # for those in a stack of several
    peer: Quantity | None = None
    # whether GPUs joined by `link` read each other's memory; else they exchange data through the
    # host's memory
    peer_access: bool = True
    # 1 with an instruction for dot products of four 8-bit integers, or with kernels that need none;
    # else 0
    dot_products: float = 1.0
    # vendors and families of the GPUs of a stack, one for each, where they differ; empty elsewhere,
    # as `vendor` and `family` are there
    vendors: tuple[str, ...] = ()
    families: tuple[str, ...] = ()

    @property
    def lookup_vendor(self) -> Names:
        """Vendor; of a stack of GPUs one for each where they differ."""
        return self.vendors or self.vendor

    @property
    def lookup_family(self) -> Names:
        """Family whose constants count; of a stack of GPUs one for each where they differ."""
        return self.families or self.family

    @lazy
    def peak_16_bit(self) -> Array:
        """Highest dense peak among `MATRIX_TYPES`, in 16-bit operations [FLOP/s]."""
        peaks = (self.tensor_flops.get(kind, 0.0) / per for kind, per in Gpu.MATRIX_TYPES)
        return np.asarray(np.maximum.reduce(np.broadcast_arrays(*peaks)))

    @lazy
    def peak_32_bit(self) -> Array:
        """Dense peak of 32-bit operations; 1 where it is not known [FLOP/s]."""
        return self.first_peak(("fp32",))

    def first_peak(self, kinds: tuple[str, ...]) -> Array:
        """Dense peak in the first number type of a list that the GPU computes in; 1 where it
        computes in none [FLOP/s].
        """
        cached = self._first_peaks.get(kinds)
        if cached is not None:
            return cached
        peak: Array = 1.0
        for kind in reversed(kinds):
            rate = self.tensor_flops.get(kind, 0.0)
            peak = np.where(np.asarray(rate) > 0, rate, peak)
        self._first_peaks[kinds] = peak
        return peak

    @lazy
    def _first_peaks(self) -> dict[tuple[str, ...], Array]:
        """Answers of `first_peak` that are kept: a comparison asks for the same ones often."""
        return {}

    def covers(self, other: "Gpu") -> bool:
        """Whether a card is at least as good as another one in every figure, and runs the same
        kernels.

        Cards of one family share their kernels; NVIDIA's newer cards run those of older ones.
        """
        if self.family != other.family and not self.vendor == other.vendor == "NVIDIA":
            return False
        if (self.unified, self.of_ram) != (other.unified, other.of_ram):
            return False
        pairs = zip(self._figures, other._figures, strict=True)
        peaks = other.tensor_flops.items()
        return all(own >= its for own, its in pairs) and all(
            self.tensor_flops.get(kind, 0.0) >= peak for kind, peak in peaks
        )

    @property
    def _figures(self) -> tuple[float, ...]:
        """Figures of a card that are better the larger they are, without its peaks."""
        peer = 0.0 if self.peer is None else float(self.peer.value)
        rates = (self.memory, self.bandwidth, self.link.pinned)
        return (
            *(float(rate.value) for rate in rates),
            peer,
            float(self.peer_access),
            self.dot_products,
        )

    @staticmethod
    def fastest_first(gpus: "Iterable[Gpu]") -> "tuple[Gpu, ...]":
        """GPUs in the order in which CUDA numbers them: the fastest first, of equal ones the
        larger.

        CUDA C++ Programming Guide, environment variables: CUDA_DEVICE_ORDER is FASTEST_FIRST by
        default.
        """

        def rank(gpu: Gpu) -> tuple[float, float, str]:
            rate = np.max(gpu.bandwidth.value)
            size = np.max(gpu.memory.value)
            return -float(rate), -float(size), gpu.name

        return tuple(sorted(gpus, key=rank))

    def with_copies(self, host: "Host") -> "Gpu":
        """GPU with copies from pageable memory no faster than the RAM that they cross."""
        pageable = self.link.pageable
        if self.unified or pageable.value is self.link.pinned.value:
            return self
        slower = np.minimum(pageable.value, host.bandwidth.value / CROSSED)
        return replace(self, link=replace(self.link, pageable=replace(pageable, value=slower)))


CROSSED = 4.0
"""Times that a byte of a pageable copy crosses RAM: it is read, the line of the driver's buffer
that takes it is fetched and written, and the link reads that."""


@dataclass(frozen=True, kw_only=True)
class EngineSpeed:
    """Timed speeds of llama.cpp on a host's processor."""

    cores: int  # number of cores used
    ram: float  # sustained read rate of the host's RAM at that time [B/s]
    # rate of weights read and unpacked, by storage type ("Q4_K") or format ("Q4_K_M") [B/s]
    read: Mapping[str, Quantity] = field(hash=False)
    # the same for weights in the file's layout [B/s]
    plain: Mapping[str, Quantity] = field(default_factory=dict, hash=False)
    # speed on the weights in a prompt, by the same names [FLOP/s]
    prompt: Mapping[str, Quantity] = field(default_factory=dict, hash=False)
    # fixed cost of a layer [s]; None where it was not timed, as below
    layer: Quantity | None = None
    expert_layer: Quantity | None = None  # additional cost of a layer with routed experts [s]
    # speed on the cache, token by token, by head size and number of heads that share a key
    # ("128_4") [FLOP/s]
    attention: Mapping[str, Quantity] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class Host:
    """Processor and main memory."""

    name: str  # name in the catalogue or in /proc/cpuinfo
    cores: int  # number of physical cores that compute
    threads: int | None = None  # typed number of threads (llama.cpp's `-t`); None for one per core
    # number of physical cores, where fewer threads leave some idle; else None
    cores_there: int | None = None
    sockets: int = 1  # number of processor packages
    memory: Quantity  # main memory available to the model [B]
    bandwidth: Quantity  # sustained read rate of all cores [B/s]
    # Linux's names in lower case ("avx2", "avx512f", "amx_int8")
    instruction_sets: frozenset[str] = frozenset()
    # speeds of llama.cpp timed on this host; None where there are none
    engine: EngineSpeed | None = None
    # how the stated threads exceed the cores, a `ThreadExcess`; empty where
    # they do not
    thread_excess: str = ""
    numa: str = ""  # stated policy for several memory nodes (llama.cpp's `--numa`); empty for none
    # kind of processor, which decides its clock and its share of the RAM's peak ("desktop",
    # "server", "Apple"); empty where unknown
    segment: str = ""
    clock: float = 1.0  # clock of its cores at work beside the usual one of its kind

    MOST_SUSTAINED: ClassVar = 0.93
    """Largest published share of RAM's peak bandwidth: 95 of 102 GB/s, DDR5-6400 (AIDA64)."""
    SYSTEM_RAM: ClassVar = 2 * GIB  # RAM reserved for the system; assumed [B]

    @staticmethod
    def sustained(
        peak: float, segment: str, source: str, date: str, *, unstated: bool = False
    ) -> Quantity:
        """Sustained read rate of the RAM by all cores, from the datasheet's peak [B/s].

        `unstated` says that nobody stated the clock of the RAM, which is then that of people's RAM
        on average.
        """
        row = Constants.fitted().row("ram_sustained_share", segment)
        share = min(Constants.fitted().value("ram_sustained_share", segment), Host.MOST_SUSTAINED)
        if unstated:
            share *= Constants.fitted().value("ram_unstated_share", segment)
        words = f"{peak / GB:.1f} GB/s in theory ({source}) x {share:.2g}: {row.source}"
        return Quantity(peak * share, Provenance.ASSUMED, words, date)


LAPTOP_CARD = "Laptop"  # word in the names of laptops' GPUs


@dataclass(frozen=True, kw_only=True)
class Disk:
    """Drive that holds the model."""

    USUAL_READ_AHEAD: ClassVar = Quantity(
        128 * 2.0**10, Provenance.ASSUMED, "Linux, VM_READAHEAD_PAGES", "2026-11"
    )
    """Bytes that Linux reads around a touched page where nothing is set [B]."""

    name: str  # name in the catalogue
    sequential: Quantity  # sustained rate of large direct reads [B/s]
    # rate of a cold memory map, read by the computing threads [B/s]; None where unknown
    mapped: Quantity | None = None
    read_ahead: Quantity = USUAL_READ_AHEAD  # bytes that the kernel reads around a touched page [B]

    @property
    def for_pages(self) -> Quantity:
        """Rate that decides reads of a mapped file's pages [B/s]."""
        return self.mapped or self.sequential


@dataclass(frozen=True, kw_only=True)
class Network:
    """Network between machines; None for times that are not known."""

    name: str  # kind and nominal rate ("RoCE, 200 Gbit/s")
    rate: Quantity  # rate of the payload, one direction [B/s]
    reduce: Quantity | None = None  # time of a sum of a short vector over two machines [s]
    message: Quantity | None = None  # time of a message over TCP and its answer [s]
    # rate of the first bytes of a sum, where the processor copies them [B/s]; None for `rate`
    staged: Quantity | None = None


class Form(StrEnum):
    """Form of a machine, which decides what can be put into it."""

    DESKTOP = "desktop"
    OFFICE = "office"
    SLIM = "slim"  # office PC whose case takes cards of half height
    LAPTOP = "laptop"
    MAC = "mac"
    MINI = "mini"
    SERVER = "server"
    HANDHELD = "handheld"


THIN_LAPTOP = "thin laptop"  # segment of processors of 9 to 28 W
BOARD = "board"  # segment of processors that are soldered to a small board
UNEQUAL = 1.2
"""Memory of the largest card, relative to the smallest, from which engines divide layers by it."""


@dataclass(frozen=True, kw_only=True)
class Supply:
    """Power supply of a machine."""

    watts: float  # its power; 0 where that is not on record [W]
    proprietary: bool = False  # its maker made it for the machine: no usual one takes its place


@dataclass(frozen=True, kw_only=True)
class KnownRun:
    """Measured speed of a machine.

    What was timed is told by plain values, so that a machine carries it everywhere: another
    question on the same machine learns of the parts that take its time, too.
    """

    words: str  # model, format and speed in words
    measured: float  # measured speed [tokens/s]
    predicted: float  # speed that was predicted without any known run [tokens/s]
    shares: tuple[tuple[str, float], ...]  # share of the time by route and fixed cost
    prompt: bool  # whether a prompt was timed, else a token
    family: str  # family of its engine, as `known_runs.TimedRun` has it
    engine: str  # name of the engine, and its fork
    format: str  # format of the weights
    experts: bool  # whether the model has routed experts
    model: str  # name of the model
    users: float = 1.0  # sequences that were answered together
    length: float = 0.0  # context of the token, or length of the prompt [tokens]
    scale: float = 1.0  # factor on the standard deviation of its time
    cards: tuple[str, ...] = ()  # names of its kinds of GPUs
    host: str = ""  # name of the processor

    @property
    def log_ratio(self) -> float:
        """Logarithm of the measured time over the predicted time."""
        return math.log(self.predicted / self.measured)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Machine, or several equal ones joined by a network."""

    name: str  # name in one line, for headings
    gpus: tuple[Gpu, ...]  # GPUs in the order in which a runtime fills them; empty for none
    host: Host  # processor and RAM
    disk: Disk | None  # drive; None where unknown
    notes: tuple[str, ...] = ()  # remarks on unknown or assumed parts, one sentence each
    # number of equal machines; `gpus` are those of all, node by node, and host and drive are those
    # of the first
    nodes: int = 1
    network: Network | None = None  # network between machines; None for a single one
    backend: str = ""  # stated backend of llama.cpp; empty for the default
    system: str = ""  # operating system, an `OperatingSystem`; empty where unknown
    # stated graphics driver, as `backends.GraphicsDriver` prints it; empty for today's
    driver: str = ""
    build: str = ""  # month of the stated build of llama.cpp ("2025-10"); empty for today's
    software_notes: tuple[str, ...] = ()  # those of the notes that are about software
    rented: str = ""  # name of a machine that a provider owns and rents out; empty for others
    sold_as: Form | None = None  # form that its name says; None where its parts tell it
    supply: Supply | None = None  # power supply, where it is known
    dock_port: bool = False  # a port for a dock with a card is stated
    # numbers of GPUs, where a stack of machines with one kind of card, the only one of `gpus`, has
    # several, shape (numbers, 1); what differs by GPU then has an axis before these, (GPUs,
    # numbers, 1), and is nothing for GPUs that are not there. Else None.
    counts: Any = None
    known: tuple[KnownRun, ...] = ()  # speeds that somebody knows of it
    # cards that are owned and compute nothing: left out by the stated backend, or not put in
    idle: tuple[Gpu, ...] = ()

    @property
    def parts_name(self) -> str:
        """GPUs and processor in one line; a chip with unified memory appears once."""
        if self.gpus and all(gpu.unified for gpu in self.gpus):
            return self.gpus[0].name
        counted = Counter(gpu.name for gpu in self.gpus)
        cards = [f"{count}x {name}" if count > 1 else name for name, count in counted.items()]
        return ", ".join(part for part in (" + ".join(cards), self.host.name) if part)

    def __repr__(self) -> str:
        return f"<Machine {self.name}, {np.max(self.host.memory.value) / GIB:.4g} GB of RAM>"

    @property
    def cards(self) -> tuple[str, ...]:
        """Names of its kinds of GPUs."""
        return tuple(dict.fromkeys(gpu.name for gpu in self.gpus))

    @property
    def interface(self) -> str:
        """Backend of llama.cpp on the first GPU: the stated one where it drives the card; "cpu"
        without a GPU. Empty for a stack of machines whose backends differ.
        """
        return shared_name(self.interfaces)

    @property
    def interfaces(self) -> Names:
        """Backend as `interface` says; of a stack of machines one for each where they differ."""
        if not self.gpus:
            return Backend.CPU
        return of_vendors(self.gpus[0].lookup_vendor, self.backend, self.system)

    @property
    def driven(self) -> bool:
        """Whether llama.cpp has a backend for each of the machine's GPUs."""
        vendors = {gpu.lookup_vendor for gpu in self.gpus}
        return all(Backend.of_vendor(name) for names in vendors for name in names_of(names))

    @property
    def stated_driver(self) -> str:
        """Stated graphics driver in words; empty without one."""
        if self.driver:
            return driver_named(self.driver).words
        return ""

    def effect_of_driver(self, option: str = "driver") -> SoftwareEffect | None:
        """Published effect of the stated driver on all speeds, or on "experts"; None without."""
        if not self.driver or len({gpu.vendor for gpu in self.gpus}) != 1:
            return None
        card = self.gpus[0]
        driver = driver_named(self.driver)
        for row in SoftwareEffect.of_drivers(card.vendor, card.family, self.interface, option):
            holds = driver.before(row.before) and not (row.since and driver.before(row.since))
            if row.value == driver.name and holds:
                return row
        return None

    def only_of(self, vendor: str) -> bool:
        """Whether there are GPUs, all of one vendor."""
        return {name for gpu in self.gpus for name in names_of(gpu.lookup_vendor)} == {vendor}

    @property
    def discrete(self) -> tuple[Gpu, ...]:
        """Cards with memory of their own."""
        return tuple(gpu for gpu in self.gpus if not gpu.unified)

    @property
    def gpu_count(self) -> Any:
        """Number of GPUs; an array for a stack of machines with several numbers."""
        if self.counts is None:
            return len(self.gpus)
        return self.counts

    @property
    def form(self) -> Form:
        """Form of the machine, from its name or from its parts."""
        if any(gpu.vendor == "Apple" for gpu in self.gpus):
            return Form.MAC
        if self.sold_as is not None:
            return self.sold_as
        if any(LAPTOP_CARD in gpu.name for gpu in self.gpus):
            return Form.LAPTOP
        if self.host.segment.endswith("server"):
            return Form.SERVER
        return self._of_parts

    @property
    def _of_parts(self) -> Form:
        """Form that the processor is sold in, for a machine without a card.

        Chips of up to 28 W are in laptops, chips that are soldered to a board in small machines.
        """
        segment = self.host.segment
        without = self.unified or not self.gpus
        if without and segment == THIN_LAPTOP:
            return Form.LAPTOP
        soldered = self.unified or segment.endswith(("laptop", BOARD))
        if without and soldered and segment != "desktop":
            return Form.MINI
        return Form.DESKTOP

    def joined(self, nodes: int, network: "Network | None" = None) -> "Machine":
        """Several machines of this kind, joined by a network.

        It is their own network, then the given one, then the usual one of such machines.
        """
        of_each = self.gpus[: len(self.gpus) // self.nodes]
        chip = self.gpus[0].name if self.gpus else ""
        single = self.name.partition(" machines of ")[2] or self.name
        return replace(
            self,
            name=f"{nodes} machines of {single}",
            gpus=of_each * nodes,
            nodes=nodes,
            network=self.network or network or usual_network(chip),
        )

    def node_of(self, device: int) -> int:
        """Index of the machine that a GPU is in."""
        return device * self.nodes // max(len(self.gpus), 1)

    @property
    def unified(self) -> bool:
        """Whether GPU and host share one memory."""
        return bool(self.gpus) and all(gpu.unified for gpu in self.gpus)

    @property
    def one_pool(self) -> bool:
        """Whether GPU and host share one memory without fixed parts, which a placement cannot
        divide.
        """
        return self.unified and not any(gpu.of_ram for gpu in self.gpus)

    @property
    def unequal_memory(self) -> tuple[float, ...]:
        """Memory of each of unequal cards, by which engines divide layers; empty for equal cards
        [B].
        """
        sizes = tuple(float(gpu.memory.value) for gpu in self.gpus)
        if max(sizes) < UNEQUAL * min(sizes):
            return ()
        return sizes

    @property
    def gpu_memory(self) -> Array:
        """Memory of all GPUs; 0 without any [B]."""
        if self.counts is not None:
            return np.asarray(self.counts * self.gpus[0].memory.value)
        return np.asarray(sum((gpu.memory.value for gpu in self.gpus), start=np.zeros(())))


LEAST_OF_SYSTEM = 4 * GIB
MOST_OF_SYSTEM = 8 * GIB
"""Memory that a system with a few programs takes: 4 GB of 64 on an idle Mac without a screen
(https://github.com/jundot/omlx/issues/1533, 2026-05-30), 6 of 96 left to macOS by people who raise
the GPU's part (https://github.com/antirez/ds4/issues/46, 2026-05-09), 8 of 128 on Linux
(120 GiB for graphics, https://github.com/noamsto/nix-amd-ai/pull/96, 2026-08-29) [B]."""


def left_to_system(memory: Array, of_gpu: Array) -> Array:
    """Shared memory that the system keeps: a sixteenth, 4 to 8 GiB, outside the GPU's part [B]."""
    usual = np.clip(np.asarray(memory) / 16, LEAST_OF_SYSTEM, MOST_OF_SYSTEM)
    return np.minimum(usual, np.maximum(memory - of_gpu, 0.0))


# Networks between machines, by their names: rate of the payload, and time of a short sum.
#
# "200GbE", "2x 100G RoCE" or "Thunderbolt 5" are a kind (data/hardware/networks.csv) and a nominal
# rate. Ethernet of 100 Gbit/s and more is taken to be RDMA, as its cards all are.

FILE = DATA / "hardware" / "networks.csv"
RATE = re.compile(r"(?:\b(\d) ?x ?)?\b(\d+(?:\.\d+)?) ?-?g(?:be|bps|bit(?:/s)?|b/s|igabit|e|\b)")
"""Pattern of a nominal rate, and of a number of such links [Gbit/s]."""
OF_RDMA = 100.0  # rate of Ethernet from which its cards read memory themselves [Gbit/s]
OTHER = "Ethernet"


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkRow:
    """Kind of network; fields as the columns of data/hardware/networks.csv."""

    name: str  # name
    words: str  # pattern of the words that mean it
    gbit_per_s: float  # usual nominal rate [Gbit/s]
    payload: float  # share of the nominal rate that payload gets
    reduce_us: float  # time of a sum of a short vector over two machines [us]
    message_us: float  # time of a message over TCP and its answer [us]
    staged_gbs: float | None  # rate of the first bytes of a sum, where the processor copies them
    chips: str  # beginnings of the names of chips whose machines are built with it
    source: str  # page the figures were read from
    source_date: str  # day or month of that
    note: str  # remark


network_rows = cache(lambda: read(FILE, NetworkRow))
"""Kinds of networks, in the order of the table."""


def network_named(text: str, gpu: str = "") -> Network:
    """Network of a name, between machines with a GPU; raises InputError for an unknown kind or
    rate.
    """
    folded = text.casefold()
    stated = RATE.search(folded)
    row = next((row for row in network_rows() if re.search(row.words, folded)), None)
    if row is None and stated is None:
        kinds = ", ".join(row.name for row in network_rows() if "," not in row.name)
        raise InputError(
            f"Network {text[:40]!r} is not known; name its kind ({kinds}) or its rate (200GbE)."
        )
    if stated:
        nominal = float(stated[2]) * float(stated[1] or 1)
    else:
        nominal = None
    if row is None or (row.name == OTHER and (nominal or 0.0) >= OF_RDMA):
        if (nominal or 0.0) >= OF_RDMA:
            kind = "RoCE"
        else:
            kind = OTHER
        row = next(row for row in network_rows() if row.name == kind)
    of_chip = (other for other in network_rows() if other.name.startswith(f"{row.name},"))
    row = next((other for other in of_chip if gpu in other.chips.split("; ")), row)
    nominal = nominal or row.gbit_per_s
    origin = (Provenance.DERIVED, row.source, row.source_date)
    return Network(
        name=f"{row.name.partition(',')[0]}, {nominal:g} Gbit/s",
        rate=Quantity(row.payload * nominal / 8 * GB, *origin),
        reduce=Quantity(row.reduce_us * 1e-6, *origin),
        message=Quantity(row.message_us * 1e-6, *origin),
        staged=Quantity(row.staged_gbs * GB, *origin) if row.staged_gbs else None,
    )


def over_ethernet(network: Network | None) -> bool:
    """Whether a network is stated to be Ethernet, plain or with RDMA, by the row of its figures."""
    sources = {row.source for row in network_rows() if not row.name.startswith("Thunderbolt")}
    return network is not None and network.rate.source in sources


def usual_network(gpu: str) -> Network:
    """Network of machines without a stated one: the one that they are built with, or 10 Gbit."""
    built_in = [
        (len(chip), row.name.partition(",")[0])
        for row in network_rows()
        for chip in filter(None, row.chips.split("; "))
        if gpu.startswith(chip)
    ]
    built = network_named(max(built_in, default=(0, "10GbE"))[1], gpu)
    told = f"{built.name}, which nobody stated"
    figures: dict[str, Any] = {
        name: Quantity(figure.value, Provenance.ASSUMED, told)
        for name, figure in vars(built).items()
        if isinstance(figure, Quantity)
    }
    return replace(built, **figures)
