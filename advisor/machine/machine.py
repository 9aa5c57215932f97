"""Machine: GPUs, host, drive and links, every quantity with its origin."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from advisor.machine.quantity import Provenance, Quantity


@dataclass(frozen=True, kw_only=True)
class Link:
    """The way between host memory and one GPU.

    Attributes:
        name: "PCIe 4 x16", "NVLink-C2C".
        pinned: host to device from page-locked memory, by the copy engine [B/s].
        pageable: the same from ordinary memory [B/s].
        zero_copy: a kernel reading host memory itself [B/s].
    """

    name: str
    pinned: Quantity
    pageable: Quantity
    zero_copy: Quantity


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One graphics processor, or the GPU side of a unified-memory chip.

    Attributes:
        name: as the catalogue has it.
        vendor: NVIDIA, AMD, Intel, Apple.
        family: generation whose kernels behave alike ("Ampere", "RDNA 3", "Apple M4").
        memory: what programs can fill [B]; for unified memory the share the GPU may use.
        bandwidth: peak memory bandwidth [B/s].
        tensor_flops: dense peak by number type ("fp16", "fp8", "int8", ...) [FLOP/s].
        link: to host memory.
        board_power: limit under load [W]; None where unknown.
        unified: memory is the host's own.
        peer: to another GPU of its kind, one direction [B/s]; None where that goes over `link`.
        peer_access: over `link` it reads the memory of another GPU; else both exchange through the
            host's memory.
    """

    name: str
    vendor: str
    family: str
    memory: Quantity
    bandwidth: Quantity
    tensor_flops: Mapping[str, float] = field(default_factory=dict, hash=False)
    link: Link
    board_power: float | None = None
    unified: bool = False
    peer: Quantity | None = None
    peer_access: bool = True


@dataclass(frozen=True, kw_only=True)
class EngineSpeed:
    """Timed speeds of llama.cpp on a host's processor.

    Attributes:
        cores: that took part.
        ram: sustained read rate of the host's RAM, as it was known then [B/s].
        read: weights read and unpacked, by storage type ("Q4_K") or by format ("Q4_K_M") [B/s].
        plain: the same where they keep the file's layout [B/s].
        prompt: work on weights in a prompt, by the same names [FLOP/s].
        layer: fixed cost of a layer [s]; None where it was not timed, as below.
        expert_layer: further cost of a layer with routed experts [s].
        attention: work on the cache, token by token, by head size and heads that share a key
            ("128_4") [FLOP/s].
    """

    cores: int
    ram: float
    read: Mapping[str, Quantity] = field(hash=False)
    plain: Mapping[str, Quantity] = field(default_factory=dict, hash=False)
    prompt: Mapping[str, Quantity] = field(default_factory=dict, hash=False)
    layer: Quantity | None = None
    expert_layer: Quantity | None = None
    attention: Mapping[str, Quantity] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class Host:
    """Processor and main memory.

    Attributes:
        name: as the catalogue or /proc/cpuinfo has it.
        cores: physical cores that compute.
        threads: as many as a person wants (llama.cpp's `-t`); None for one on each core.
        cores_there: physical cores, where threads keep some of them idle; else None.
        sockets: processor packages.
        memory: main memory that the model may use [B].
        bandwidth: sustained read rate, all cores reading [B/s].
        instruction_sets: lower case, as Linux names them ("avx2", "avx512f", "amx_int8").
        engine: what llama.cpp was timed at there; None where it was not.
        segment: kind of processor, which tells its clock and what it draws of its RAM's peak
            ("desktop", "server", "Apple"); empty where unknown.
    """

    name: str
    cores: int
    threads: int | None = None
    cores_there: int | None = None
    sockets: int = 1
    memory: Quantity
    bandwidth: Quantity
    instruction_sets: frozenset[str] = frozenset()
    engine: EngineSpeed | None = None
    segment: str = ""


USUAL_READ_AHEAD = Quantity(
    value=128 * 2.0**10, kind=Provenance.ASSUMED, source="Linux, VM_READAHEAD_PAGES", date="2026-11"
)


@dataclass(frozen=True, kw_only=True)
class Disk:
    """The drive the model lies on.

    Attributes:
        name: as the catalogue has it.
        sequential: large direct reads, sustained [B/s].
        mapped: a cold memory map, read by the threads that compute [B/s]; None where not known.
        read_ahead: what the kernel reads around a page that is touched [B].
    """

    name: str
    sequential: Quantity
    mapped: Quantity | None = None
    read_ahead: Quantity = USUAL_READ_AHEAD

    @property
    def for_pages(self) -> Quantity:
        """What pages of a mapped file depend on [B/s]."""
        return self.mapped or self.sequential


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where a model runs.

    Attributes:
        name: one line for headings.
        gpus: in the order a runtime fills them; empty for none.
        host: processor and RAM.
        disk: None where nothing is known of the drive.
        notes: what could not be seen, one sentence each.
        nodes: machines alike that are joined; `gpus` are those of all of them, node by node, host
            and drive are the first one's.
        network: between them, one direction [B/s]; None for a single machine.
        backend: llama.cpp's way to the GPUs, as a person states it; empty for the usual one.
    """

    name: str
    gpus: tuple[Gpu, ...]
    host: Host
    disk: Disk | None
    notes: tuple[str, ...] = ()
    nodes: int = 1
    network: Quantity | None = None
    backend: str = ""

    @property
    def unified(self) -> bool:
        """GPU and host share one memory."""
        return bool(self.gpus) and all(gpu.unified for gpu in self.gpus)
