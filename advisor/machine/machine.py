"""Machine: GPUs, host, drive and links, every quantity with its origin."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from advisor.machine.quantity import Provenance, Quantity
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class Link:
    """Link between host memory and a GPU."""

    name: str  # name, such as "PCIe 4 x16" or "NVLink-C2C"
    pinned: Quantity  # rate of copies to the GPU from page-locked memory [B/s]
    pageable: Quantity  # rate of copies to the GPU from ordinary memory [B/s]
    zero_copy: Quantity  # rate of kernels that read host memory directly [B/s]


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """Graphics processor, or the GPU of a chip with unified memory."""

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

    @cached_property
    def peaks(self) -> dict[tuple[str, ...], Array]:
        """Peaks by the number types they are chosen from, as `processors` keeps them [FLOP/s]."""
        return {}


def fastest_first(gpus: Iterable[Gpu]) -> tuple[Gpu, ...]:
    """GPUs of a machine in the order in which CUDA numbers them, whatever order they were named in:
    the fastest first (CUDA C++ Programming Guide, environment variables: CUDA_DEVICE_ORDER is
    FASTEST_FIRST by default); of equals the larger.
    """
    return tuple(
        sorted(
            gpus,
            key=lambda gpu: (
                -float(np.max(gpu.bandwidth.value)),
                -float(np.max(gpu.memory.value)),
                gpu.name,
            ),
        )
    )


def further(present: Iterable[Gpu], gpus: Iterable[Gpu]) -> tuple[Gpu, ...]:
    """GPUs beside the present ones, by their names."""
    left = list(gpus)
    for gpu in present:
        left.remove(next(other for other in left if other.name == gpu.name))
    return tuple(left)


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
    # how the stated threads exceed the cores, as `software.HYPER_THREADS` and the like; empty where
    # they do not
    thread_excess: str = ""
    numa: str = ""  # stated policy for several memory nodes (llama.cpp's `--numa`); empty for none
    # kind of processor, which decides its clock and its share of the RAM's peak ("desktop",
    # "server", "Apple"); empty where unknown
    segment: str = ""


USUAL_READ_AHEAD = Quantity(
    value=128 * 2.0**10, kind=Provenance.ASSUMED, source="Linux, VM_READAHEAD_PAGES", date="2026-11"
)


@dataclass(frozen=True, kw_only=True)
class Disk:
    """Drive that holds the model."""

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
    # rate between machines, one direction [B/s]; None for a single machine
    network: Quantity | None = None
    # time of a sum of a short vector over two machines [s]; None for a single machine
    reduce: Quantity | None = None
    # time of a message over TCP and its answer [s]; None for a single machine
    message: Quantity | None = None
    backend: str = ""  # stated backend of llama.cpp; empty for the default
    system: str = ""  # operating system, a key of `software.SYSTEMS`; empty where unknown
    # stated graphics driver, as `software.GraphicsDriver` prints it; empty for today's
    driver: str = ""
    build: str = ""  # month of the stated build of llama.cpp ("2025-10"); empty for today's
    software_notes: tuple[str, ...] = ()  # those of the notes that are about software
    rented: str = ""  # name of a machine that a provider owns and rents out; empty for others
    # numbers of GPUs, where a stack of machines with one kind of card, the only one of `gpus`, has
    # several, shape (numbers, 1); what differs by GPU then has an axis before these, (GPUs,
    # numbers, 1), and is nothing for GPUs that are not there. Else None.
    counts: Any = None

    @property
    def gpu_count(self) -> Any:
        """Number of GPUs; an array for a stack of machines with several numbers."""
        return len(self.gpus) if self.counts is None else self.counts

    def node_of(self, device: int) -> int:
        """Index of the machine that a GPU is in."""
        return device * self.nodes // max(len(self.gpus), 1)

    @property
    def unified(self) -> bool:
        """Whether GPU and host share one memory."""
        return bool(self.gpus) and all(gpu.unified for gpu in self.gpus)

    @property
    def one_pool(self) -> bool:
        """Whether that memory is one for both, so that nothing can be left in the other's."""
        return self.unified and not any(gpu.of_ram for gpu in self.gpus)

    @property
    def gpu_memory(self) -> Array:
        """Memory of all GPUs; 0 without any [B]."""
        if self.counts is not None:
            return np.asarray(self.counts * self.gpus[0].memory.value)
        return np.asarray(sum((gpu.memory.value for gpu in self.gpus), start=np.zeros(())))
