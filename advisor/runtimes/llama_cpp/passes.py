"""Order in which llama.cpp reads a model, and bytes from the drive where RAM is too small."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from advisor.cost_model.loads import (
    ForwardPass,
    Load,
    cut_batches,
    step_load,
    token_step,
    with_short_last,
)
from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    gpu_numbers,
    last_layers,
)
from advisor.cost_model.schedule import (
    Exchange,
    ExchangePath,
    Flow,
    Phases,
    Route,
    Schedule,
    Transfer,
)
from advisor.cost_model.timing import peer_rate
from advisor.cost_model.workload import Workload
from advisor.machine.backends import Build
from advisor.machine.machine import Disk, Machine
from advisor.model.architecture import Group
from advisor.model.expert_use import USUAL
from advisor.model.model import Model
from advisor.units import FLOAT, Array

# Paging of llama.cpp: bytes read from the drive per token when the file exceeds RAM.
#
# Weights that every token reads are a cyclic scan, whose pages are kept first. Experts get the rest
# of the cache, which serves those that the text used last (`model/expert_use.py`).
#
# The constants fit the rows of data/measurements/own.csv with `read_gb`, where llama.cpp was
# observed under memory limits (`python -m benchmarks.engine`); a test repeats the fit.


MATRICES = 3  # matrices of an expert, in separate places of the file: gate, up and down


@dataclass(frozen=True, kw_only=True)
class Rereading:
    """Constants of rereading; each may be an array, to try several values at once."""

    retained: Array  # share of a scan that stays cached although the cache is too small for it
    renewed: Array  # rate of a core that evicts pages, with a read-ahead of 128 KiB [B/s]
    growth: Array  # exponent of that rate in the read-ahead, whose pages are evicted together
    windows: Array  # read-ahead windows read in addition to each piece of an expert
    most: Array  # limit of expert bytes read over all experts; above 1, some are evicted before use


OBSERVED = Rereading(retained=0.13, renewed=0.45e9, growth=0.65, windows=1.75, most=1.3)
"""Constants of the observed runs."""
CORNER = 64
"""Exponent of the transition to no rereading, when the cache holds the whole scan; assumed. Rows
with 0.88 of the scan cached reread as much as those with half of it, rows with all of it nothing,
and results in between differ from run to run."""


@dataclass(frozen=True, kw_only=True)
class Reread:
    """Bytes of a mapped file that a step reads again."""

    scanned: Array  # sequential bytes, read ahead while earlier ones are computed [B]
    pieces: Array  # experts, scattered over the file [B]
    renewal: Array  # time of the cores for evicting old pages [s]

    @property
    def total(self) -> Array:
        """Sequential and scattered bytes [B]."""
        return self.scanned + self.pieces


def reread(
    model: Model,
    placement: Placement,
    load: Load,
    machine: Machine,
    constants: Rereading = OBSERVED,
    variety: float = USUAL,
) -> Reread:
    """Bytes of a mapped file that a step reads again, because RAM is too small.

    The kernel reads ahead around the ends of each contiguous piece of an expert, `windows` times
    its window.
    """
    sizes = model.bytes_per_layer[Group.ROUTED_EXPERTS]
    expert_bytes = np.vecdot(placement.weights[Location.DISK][Group.ROUTED_EXPERTS], sizes)
    dense = load.weights - load.experts  # a head that is the token table among it
    cache = np.asarray(placement.page_cache, dtype=float)
    mixed = model.architecture.experts
    use = model.expert_use(variety)
    ahead: Array = 0.0
    if mixed is not None and machine.disk is not None:
        pieces = float(np.sum(model.per_layer.expert_layers)) * mixed.total * MATRICES
        piece = np.sum(sizes, axis=-1) / max(pieces, 1.0)
        ahead = constants.windows * machine.disk.read_ahead.value / np.maximum(piece, 1.0)
    experts = np.minimum(
        load.experts * (1.0 + ahead), np.maximum(constants.most * expert_bytes, load.experts)
    )
    if use is not None:
        cached = np.clip(np.maximum(cache - dense, 0.0) / np.maximum(expert_bytes, 1.0), 0.0, 1.0)
        experts = experts * (1.0 - use.served(cached * use.total, by_layer=True))
    scanned = dense * missed_share(cache / np.maximum(dense, 1.0), constants.retained)
    renewal = (scanned + experts) / renewal_rate(machine, constants)
    return Reread(scanned=scanned, pieces=experts, renewal=renewal)


def renewal_rate(machine: Machine, constants: Rereading = OBSERVED) -> Array:
    """Rate at which all cores exchange pages of a full cache [B/s].

    C R (A / 128 KiB)^g for C cores and a read-ahead of A. A cold map shows the kernel's cost of
    reading, but evicts no page for it; with a small read-ahead, evicting takes longer than the
    drive.
    """
    usual = Disk.USUAL_READ_AHEAD.value
    if machine.disk:
        ahead = machine.disk.read_ahead.value
    else:
        ahead = usual
    wide = np.maximum(ahead, usual) / usual
    return np.asarray(machine.host.cores * constants.renewed * wide**constants.growth)


def missed_share(cached: Array, retained: Array = OBSERVED.retained) -> Array:
    """Share of a scan that each pass reads from the drive again.

    r of the scan is in the page cache (`cached`), and `retained` of that stays there.

    m = (1 - retained) (1 - r^64). The kernel first evicts the pages that were unused for longest,
    which a scan needs next. A slightly too small cache thus keeps almost nothing, except pages that
    were read again soon after eviction, which Linux then keeps longer (mm/workingset.c).
    """
    cached_share = np.clip(np.asarray(cached, dtype=float), 0.0, 1.0)
    return np.asarray((1.0 - np.minimum(retained, cached_share)) * (1.0 - cached_share**CORNER))


# Passes of llama.cpp over a placed model: weights read in place, or copied for long prompts.


READ_IN = ("none", "mlock", "dio")
"""Load modes that read the file into separate buffers; with a GPU these are page-locked."""
RPC_MESSAGES = 16.0
"""Messages to a further machine in a pass, each of which waits for its answer: inputs, positions,
masks, the graph, its result. A server on the same machine takes TinyLlama from 63 to 60 tokens/s
(pull request 6829): 0.8 ms, 16 times 50 us."""
COPY_TOKENS = 32
"""Smallest micro-batch for which weights in RAM are copied to the GPU and computed there
(`--op-offload`, ggml-cuda's minimum batch size); so the last one of a prompt counts apart where it
is smaller (`split_simple` in src/llama-batch.cpp fills all others first) [tokens]."""
TAIL = 4.0
"""Tokens left after the last cut of a prompt (tools/server/server-context.cpp at 001d906a:
checkpoints at 4 tokens and at 4 tokens and a micro-batch before the end) [tokens]."""
CACHE_TOKENS = 32
"""Largest micro-batch that the cache of experts serves (src/llama-moe-cache.cpp, `max_batch`)
[tokens]."""


@dataclass(frozen=True, kw_only=True)
class CopyRules:
    """Weights in RAM that a pass copies to the GPU."""

    experts: bool  # a prompt's experts
    misses: bool  # experts outside the cache of experts
    length: Array  # length of the reply, over which that cache fills [tokens]


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """One pass over the layers for each micro-batch of the prompt, then one for each token.

    The server cuts prompts for checkpoints (`--ctx-checkpoints`), a bench does not.
    """
    return phases(model, placement, machine, work, copies_experts=True, cuts=not work.bench)


def phases(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    copies_experts: bool,
    copies_misses: bool = True,
    cuts: bool = False,
) -> Phases:
    """Schedules of prompt and token.

    A prompt's experts in RAM are copied to the GPU, or computed by the processor; those outside the
    cache of experts are copied into it (`copies_misses`), or computed by the processor, as in
    forks. With `cuts` the prompt is cut where a server keeps what cannot be rolled back.
    """
    rules = CopyRules(experts=copies_experts, misses=copies_misses, length=work.output)
    checkpoint_bytes = checkpoint(model, work) if cuts else 0.0

    def one_pass(step: ForwardPass, repeats: Array = 1.0, first: Array = 1.0) -> Schedule:
        passing = tuple(_passing(model, machine, step))
        passed = sum((exchange.times for exchange in passing), start=np.zeros(()))
        return Schedule(
            stages=tuple((flow,) for flow in _flows(model, placement, machine, step, rules)),
            repeats=repeats,
            first=first,
            crossings=crossings(model, placement, machine) - passed,
            workers=_workers(model, placement, machine),
            exchanges=(*_between_machines(model, machine, step), *passing),
        )

    def of_prompt() -> Schedule:
        if not np.any(checkpoint_bytes):
            all_but_last, short = with_short_last(work, COPY_TOKENS)
            if not np.any(short[1]):
                return one_pass(*all_but_last)
            return replace(one_pass(*all_but_last), then=one_pass(*short))
        before, last = cut_batches(work, TAIL)
        tail = one_pass(*last)
        several = 1.0 + (np.asarray(work.fresh) > TAIL + work.ubatch)
        saved = _saved(machine, checkpoint_bytes * several * np.asarray(work.users, dtype=float))
        return replace(one_pass(*before), then=replace(tail, stages=(*tail.stages, (saved,))))

    return Phases(of_prompt=of_prompt, of_token=lambda: one_pass(token_step(work)))


def checkpoint(model: Model, work: Workload) -> Array:
    """Bytes of a sequence that cannot be rolled back: states, and the cache of windows that is not
    kept whole [B].
    """
    windowed = np.isfinite(model.per_layer.windows) & (not work.swa_full)
    mask = np.where(windowed | (model.per_layer.state_values > 0), 1.0, 0.0)
    return np.asarray(model.kv_bytes(work.prompt, work.kv_type) @ mask)


def _saved(machine: Machine, size: Array) -> Flow:
    """Flow of checkpoints to RAM; it crosses the link where a GPU holds them."""
    if machine.counts is not None:
        size = size * (gpu_numbers(machine) == 0)
    if machine.gpus:
        return Flow(route=Route.STREAMED, moved=size, transfer=Transfer.PAGEABLE)
    return Flow(route=Route.IN_PLACE, moved=2.0 * size)


def _flows(
    model: Model, placement: Placement, machine: Machine, step: ForwardPass, rules: CopyRules
) -> Iterable[Flow]:
    """Flows of a pass: the GPUs, the cache in RAM of their layers, and the layers in RAM.

    With `-nkvo` the CPU attends in RAM for prompts too: only weights are ever copied.
    """
    for at in range(len(machine.gpus)):
        load = step_load(model, placement, Location.vram(at), step)
        yield Flow(route=Route.RESIDENT, load=load, device=at)
    off_gpu = 1.0 - last_layers(model, placement.gpu_layers)
    away = placement.kv[Location.RAM] - off_gpu
    if np.any(away > 0):
        apart = replace(placement, kv={Location.RAM: away}, weights={}, output={})
        yield Flow(route=Route.IN_PLACE, load=step_load(model, apart, Location.RAM, step))
        placement = replace(placement, kv={**placement.kv, Location.RAM: off_gpu})
    yield from _outside(model, placement, machine, step, rules)


MOST_IN_FLIGHT = 4
"""Micro-batches that are under way at once: copies of a graph's inputs that llama.cpp keeps
(GGML_SCHED_MAX_COPIES of ggml/CMakeLists.txt; read 2026-11-28)."""


def _workers(model: Model, placement: Placement, machine: Machine) -> Array:
    """Number of GPUs that work on different micro-batches at once.

    They are all GPUs, up to `MOST_IN_FLIGHT`, where they hold every layer and the cache; one in all
    other cases (llama.cpp, src/llama-context.cpp: `pipeline_parallel` asks for more layers on GPUs
    than the model has, `offload_kqv` and no tensor overrides; read 2026-11-23).
    """
    if not machine.gpus:
        return 1
    in_ram = np.asarray(placement.cpu_moe) + placement.cpu_ffn
    whole = (placement.gpu_layers >= model.layers) & (in_ram <= 0)
    whole = whole & (np.sum(placement.kv[Location.RAM], axis=-1) <= 0)
    return np.where(whole, np.minimum(machine.gpu_count, MOST_IN_FLIGHT), 1)[()]


def _between_machines(model: Model, machine: Machine, step: ForwardPass) -> tuple[Exchange, ...]:
    """Activations sent to every further machine and back to the first one (`--rpc`)."""
    if machine.nodes == 1:
        return ()
    vector = FLOAT * model.architecture.hidden * np.asarray(step.tokens, dtype=float)
    way = ExchangePath.NETWORK
    times = machine.nodes - 1.0
    return (Exchange(way=way, times=times, moved=2.0 * vector, messages=RPC_MESSAGES),)


def served_by_cache(
    model: Model, placement: Placement, step: ForwardPass, rules: CopyRules
) -> Array:
    """Share of a token's lookups of experts in RAM that the cache of experts in the GPU serves.

    All layers share its slots and it evicts what was unused for longest; caches of forks, whose
    misses the processor computes, have slots for each layer. Texts side by side divide them. The
    cache is empty before the reply.
    """
    use = model.expert_use(step.variety)
    in_ram = placement.weights[Location.RAM].get(Group.ROUTED_EXPERTS, np.zeros(model.layers))
    expert_bytes = np.sum(in_ram * model.bytes_per_layer[Group.ROUTED_EXPERTS], axis=-1)
    share = np.minimum(placement.expert_cache / np.maximum(expert_bytes, 1.0), 1.0)
    if use is None:
        return np.zeros(np.shape(share))
    slots = use.total * share / np.asarray(step.sequences)
    return use.served(slots, rules.length, by_layer=not rules.misses)


def _on_first_gpu(
    model: Model,
    placement: Placement,
    machine: Machine,
    step: ForwardPass,
    load: Load,
    rules: CopyRules,
) -> tuple[Load, Array]:
    """Part of a load from outside the GPUs that the first GPU computes, and the bytes copied to it
    [B].

    The bytes are weights of long steps, and experts that its cache lacks.
    """
    copied = np.where(np.asarray(step.tokens) >= COPY_TOKENS, 1.0, 0.0) * bool(machine.gpus)
    copying = load.times(copied)
    if not rules.experts:
        copying = copying + copying.routed.times(-1.0)
    moved = copying.weights
    if "" < machine.build < Build.USED_ALONE_SINCE:
        moved = moved + copying.experts * (1.0 / step.touched(model) - 1.0)
    if not np.any(placement.expert_cache):
        return copying, moved
    small = np.asarray(step.tokens) <= CACHE_TOKENS
    experts = (load + copying.times(-1.0)).routed
    used = experts.times(np.where(small & (np.asarray(placement.expert_cache) > 0), 1.0, 0.0))
    share = served_by_cache(model, placement, step, rules)
    if rules.misses:
        return copying + used, moved + used.experts * (1.0 - share)
    return copying + used.times(share), moved


def _outside(
    model: Model, placement: Placement, machine: Machine, step: ForwardPass, rules: CopyRules
) -> Iterable[Flow]:
    """Flows of the layers outside the GPUs, which are computed in place, or copied and computed on
    the first GPU.

    Pages of a mapped file are pageable, tensors overridden to the CPU among them; buffers with a
    copy of the file are page-locked (src/llama-model-loader.cpp keeps a mapped file out of host
    buffers, which pull request 20978 of March 2026 warns of: gpt-oss-20b with its experts in RAM
    reads 544 and 298 tokens/s in micro-batches of 128 without a map and with one).
    """
    on_disk = placement.strategy is PlacementStrategy.NVME_OFFLOAD
    if not on_disk and not placement.holds(Location.RAM):
        return
    load = step_load(model, placement, Location.RAM, step)
    if on_disk:
        mapped = step_load(model, placement, Location.DISK, step)
        load = load + mapped
    if not np.any(load.layers + load.expert_layers + load.weights + load.kv):
        return
    if on_disk:
        again = reread(model, placement, mapped, machine, variety=step.variety)
        moved = again.total
        pieces = again.pieces
        renewal = again.renewal
        yield Flow(route=Route.PAGED, moved=moved, pieces=pieces, renewal=renewal)
    copying, moved = _on_first_gpu(model, placement, machine, step, load, rules)
    staying = load + copying.times(-1.0)
    if np.any(copying.weights):
        if placement.load_mode in READ_IN:
            locked = Transfer.PINNED
        else:
            locked = Transfer.PAGEABLE
        yield Flow(route=Route.STREAMED, moved=moved, transfer=locked)
        yield Flow(route=Route.RESIDENT, load=copying)
    if not np.any(copying.weights) or np.any(staying.weights):
        yield Flow(route=Route.IN_PLACE, load=staying, repacked=not on_disk)


USUAL_LINK = 8e9  # slowest link between cards of the runs that hand-overs were fitted to [B/s]


def _passing(model: Model, machine: Machine, step: ForwardPass) -> Iterator[Exchange]:
    """Exchanges of activations from card to card, over links slower than usual ones.

    A hand-over moves tokens x hidden x 4 bytes; its fitted cost holds for links of x8 and x16. Over
    a slower one, of rate S, the part (1 - S / S_usual) of these bytes takes time of its own.
    """
    others = machine.gpu_count - 1.0
    if machine.counts is not None or not machine.gpus or others <= 0:
        return
    slower = link_shortfall(machine)
    if not np.any(slower):
        return
    moved = FLOAT * np.asarray(step.tokens, dtype=float) * model.architecture.hidden
    yield Exchange(way=ExchangePath.PEER, times=others, moved=moved * slower)


def link_shortfall(machine: Machine) -> Array:
    """Part by which the link of the last of several cards is slower than a usual link, 0 to 1."""
    return np.asarray(np.maximum(1.0 - peer_rate(machine.gpus[-1]) / USUAL_LINK, 0.0))


def crossings(model: Model, placement: Placement, machine: Machine) -> Array:
    """Number of times that a pass hands activations from one processor to another.

    It counts hand-overs between GPUs; to the CPU's layers and back; and back and forth for each GPU
    layer with only its experts, feed-forward or cache in RAM.
    """
    if not machine.gpus:
        return 0.0
    on_gpu = last_layers(model, placement.gpu_layers)
    experts, dense = (
        on_gpu * (1.0 - last_layers(model, model.layers - np.asarray(in_ram)))
        for in_ram in (placement.cpu_moe, placement.cpu_ffn)
    )
    between = machine.gpu_count - 1.0
    sides = 2.0 * ((placement.gpu_layers > 0) & (placement.gpu_layers < model.layers))
    apart = experts @ model.per_layer.expert_layers + np.sum(
        on_gpu * placement.kv[Location.RAM], axis=-1
    )
    apart = apart + np.sum(dense * (model.bytes_per_layer[Group.DENSE_FFN] > 0), axis=-1)
    return np.asarray(between + sides + 2.0 * apart)
