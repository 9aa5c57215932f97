"""Load of one pass over the layers: bytes read and FLOPs at each location of a placement."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from advisor.cost_model.placement import Location, Placement, by_share
from advisor.cost_model.workload import Workload
from advisor.model.architecture import Group
from advisor.model.expert_use import USUAL
from advisor.model.model import Model, visits_of
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class ForwardPass:
    """One pass over the layers."""

    tokens: Array  # tokens computed, all sequences together [tokens]
    sequences: Array  # sequences, each with a cache of its own
    depth: Array  # length of each cache [tokens]
    kv_type: str  # format of the cache
    shared_with: Array = 0.0  # others in the same cache, which attention goes through masked
    flash_attention: bool = True  # scores of attention are never written to memory
    variety: float = USUAL  # variety of each sequence's text, 0 to 1
    astray: Array = 0.0  # tokens drafted and rejected, which do not belong to the text

    def touched(self, model: Model) -> Array:
        """Share of a layer's routed experts that the pass reads for its tokens."""
        share = model.expert_share(self.tokens - self.astray, self.sequences, self.variety)
        if not np.any(self.astray):
            return share
        return np.asarray(1.0 - (1.0 - share) * (1.0 - model.expert_share(self.astray)))


MicroBatches = tuple[ForwardPass, Array, Array]
"""An equal micro-batch, the number of them, and the size of the first over that of an equal one."""
STARTED = (
    "layers", "matrices", "expert_layers", "state_layers", "scan_layers", "stream_layers",
    "latent_layers",
)  # fmt: skip
"""Fields of a load that count kernels of layers, which each GPU that shares a layer starts."""
OF_THE_STEP = ("tokens", "sequence_tokens", "per_expert", "shared_with")
"""Fields of a load that describe the step as a whole: they are not added or scaled."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """Bytes that a step reads at one location, and its work on them."""

    tokens: Array  # tokens computed in the step, all sequences together [tokens]
    sequence_tokens: Array  # tokens of one sequence in the step [tokens]
    weights: Array  # weights read, routed experts included [B]
    experts: Array  # routed experts read [B]
    kv: Array  # cache read [B]
    flops: Array  # work on dense weights [FLOP]
    attention_flops: Array  # work on the cache [FLOP]
    expert_flops: Array  # work on routed experts [FLOP]
    layers: Array  # number of repeating layers computed there, as frameworks start them
    # the same as llama.cpp starts them, by their matrices: a layer with Llama's seven counts 1
    matrices: Array
    expert_layers: Array  # number of layers with routed experts there
    state_layers: Array  # number of layers with a state (linear attention, state space) there
    per_expert: Array = 0.0  # tokens per routed expert that is read [tokens]
    shared_with: Array = 0.0  # other sequences in the same cache
    scan_layers: Array = 0.0  # those of them with the state of a state space
    stream_layers: Array = 0.0  # number of layers with several residual streams there
    latent_layers: Array = 0.0  # number of layers with a latent cache there
    latent_values: Array = 0.0  # values of the heads in the spaces of latent caches there
    scores: Array = 0.0  # scores of attention that are written to memory; none with flash attention

    def __add__(self, other: "Load") -> "Load":
        """Sum of two loads of the same step on the same processor."""
        further = vars(other)
        return self._with(lambda name, here: here + further[name])

    def times(self, share: Array) -> "Load":
        """Load of which all amounts are multiplied by a share, 0 to 1."""
        return self._with(lambda _, here: here * share)

    @property
    def routed(self) -> "Load":
        """Part of this load that belongs to routed experts."""
        mine = {"weights": self.experts, "experts": self.experts}
        mine |= {"expert_flops": self.expert_flops, "expert_layers": self.expert_layers}
        return self._with(lambda name, _: mine.get(name, 0.0))

    def _with(self, amount: Callable[[str, Array], Array]) -> "Load":
        """Load of the same step with other amounts, which a function makes of the present ones."""
        return Load(
            **{
                name: here if name in OF_THE_STEP else amount(name, here)
                for name, here in vars(self).items()
            }
        )


def prompt_step(work: Workload) -> ForwardPass:
    """Prompts of all users in one pass."""
    users = np.asarray(work.users, dtype=float)
    return ForwardPass(
        tokens=np.maximum(work.fresh, 1) * users,
        sequences=users,
        depth=(np.asarray(work.prompt) + work.cached) / 2,  # of a mean token: cached to prompt
        kv_type=work.kv_type,
        shared_with=users - 1.0 if work.unified_cache else 0.0,
        flash_attention=work.flash_attention,
        variety=work.variety,
    )


def token_step(work: Workload) -> ForwardPass:
    """Decoding step: a token for each user, and the drafted tokens that the step verifies."""
    prompts = prompt_step(work)
    checked = 1.0 + np.asarray(work.drafted)
    return replace(
        prompts,
        tokens=prompts.sequences * checked,
        astray=prompts.sequences * (checked - work.tokens_per_step),
        depth=work.decode_depth,
    )


def micro_batches(work: Workload) -> MicroBatches:
    """Micro-batches of all users' prompts, as if all were equal: size and number.

    The third value is the size of the first micro-batch, which is full, over the size of an equal
    one.
    """
    whole = prompt_step(work)
    count = np.ceil(whole.tokens / work.ubatch)
    equal = whole.tokens / count
    first = np.minimum(whole.tokens, work.ubatch) / equal
    return replace(whole, tokens=equal, sequences=1.0), count, first


def with_short_last(work: Workload, few: float) -> tuple[MicroBatches, MicroBatches]:
    """Micro-batches of all users' prompts, with a last one of fewer than `few` tokens counted
    apart.

    Prompts without so short a last one have micro-batches of equal size.
    """
    whole = prompt_step(work)
    left = np.where(whole.tokens > work.ubatch, whole.tokens % work.ubatch, 0.0)
    short = np.where(left < few, left, 0.0)
    count = np.ceil((whole.tokens - short) / work.ubatch)
    equal = (whole.tokens - short) / count
    first = np.minimum(whole.tokens, work.ubatch) / equal
    times = np.where(short > 0, 1.0, 0.0)
    last = replace(whole, tokens=np.maximum(short, 1.0), sequences=1.0)
    return (replace(whole, tokens=equal, sequences=1.0), count, first), (last, times, times)


def cut_batches(work: Workload, tail: float) -> tuple[MicroBatches, MicroBatches]:
    """Micro-batches before the last cut of a prompt, and one of the `tail` tokens behind it.

    llama.cpp's server cuts a prompt twice, where it saves a checkpoint: `tail` tokens before the
    end, and a micro-batch before that. The first part is as `micro_batches` gives it, but that no
    micro-batch crosses the earlier cut; a prompt of up to `tail` tokens is not cut, so its second
    part has a number of 0.
    """
    whole = prompt_step(work)
    users = whole.sequences
    fresh = whole.tokens / whole.sequences
    longer = np.where(fresh > tail, 1.0, 0.0)
    before = fresh - longer * tail
    near = np.minimum(before, work.ubatch)
    far = np.ceil(users * (before - near) / work.ubatch)
    count = far + np.ceil(users * near / work.ubatch)
    equal = users * before / count
    first = np.minimum(users * before, work.ubatch) / equal
    last = replace(whole, tokens=users * tail, depth=np.asarray(work.prompt, dtype=float))
    return (replace(whole, tokens=equal, sequences=1.0), count, first), (last, longer, longer)


def held_parts(model: Model, placement: Placement, location: Location) -> Load:
    """Load of one token that reads all parts at a location, without its cache; kept with the
    placement.
    """
    cached = placement.sums.get(location)
    if cached is None or cached[0] is not model:
        cached = placement.sums[location] = model, _held_parts(model, placement, location)
    load: Load = cached[1]
    return load


def _held_parts(model: Model, placement: Placement, location: Location) -> Load:
    shares = dict(placement.weights.get(location, {}))
    nothing = np.zeros(model.layers)
    norms = shares.get(Group.NORMS, nothing)  # a layer counts where its norms lie, experts or not
    routed = shares.pop(Group.ROUTED_EXPERTS, nothing)
    head = placement.output.get(location, 0.0)
    per_layer = model.per_layer
    visits = visits_of(model.architecture)  # a layer is read at each of them
    weights = head * model.output
    flops = head * model.output_flops
    for share, groups in by_share(shares):
        layer_bytes, work = model.together(groups)
        weights = weights + np.vecdot(share * visits, layer_bytes)
        flops = flops + share @ work
    return Load(
        tokens=1.0,
        sequence_tokens=1.0,
        weights=np.asarray(weights),
        experts=np.vecdot(routed * visits, model.bytes_per_layer[Group.ROUTED_EXPERTS]),
        kv=0.0,
        flops=flops,
        attention_flops=0.0,
        expert_flops=routed @ per_layer.flops[Group.ROUTED_EXPERTS],
        layers=norms @ per_layer.blocks,
        matrices=norms @ per_layer.matrices,
        expert_layers=routed @ per_layer.expert_layers,
        state_layers=norms @ per_layer.state_layers,
        scan_layers=norms @ per_layer.scan_layers,
        stream_layers=norms @ per_layer.stream_layers,
        latent_layers=norms @ per_layer.latent,
        latent_values=norms @ per_layer.latent_values,
    )


def step_load(model: Model, placement: Placement, location: Location, step: ForwardPass) -> Load:
    """Load of a step at a location that holds parts of the model."""
    parts = held_parts(model, placement, location)
    touched = step.touched(model)
    experts = parts.experts * touched
    cache = placement.kv.get(location, np.zeros(model.layers))
    per_layer = model.per_layer
    attended = np.minimum(np.asarray(step.depth, dtype=float)[..., None], per_layer.windows)
    attention = np.vecdot(cache * per_layer.attention_flops, attended)
    if step.flash_attention:
        scores = 0.0
    else:
        scores = np.vecdot(cache * per_layer.query_heads, attended)
    return replace(
        parts,
        tokens=step.tokens,
        sequence_tokens=np.asarray(step.tokens) / np.maximum(step.sequences, 1.0),
        weights=experts + parts.weights,
        experts=experts,
        kv=np.vecdot(cache, model.kv_bytes(step.depth, step.kv_type)) * step.sequences,
        flops=parts.flops * step.tokens,
        attention_flops=attention * step.tokens,
        expert_flops=parts.expert_flops * step.tokens,
        scores=scores * step.tokens,
        per_expert=_per_expert(model, step, touched),
        shared_with=step.shared_with,
    )


def _per_expert(model: Model, step: ForwardPass, touched: Array) -> Array:
    """Mean number of tokens for each routed expert that a step reads: tokens used / (all touched)
    [tokens].
    """
    experts = model.architecture.experts
    if experts is None:
        return 0.0
    chosen = np.asarray(step.tokens, dtype=float) * experts.used
    return chosen / (experts.total * touched)
