"""Sample models for timing an engine, each isolating one cost of a token."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from advisor.errors import AdvisorError
from advisor.model.architecture import ArchitectureSpec, Group
from advisor.model.model import Model
from advisor.probes.host import HostFacts
from advisor.probes.llama_cpp.job import Timings
from advisor.probes.llama_cpp.synthetic_model import Synthetic, in_format, in_type
from advisor.probes.measurement import within_free
from advisor.units import MIB

FIRST_TYPE = "Q4_K"
"""Storage type of the samples that separate the costs of layers from those of bytes."""
WIDE = "wide"
NARROW = "narrow"
ATTENDING = "attending"
EXPERTS = "experts"
PLAIN = "plain"
OWN = "own"
VOCAB = 1024
PROMPT = 128  # length of the timed prompts [tokens]
SHALLOW = 16
DEEP = 1280
"""Lengths of the cache at which tokens are timed; the deep one takes a second or two to fill
[tokens]."""
HEADS = ((128, 32, 8), (64, 32, 8), (64, 32, 4), (128, 16, 16), (64, 16, 16))
"""Head size, query heads and key heads of the samples for attention: small and usual heads, with
keys shared by several heads or not. Small heads are timed with as many key heads as small
models have: the keys of a token are contiguous, so those of one head are scattered between
the others'."""
CACHES = 4
"""Bytes read per token over the last-level cache, large enough that few remain from the last
token."""
LEAST_BYTES = int(256 * MIB)
MOST_BYTES = int(1024 * MIB)
UNKNOWN_LLC = int(32 * MIB)
BETWEEN = 4  # samples between two turns of the first one
PARTS = 10
"""Free memory over a sample's weights: an engine that repacks weights holds them twice, and both
copies with its buffers are to stay within a quarter."""

_WIDE = ArchitectureSpec(
    name=WIDE,
    layers=1,
    hidden=4096,
    intermediate=14336,
    heads=32,
    kv_heads=8,
    head_dim=128,
    vocab=VOCAB,
)
_NARROW = ArchitectureSpec(
    name=NARROW,
    layers=24,
    hidden=1024,
    intermediate=3072,
    heads=16,
    kv_heads=8,
    head_dim=64,
    vocab=VOCAB,
)
_EXPERTS = ArchitectureSpec(
    name=EXPERTS,
    layers=3,
    hidden=2048,
    moe_intermediate=1024,
    experts=16,
    experts_per_token=4,
    heads=16,
    kv_heads=16,
    head_dim=128,
    vocab=VOCAB,
)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Model to time."""

    role: str  # cost that it isolates
    kind: str  # storage type of its matrices; for attention, head size and heads per key
    model: Model  # model for the cost formulas
    # description for writing the file; None for a file of the user
    synthetic: Synthetic | None = None
    depths: tuple[int, ...] = (SHALLOW,)  # lengths of the cache at which tokens are timed [tokens]
    prompt: int = 0  # length of the timed prompt; 0 for none [tokens]


def samples(facts: HostFacts) -> Sequence[Sample]:
    """Samples to time, the most important first.

    The first one comes again after every few others and at the end: the costs of all others depend
    on it, and its times show how the machine's speed changes.
    """
    size = sample_bytes(facts)
    wide = [_wide(kind, size) for kind in (FIRST_TYPE, "Q8_0", "Q6_K", "Q4_0", "F16")]
    attending = [_attending(*heads) for heads in HEADS]
    narrow = _sample(NARROW, FIRST_TYPE, _NARROW)
    others = (
        narrow,
        attending[0],
        wide[1],
        attending[1],
        wide[2],
        _sample(EXPERTS, FIRST_TYPE, _EXPERTS),
        *wide[3:],
        *attending[2:],
        *(replace(sample, role=PLAIN, prompt=0) for sample in (wide[0], wide[3])),
        narrow,
    )
    groups = (others[first : first + BETWEEN] for first in range(0, len(others), BETWEEN))
    return (wide[0], *(sample for group in groups for sample in (*group, wide[0])))


def samples_with(model: Model) -> Sequence[Sample]:
    """User's model, a sample that tells the cost of its layers, and the model again."""
    given = Sample(role=OWN, kind=model.format, model=model, prompt=PROMPT)
    try:
        written = in_format(_NARROW, model.format)
    except AdvisorError:
        return (given,)
    narrow = Sample(role=NARROW, kind=model.format, model=written.model, synthetic=written)
    return (given, narrow, given)


def sample_bytes(facts: HostFacts) -> int:
    """Weights of a wide sample: larger than every cache, within a tenth of free memory [B]."""
    wanted = min(MOST_BYTES, max(LEAST_BYTES, CACHES * (facts.llc or UNKNOWN_LLC)))
    need = "The engine probe needs"
    free = facts.memory_available
    return within_free(need, free, 1 / PARTS, LEAST_BYTES, wanted)


def _sample(role: str, kind: str, facts: ArchitectureSpec) -> Sample:
    written = in_type(facts, kind)
    return Sample(role=role, kind=kind, model=written.model, synthetic=written)


def _attending(head_dim: int, heads: int, kv_heads: int) -> Sample:
    facts = ArchitectureSpec(
        name=ATTENDING,
        layers=4,
        hidden=256,
        intermediate=256,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        vocab=VOCAB,
    )
    kind = f"{head_dim}_{heads // kv_heads}"
    return replace(_sample(ATTENDING, "Q8_0", facts), kind=kind, depths=(SHALLOW, DEEP))


def _wide(kind: str, size: int) -> Sample:
    """Number of wide layers in a size, at least one."""
    layer = float(in_type(_WIDE, kind).model.layer_bytes[0])
    layers = max(1, int(size / layer))
    return replace(_sample(WIDE, kind, replace(_WIDE, layers=layers)), prompt=PROMPT)


# Costs of bytes, layers, attention and experts, separated from the times of samples.
#
# t = W / S + layers tau + F_a / C_a + expert layers tau_e
#
# W is the weights read for a token, F_a its work on the cache. The wide and the narrow sample of a
# storage type differ in bytes per layer, which gives S and tau; two depths of a sample give C_a,
# which depends on the head size and on the number of heads that share a key.

FEED_FORWARD = (Group.DENSE_FFN, Group.SHARED_EXPERTS, Group.ROUTED_EXPERTS)
MIDDLE = (10, 90)  # percentiles between which tokens are called usual
Timed: TypeAlias = Mapping[tuple[str, str], tuple[Sample, Timings]]
"""Samples and their times by role and kind."""


class Cost(NamedTuple):
    """Cost of the engine that the times of samples determine."""

    name: str  # as `Measurement.name`
    value: float  # value in `unit`
    unit: str  # SI unit
    spread: float  # half the range of the central repeats over their median


def costs(timed: Timed) -> tuple[Cost, ...]:
    """Costs that the timed samples determine; results at or below zero are omitted."""
    return tuple(cost for cost in _costs(timed) if cost.value > 0)


def _costs(timed: Timed) -> Iterator[Cost]:
    usual = 0.0  # speed on the cache
    for (role, kind), (sample, times) in timed.items():
        if role == ATTENDING:
            speed = _attention(sample, times)
            spread = usual_spread(times.token_seconds[DEEP])
            usual = max(usual, speed)
            yield Cost(f"engine_attention_{kind}", speed, "FLOP/s", spread)
    layer = _layer(timed, usual)
    rates: dict[str, float] = {}
    for (role, kind), (sample, times) in timed.items():
        spread = usual_spread(times.token_seconds[SHALLOW])
        if role == NARROW:
            yield Cost("engine_layer", layer, "s", spread)
        if role in (WIDE, OWN, PLAIN):
            left = _without(sample, times, usual) - sample.model.layers * layer
            rate = sample.model.read_bytes_per_token / left if left > 0 else 0.0
            what = "plain" if role == PLAIN else "read"
            yield Cost(f"engine_{what}_{kind.casefold()}", rate, "B/s", spread)
            rates |= {kind: rate} if role == WIDE else {}
        if times.prompt_rates:
            yield _prompt(sample, times.prompt_rates)
    if (EXPERTS, FIRST_TYPE) in timed and rates.get(FIRST_TYPE, 0.0) > 0:
        yield _experts(*timed[EXPERTS, FIRST_TYPE], rates[FIRST_TYPE], layer, usual)


def _attention(sample: Sample, times: Timings) -> float:
    """Speed of attention, from the further time of a deeper cache [FLOP/s]; 0 without any."""
    longer = _token(times, DEEP) - _token(times, SHALLOW)
    per_token = float(np.sum(sample.model.per_layer.attention_flops))
    if longer > 0:
        return per_token * (DEEP - SHALLOW) / longer
    return 0.0


def _layer(timed: Timed, attention: float) -> float:
    """Fixed cost of a layer beside its bytes [s]; 0 where unknown.

    From W_1 / S + L_1 tau = t_1 and W_2 / S + L_2 tau = t_2, where S cancels out.
    """
    for (role, kind), (wide, wide_times) in timed.items():
        if role in (WIDE, OWN) and (NARROW, kind) in timed:
            narrow, narrow_times = timed[NARROW, kind]
            long = _without(wide, wide_times, attention)
            short = _without(narrow, narrow_times, attention)
            more = wide.model.read_bytes_per_token / narrow.model.read_bytes_per_token
            # The narrow one as many times as it has the bytes of the wide one: layers are left.
            layers = more * narrow.model.layers - wide.model.layers
            if layers > 0:
                return max((more * short - long) / layers, 0.0)
            return 0.0
    return 0.0


def _experts(sample: Sample, times: Timings, rate: float, layer: float, attention: float) -> Cost:
    model = sample.model
    left = _without(sample, times, attention) - model.layers * layer
    routed = float(np.sum(model.per_layer.expert_layers))
    extra = (left - model.read_bytes_per_token / rate) / routed
    return Cost("engine_expert_layer", extra, "s", usual_spread(times.token_seconds[SHALLOW]))


def _prompt(sample: Sample, rates: Sequence[float]) -> Cost:
    """Work on weights in a prompt: two operations per weight that a token passes through [FLOP].

    The last layer's feed-forward part and the output head are computed for the last token only.
    """
    work = sample.model.per_layer.flops
    skipped = sum(work[group][-1] for group in FEED_FORWARD)
    per_token = sum(float(np.sum(part)) for part in work.values()) - float(skipped)
    speed = per_token * statistics.median(rates)
    name = f"engine_prompt_{sample.kind.casefold()}"
    return Cost(name, speed, "FLOP/s", usual_spread(rates))


def _without(sample: Sample, times: Timings, attention: float) -> float:
    """Time of a token without attention to the shallow cache [s]."""
    work = float(np.sum(sample.model.per_layer.attention_flops)) * SHALLOW
    return _token(times, SHALLOW) - (work / attention if attention else 0.0)


def _token(times: Timings, depth: int) -> float:
    return statistics.median(times.token_seconds[depth])


def usual_spread(values: Sequence[float]) -> float:
    """Half the range of the central repeats over their median."""
    low, high = np.percentile(values, MIDDLE)
    return float(high - low) / (2.0 * statistics.median(values))
