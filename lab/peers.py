"""Formulas of public advisors, rewritten from the files and versions in data/public_formulas.csv.

They get the same facts as our own model, so that both are scored on the same rows. The constants
are their authors'.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from advisor.catalog.csv_tables import read
from advisor.cost_model.loads import ForwardPass, step_load
from advisor.cost_model.placement import Location
from advisor.evidence.published.case import Case
from advisor.model.architecture import Architecture, Group
from advisor.units import GB, GIB

IN_GPU, IN_RAM, SPLIT, EXPERTS_IN_RAM = PLACES = ("resident", "cpu", "partial", "moe_offload")
"""Categories of rows that are predicted: where the weights lie."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about one run; every formula gets the same."""

    where: str  # location of the weights, one of `PLACES`
    format: str  # name of the format ("Q4_K_M")
    params: float  # weights of the model
    active_params: float  # weights used for a token
    experts: int  # routed experts per layer; 0 for a dense model
    experts_used: int  # routed experts used for a token
    expert_params: float  # weights of the routed experts used for a token, all layers
    shared_params: float  # weights of attention, shared experts and routers, all layers
    layers: int  # repeating layers
    hidden: int  # width of the residual stream
    intermediate: int  # width of a dense feed-forward layer; 0 where there is none
    vocab: int  # rows of the token table
    file_bytes: float  # size of all weights [B]
    gpu_read: float  # weights read from VRAM per token [B]
    ram_read: float  # weights read from RAM per token [B]
    cache_read: float  # 16-bit cache read per token [B]
    depth: float  # tokens in the cache
    gpu_share: float  # share of the file in VRAM; 1 where only the token table is in RAM
    gpu_layers: float  # share of the layers computed by a GPU, with the output head as one layer
    gpus: int  # number of GPUs
    gpu_vendor: str  # "NVIDIA", "AMD", "Intel", "Apple"; empty for none
    gpu_unified: bool  # the GPU uses the host's memory
    gpu_memory: float  # memory of each GPU [B]
    gpu_bandwidth: float  # peak bandwidth of each GPU [B/s]
    gpu_fp16: float  # dense 16-bit peak of each GPU [FLOP/s]
    gpu_fp32: float  # 32-bit peak of each GPU [FLOP/s]
    ram: float  # sustained read rate of RAM [B/s]
    ram_peak: float  # theoretical bandwidth of RAM, or as the source states it [B/s]
    cores: int  # cores that compute
    arm: bool  # ARM cores
    prompt: float  # tokens of the prompt, for its speed; 0 for the speed of generation
    prompt_flops: float  # work on the whole prompt, or on a token [FLOP]


@dataclass(frozen=True, kw_only=True)
class PeerFormula:
    """One public advisor; speeds of its formulas in tokens/s."""

    name: str  # its authors' name for it, as data/public_formulas.csv has it
    decode: Callable[[Facts], float]  # speed of generation
    prefill: Callable[[Facts], float] | None = None  # speed of a prompt that a GPU reads
    places: tuple[str, ...] = PLACES  # places of weights that it has a formula for
    experts: bool | None = None  # whether it is for models with experts, or without; None for both

    def answer(self, facts: Facts) -> float | None:
        """Speed of a run's prompt, or of its generation without one; None where the advisor has no
        formula for it [tokens/s].
        """
        if facts.where not in self.places or self.experts not in (None, facts.experts > 0):
            return None
        if not facts.prompt:
            return self.decode(facts)
        if self.prefill and facts.where == IN_GPU:
            return self.prefill(facts)
        return None


@dataclass(frozen=True, kw_only=True)
class FormatRow:
    """Constants of a format, one row of lab/peer_formats.csv; an empty cell has the default."""

    format: str
    llmfit_read: float = 0.5  # bytes read per weight
    llmfit_stored: float = 0.58  # bytes stored per weight, which experts in the GPU are read by
    llmfit_speed: float = 1.0  # factor on a processor's speed
    whichllm: float = 0.45  # share of the bandwidth


FORMATS = {row.format: row for row in read(Path(__file__).with_name("peer_formats.csv"), FormatRow)}


def in_tables(form: str) -> FormatRow:
    """Constants of a format; the defaults for one that has no row."""
    return FORMATS.get(form, FormatRow(format=form))


# Bandwidth over bytes: the rule that all other formulas start from.


def bandwidth_decode(facts: Facts) -> float:
    """Peak bandwidth over the bytes that a token reads, once each [tokens/s].

    1 / (W_gpu / S_gpu + W_ram / S_ram); the cache is added to the GPU's weights, or to RAM's
    without a GPU.

    Carol Chen 2022 and Arseny Kapoulkine 2024 state it for one memory; Martin Alderson's calculator
    adds memories up, with the active weights of experts and the cache in the first memory.
    """
    in_ram = facts.ram_read + (0.0 if facts.gpus else facts.cache_read)
    seconds = in_ram / facts.ram_peak
    if facts.gpus:
        seconds += (facts.gpu_read + facts.cache_read) / facts.gpu_bandwidth
    return 1.0 / seconds


# CanIRun.ai: `estimateTokensPerSecond`, and `makeQuants` of packages/models/src/index.ts.

CANIRUN_BYTES = {2: 0.3125, 3: 0.4375, 4: 0.5, 5: 0.625, 6: 0.75, 8: 1.0, 16: 2.0}
"""Bytes per weight by the bits in a format's name. The source lists one format of each; formats it
does not list get the closest."""


def canirun_decode(facts: Facts) -> float:
    """0.7 S / working set, 0.65 on Apple; 0.85 of that for a split [tokens/s].

    For a split, S is the harmonic mean of the GPU's bandwidth and 50 GB/s, for any RAM, by share.
    The working set is 1.1 times the weights plus half a GiB; with experts, the active share of it.
    """
    named = re.search(r"\d+", facts.format)
    bits = int(named.group()) if named else 4
    stored = CANIRUN_BYTES[min(CANIRUN_BYTES, key=lambda known: abs(known - bits))]
    whole = facts.params * stored / GIB * 1.1 + 0.5
    if facts.experts:
        read = max(0.5, whole * facts.active_params / facts.params)
    else:
        read = whole
    if facts.gpu_vendor == "Apple":
        efficiency = 0.65
    else:
        efficiency = 0.70
    bandwidth = facts.gpu_bandwidth / GB
    if facts.where == IN_GPU:
        return efficiency * bandwidth / read
    mean = 1.0 / (facts.gpu_share / bandwidth + (1.0 - facts.gpu_share) / 50.0)
    return max(1.0, 0.85 * efficiency * mean / read)


# GGUF Parser: each device's bytes over its bandwidth, by its share of the layers.


def gguf_parser_decode(facts: Facts) -> float:
    """t_max / sum of t_i^2, with t_i = (W_i + 4 K_i) / S_i times the share of layers [tokens/s].

    The cache counts four times: a logical batch of 2048 tokens over a physical one of 512. A
    device's share counts the output head and one more layer. The bound by FLOPs is omitted: a GPU
    does not reach it, and no row states the FLOP/s of a processor. The formula reads every expert,
    so it is used for dense models only.
    """
    rows = (facts.layers + 1.0) / (facts.layers + 2.0)
    devices = [(1.0 - facts.gpu_share, 1.0 - facts.gpu_layers, facts.ram_peak)]
    if facts.gpus:
        devices.append((facts.gpu_share, facts.gpu_layers, facts.gpu_bandwidth))
    times = [
        (share * facts.file_bytes + layers * 4.0 * facts.cache_read) / speed * layers * rows
        for share, layers, speed in devices
    ]
    return max(times) / sum(time * time for time in times)


# gpu_poor: bandwidth over 1.5 times the bytes, for dense models.


def gpu_poor_decode(facts: Facts) -> float:
    """1 / (f (W + K) / S) with f 1.5 on a GPU, 2 for Q2_K, 1.6 on a processor [tokens/s].

    Bytes are counted in GiB, bandwidth in GB/s. K is a 16-bit cache with all query heads. Several
    GPUs divide the time, which then grows by a quarter. The bound by FLOPs is omitted, as a single
    token does not reach it.
    """
    cache = 4.0 * facts.layers * facts.hidden * facts.depth
    moved = (_weights(facts) + cache) / GIB
    if facts.where == IN_RAM:
        return facts.ram_peak / GB / (1.6 * moved)
    factor = 2.0 if facts.format == "Q2_K" else 1.5
    if facts.gpus > 1:
        several = 1.25 / facts.gpus
    else:
        several = 1.0
    return facts.gpu_bandwidth / GB / (factor * moved * several)


def gpu_poor_prefill(facts: Facts) -> float:
    """Speed n / (1.8 F / (0.85 C) + one read of the weights), C in 32 bits [tokens/s].

    F is 2 n (W / 2 + 2 L h^2) FLOPs for n tokens; the read takes 80 us for each MiB.
    """
    square = 2.0 * facts.layers * facts.hidden**2
    flops = 2.0 * facts.prompt * (_weights(facts) / 2.0 + square)
    seconds = 1.8 * flops / (0.85 * facts.gpu_fp32) + _weights(facts) / 2**20 * 80e-6
    return facts.prompt / seconds


def _weights(facts: Facts) -> float:
    """Weights by the advisor's own count, at the mean bytes per weight of the file [B].

    Four square matrices a layer for attention, three for the feed-forward part.
    """
    attention = 4.0 * facts.layers * facts.hidden**2
    feed_forward = 3.0 * facts.layers * facts.hidden * facts.intermediate
    counted = 2.0 * facts.vocab * facts.hidden + attention + feed_forward
    return counted * facts.file_bytes / facts.params


# LLM-Viewer: a roofline over the operations of a dense model on one GPU (and model_analyzer.py).


def llm_viewer_decode(facts: Facts) -> float:
    """Reciprocal of the larger of bytes / bandwidth and FLOPs / peak [tokens/s].

    The source takes the larger for each operation; a token reads weights and cache and is never
    bound by FLOPs. Activations, some kB beside GB, are omitted.
    """
    read = (facts.gpu_read + facts.cache_read) / facts.gpu_bandwidth
    return 1.0 / max(read, 2.0 * facts.params / facts.gpu_fp16)


def llm_viewer_prefill(facts: Facts) -> float:
    """Prompt over the larger of FLOPs / 16-bit peak and weights / bandwidth [tokens/s]."""
    computing = facts.prompt_flops / facts.gpu_fp16
    return facts.prompt / max(computing, facts.file_bytes / facts.gpu_bandwidth)


# LLMcalc: bandwidth over bytes, and an exponential of the offloaded share.


def llmcalc_decode(facts: Facts) -> float:
    """S / W in the GPU, 0.9 S_ram / W in RAM, and for a split the latter times a factor [tokens/s].

    The factor is 0.052 exp(4.55 (1 - o)) + 1.06 for an offloaded share o, for any GPU.
    """
    if facts.where == IN_GPU:
        return facts.gpu_bandwidth / facts.file_bytes
    in_ram = 0.9 * facts.ram_peak / facts.file_bytes
    if facts.where == IN_RAM:
        return in_ram
    return in_ram * (0.052 * math.exp(4.55 * facts.gpu_share) + 1.06)


# llmfit: `estimate_tps`, with the tables of models.rs and the defaults of its `CalcConfig`.

DYNAMIC = {"2": "Q2_K", "3": "Q3_K_M", "4": "Q4_K_M", "5": "Q5_K_M", "6": "Q6_K", "8": "Q8_0"}
IN_RAM_FACTORS = {EXPERTS_IN_RAM: 0.8, SPLIT: 0.5, IN_RAM: 0.3}


def llmfit_decode(facts: Facts) -> float:
    """One formula for each run mode [tokens/s].

    In the GPU 0.55 S / W; a split 0.5 of that, whatever its share. Experts in RAM 0.8 / (A / S_ram
    + A / (0.55 S)) for active weights A and a measured RAM rate. A processor 70 (90 on ARM) over
    the billions of active weights, times factors.
    """
    dynamic = facts.format.startswith("UD-Q")  # by its bits, others by name
    form = in_tables(DYNAMIC.get(facts.format[4], "") if dynamic else facts.format)
    if facts.where == IN_RAM:
        rate = (90.0 if facts.arm else 70.0) / (facts.active_params / 1e9)
        rate *= form.llmfit_speed * (1.1 if facts.cores >= 8 else 1.0)
        return IN_RAM_FACTORS[IN_RAM] * rate
    if facts.where == IN_GPU and facts.experts:
        return _experts_in_gpu(facts, form.llmfit_stored)
    active = facts.active_params * form.llmfit_read
    seconds = active / (0.55 * facts.gpu_bandwidth)
    if facts.where == EXPERTS_IN_RAM:
        seconds += active / facts.ram
    return IN_RAM_FACTORS.get(facts.where, 1.0) / seconds


def _experts_in_gpu(facts: Facts, stored: float) -> float:
    """Active experts at stored size, all else at 3.2 bytes a weight, slower in a full VRAM."""
    outside = facts.shared_params + 2.0 * facts.vocab * facts.hidden
    read = facts.expert_params * stored + outside * 3.2
    full = facts.params * stored / facts.gpu_memory
    idle = 1.0 - facts.experts_used / facts.experts
    if 0.6 <= full <= 1.0:
        pressed = max(1.0 - (full - 0.6) * idle, 0.3)
    else:
        pressed = 1.0
    return pressed * facts.gpu_bandwidth / read


# MoEspeedcalc (and the first lines of its index.html).


def moe_speed_decode(facts: Facts) -> float:
    """Half of bandwidth over bytes [tokens/s].

    Dense weights and cache are read from the GPU, active experts from where they are. The page
    states that real speed is about half of the theory it shows; this half is used here.
    """
    return 0.5 * bandwidth_decode(facts)


# whichllm: bandwidth over bytes, times a factor for the format and one for the vendor.

VENDORS = {"NVIDIA": 1.0, "AMD": 0.78, "Apple": 0.82, "Intel": 0.65}


def whichllm_decode(facts: Facts) -> float:
    """f_format f_vendor S / (W r), 0.45 of that where a part is in RAM [tokens/s].

    r is the share of an expert model that is read: its active share, but at least a floor of 5 %
    for each 256 GB/s, up to 25 %. A processor reaches 18 over the billions of active weights, for
    any RAM.
    """
    efficiency = in_tables(facts.format).whichllm
    if facts.where == IN_RAM:
        active = max(facts.active_params / 1e9, 0.5)
        return max(0.3, 18.0 / active * efficiency / in_tables("").whichllm)
    floor = min(0.05 * max(1.0, facts.gpu_bandwidth / 256e9), 0.25)
    if facts.experts:
        share = min(1.0, max(facts.active_params / facts.params, floor))
    else:
        share = 1.0
    read = facts.file_bytes * share
    rate = efficiency * VENDORS.get(facts.gpu_vendor, 0.7) * facts.gpu_bandwidth / read
    if facts.where == IN_GPU:
        return rate
    return rate * (0.85 if facts.gpu_unified else 0.45)


PEERS = (
    PeerFormula(name="bandwidth over bytes", decode=bandwidth_decode),
    PeerFormula(name="llmfit", decode=llmfit_decode),
    PeerFormula(name="whichllm", decode=whichllm_decode),
    PeerFormula(name="CanIRun.ai", decode=canirun_decode, places=(IN_GPU, SPLIT, EXPERTS_IN_RAM)),
    PeerFormula(name="MoEspeedcalc", decode=moe_speed_decode, experts=True),
    PeerFormula(
        name="gpu_poor", decode=gpu_poor_decode, prefill=gpu_poor_prefill,
        places=(IN_GPU, IN_RAM), experts=False,
    ),
    PeerFormula(name="GGUF Parser", decode=gguf_parser_decode, experts=False),
    PeerFormula(name="LLMcalc", decode=llmcalc_decode, experts=False),
    PeerFormula(
        name="LLM-Viewer", decode=llm_viewer_decode, prefill=llm_viewer_prefill,
        places=(IN_GPU,), experts=False,
    ),
)  # fmt: skip
"""Public advisors, in the order of the tables."""


# Facts of a published run.


def facts_of(case: Case, category: str, *, ram_peak: float, prompt: bool = False) -> Facts:
    """Facts of one run with a timed prompt or generation; the peak of its RAM is theoretical or the
    source's [B/s].
    """
    work = case.prompt if prompt else case.work
    machine = case.machine
    model = case.model
    placement = (case.of_prompt if prompt else case).placement
    fresh = float(work.fresh) if prompt else 0.0
    depth = float((work.prompt + work.cached) / 2 if prompt else work.decode_depth)
    step = ForwardPass(tokens=max(fresh, 1.0), sequences=1.0, depth=depth, kv_type="f16")
    devices = [Location.vram(device) for device in range(len(machine.gpus))]
    on_gpu = [step_load(model, placement, device, step) for device in devices]
    in_ram = step_load(model, placement, Location.RAM, step)
    loads = (*on_gpu, in_ram)
    in_vram = sum(float(placement.weight_bytes(model, device)) for device in devices)
    layers = float(placement.gpu_layers)
    arch = model.architecture
    host = machine.host
    experts = arch.experts
    gpu = machine.gpus[0] if machine.gpus else None
    peaks = gpu.tensor_flops if gpu else {}
    if experts:
        used = experts.used / experts.total
    else:
        used = 0.0
    widths = (tensor.width for tensor in arch.tensors if tensor.role == "ffn_down")
    return Facts(
        where=category,
        format=model.format,
        params=float(arch.params),
        active_params=float(arch.active_params),
        experts=experts.total if experts else 0,
        experts_used=experts.used if experts else 0,
        expert_params=used * _params(arch, Group.ROUTED_EXPERTS),
        shared_params=_params(arch, Group.ATTENTION, Group.SHARED_EXPERTS, Group.ROUTER),
        layers=arch.layers,
        hidden=arch.hidden,
        intermediate=next(widths, 0),
        vocab=arch.vocab,
        file_bytes=model.file_bytes,
        gpu_read=sum(float(load.weights) for load in on_gpu),
        ram_read=float(in_ram.weights),
        cache_read=sum(float(load.kv) for load in loads),
        depth=depth,
        gpu_share=min(in_vram / model.bytes_without_table, 1.0),
        gpu_layers=(layers + (layers >= model.layers)) / (model.layers + 1) if gpu else 0.0,
        gpus=len(machine.gpus),
        gpu_vendor=gpu.vendor if gpu else "",
        gpu_unified=machine.unified,
        gpu_memory=float(gpu.memory.value) if gpu else 0.0,
        gpu_bandwidth=float(gpu.bandwidth.value) if gpu else 0.0,
        gpu_fp16=max(peaks.get("fp16", 0.0), peaks.get("fp32", 0.0)),
        gpu_fp32=peaks.get("fp32", 0.0),
        ram=float(host.bandwidth.value),
        ram_peak=ram_peak,
        cores=host.cores,
        arm=not host.instruction_sets.isdisjoint({"neon", "asimd"}),
        prompt=fresh,
        prompt_flops=sum(float(load.flops + load.expert_flops) for load in loads),
    )


@lru_cache(maxsize=256)
def _params(arch: Architecture, *groups: Group) -> float:
    return float(sum(tensor.params for tensor in arch.tensors if tensor.group in groups))
