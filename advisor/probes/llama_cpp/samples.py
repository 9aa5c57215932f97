"""Sample models for timing an engine, each isolating one cost of a token."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from advisor.errors import AdvisorError, ProbeError
from advisor.model.model import Model
from advisor.model.spec import ArchitectureSpec
from advisor.probes.host.inventory import HostFacts
from advisor.probes.llama_cpp.synthetic_model import Synthetic, in_format, in_type
from advisor.units import MIB

FIRST_TYPE = "Q4_K"
"""Storage type of the samples that separate the costs of layers from those of bytes."""
WIDE, NARROW, ATTENDING, EXPERTS = "wide", "narrow", "attending", "experts"
PLAIN, OWN = "plain", "own"
VOCAB = 1024
PROMPT = 128
"""Length of the timed prompts [tokens]."""
SHALLOW, DEEP = 16, 1280
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
LEAST_BYTES, MOST_BYTES = int(256 * MIB), int(1024 * MIB)
UNKNOWN_LLC = int(32 * MIB)
BETWEEN = 4
"""Samples between two turns of the first one."""
PARTS = 10
"""Free memory over a sample's weights: an engine that repacks weights holds them twice, and both
copies with its buffers are to stay within a quarter."""

_WIDE = ArchitectureSpec(
    name=WIDE, layers=1, hidden=4096, intermediate=14336, heads=32, kv_heads=8, head_dim=128,
    vocab=VOCAB,
)  # fmt: skip
_NARROW = ArchitectureSpec(
    name=NARROW, layers=24, hidden=1024, intermediate=3072, heads=16, kv_heads=8, head_dim=64,
    vocab=VOCAB,
)  # fmt: skip
_EXPERTS = ArchitectureSpec(
    name=EXPERTS, layers=3, hidden=2048, moe_intermediate=1024, experts=16, experts_per_token=4,
    heads=16, kv_heads=16, head_dim=128, vocab=VOCAB,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One model to time."""

    role: str  # cost that it isolates
    kind: str  # storage type of its matrices; for attention, head size and heads per key
    model: Model  # model for the cost formulas
    # description for writing the file; None for a file of the user
    synthetic: Synthetic | None = None
    depths: tuple[int, ...] = (SHALLOW,)  # lengths of the cache at which tokens are timed [tokens]
    prompt: int = 0  # length of the timed prompt; 0 for none [tokens]


def samples(facts: HostFacts) -> Sequence[Sample]:
    """All samples, most important first, with the first again after every few others and at the
    end: the costs of all others depend on it, and its times show how the machine's speed changes.

    Raises:
        ProbeError: less than 2.5 GiB of memory is free.
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
    groups = (others[place : place + BETWEEN] for place in range(0, len(others), BETWEEN))
    return (wide[0], *(sample for group in groups for sample in (*group, wide[0])))


def samples_with(model: Model) -> Sequence[Sample]:
    """The user's model before and after a sample that separates the cost of its layers."""
    own = Sample(role=OWN, kind=model.format, model=model, prompt=PROMPT)
    try:
        written = in_format(_NARROW, model.format)
    except AdvisorError:
        return (own,)
    narrow = Sample(role=NARROW, kind=model.format, model=written.model, synthetic=written)
    return (own, narrow, own)


def sample_bytes(facts: HostFacts) -> int:
    """Weights of a wide sample: larger than every cache, within a tenth of free memory [B].

    Raises:
        ProbeError: less than 2.5 GiB of memory is free.
    """
    most = facts.memory_available // PARTS
    if most < LEAST_BYTES:
        raise ProbeError(
            f"The engine probe needs {PARTS * LEAST_BYTES / MIB:.0f} MiB of free memory and "
            f"{facts.memory_available / MIB:.0f} MiB is free; close other programs and try again."
        )
    return min(most, MOST_BYTES, max(LEAST_BYTES, CACHES * (facts.llc or UNKNOWN_LLC)))


def _sample(role: str, kind: str, facts: ArchitectureSpec) -> Sample:
    written = in_type(facts, kind)
    return Sample(role=role, kind=kind, model=written.model, synthetic=written)


def _attending(head_dim: int, heads: int, kv_heads: int) -> Sample:
    facts = ArchitectureSpec(
        name=ATTENDING, layers=4, hidden=256, intermediate=256, heads=heads, kv_heads=kv_heads,
        head_dim=head_dim, vocab=VOCAB,
    )  # fmt: skip
    kind = f"{head_dim}_{heads // kv_heads}"
    return replace(_sample(ATTENDING, "Q8_0", facts), kind=kind, depths=(SHALLOW, DEEP))


def _wide(kind: str, size: int) -> Sample:
    """Number of wide layers in a size, at least one."""
    layer = float(in_type(_WIDE, kind).model.layer_bytes[0])
    layers = max(1, int(size / layer))
    return replace(_sample(WIDE, kind, replace(_WIDE, layers=layers)), prompt=PROMPT)
