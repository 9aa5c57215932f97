"""Serving engines on any machine: users, prompts, cards and caches, whatever the numbers."""

import math
from dataclasses import replace
from functools import cache
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.catalog.constants import Constants, Scope
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.uncertainty import of_few
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.catalog import GPUS
from advisor.machine.from_spec import machine
from advisor.machine.machine import Gpu, Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, MLX, SGLANG, TENSORRT_LLM, VLLM
from advisor.runtimes.compare import as_run
from advisor.units import GIB, Quantity

ENGINES = (VLLM, SGLANG, TENSORRT_LLM, LLAMA_CPP, MLX)
CARDS = (
    "H100 SXM", "H200 SXM", "B200", "A100 SXM 80GB", "MI300X", "L40S", "L4", "RTX 4090", "RTX 3090",
    "RTX 5060 Ti 16GB", "RTX PRO 6000 Blackwell", "T4", "Arc Pro B60", "Radeon AI PRO R9700",
    "Apple M2 Ultra 76c",
)  # fmt: skip
NVLINKED = ("H100 SXM", "H200 SXM", "B200", "A100 SXM 80GB")
MODELS = (
    "Qwen3-0.6B", "Llama-3.1-8B", "Qwen3-32B", "Llama-3.3-70B", "Qwen3-30B-A3B", "gpt-oss-120b",
    "DeepSeek-V3", "Qwen3.5-35B-A3B", "gemma-4-26B-A4B",
)  # fmt: skip
FORMATS = ("BF16-hf", "FP8", "NVFP4", "AWQ", "Q4_K_M", "Q8_0")
ROOM = 60_000.0
"""Memory of each card, so that all fits: placement is no part of these comparisons [GiB]."""

WIDEST = 5.0
"""Upper over lower end of a serving engine's range: on GPUs that nobody else measured, experts, a
deep context, several users. An engine that few publishers timed has it to the power of Student's
factor (`of_few`)."""

engines = st.sampled_from(ENGINES)
cards = st.sampled_from(CARDS)
names = st.sampled_from(MODELS)
forms = st.sampled_from(FORMATS)
users = st.integers(1, 256)
lengths = st.integers(1_000, 128_000)
many = settings(max_examples=150, deadline=None)


def roomy(spec: MachineSpec) -> Machine:
    """Machine whose cards have `ROOM`, more than can be typed."""
    where = machine(spec)
    gpus = (replace(gpu, memory=Quantity.given(ROOM * GIB)) for gpu in where.gpus)
    return replace(where, gpus=tuple(gpus))


def answer(
    engine: Runtime, name: str, form: str, card: str, work: Workload, count: int = 1
) -> Estimate | None:
    """Estimate with all weights on the cards; None where the engine does not run it there."""
    where = roomy(MachineSpec(gpu=card, gpu_count=count, ram_gb=4096))
    try:
        model = as_run(catalog.model(name, form), engine, where)
    except Refusal:
        return None
    strategy = engine.strategies[0]
    assert strategy is PlacementStrategy.GPU_RESIDENT
    result = estimate(model, where, work, engine, strategy, Constants.fitted())
    if result.refusal:
        return None
    return result


def each(estimated: Estimate | None) -> float | None:
    """Speed of each user [tokens/s]."""
    if estimated is None or estimated.decode_tps is None:
        return None
    return float(estimated.decode_tps)


def first(estimated: Estimate | None) -> float | None:
    """Time to the first token [s]."""
    if estimated is None or estimated.prompt is None:
        return None
    return float(estimated.prompt.total)


def request(users: int, prompt: int, kv_type: str = "f16") -> Workload:
    """A request of so many users, with room for a reply."""
    return Workload(users=users, prompt=prompt, output=256, context=prompt + 256, kv_type=kv_type)


@many
@given(engines, names, forms, cards, users, users, lengths)
def test_more_users_are_never_faster_each(
    engine: Runtime, name: str, form: str, card: str, some: int, other: int, prompt: int
) -> None:
    few, more = sorted((some, other))
    speeds = [each(answer(engine, name, form, card, request(n, prompt))) for n in (few, more)]
    if None not in speeds:
        assert speeds[1] <= speeds[0] * (1 + 1e-9)


@many
@given(engines, names, forms, cards, users, lengths, lengths)
def test_a_longer_prompt_is_never_read_sooner(
    engine: Runtime, name: str, form: str, card: str, several: int, some: int, other: int
) -> None:
    short, long = sorted((some, other))
    times = [first(answer(engine, name, form, card, request(several, n))) for n in (short, long)]
    if None not in times:
        assert times[1] >= times[0] * (1 - 1e-9)


@many
@given(engines, names, forms, cards, users, lengths, lengths)
def test_a_longer_context_is_never_faster(
    engine: Runtime, name: str, form: str, card: str, several: int, some: int, other: int
) -> None:
    short, long = sorted((some, other))
    speeds = [each(answer(engine, name, form, card, request(several, n))) for n in (short, long)]
    if None not in speeds:
        assert speeds[1] <= speeds[0] * (1 + 1e-9)


@many
@given(
    st.sampled_from((VLLM, SGLANG, TENSORRT_LLM)),
    st.sampled_from(("Qwen3-32B", "Llama-3.3-70B", "gpt-oss-120b", "DeepSeek-V3")),
    st.sampled_from(("BF16-hf", "FP8")),
    st.sampled_from(NVLINKED),
    users,
    lengths,
)
def test_a_second_card_with_a_link_is_never_slower_together(
    engine: Runtime, name: str, form: str, card: str, several: int, prompt: int
) -> None:
    """Of models whose halved reads outweigh two sums in each layer."""
    answers = [answer(engine, name, form, card, request(several, prompt), n) for n in (1, 2)]
    if None not in answers:
        alone, two = (float(each(answered) * answered.work.users) for answered in answers)
        assert two >= alone


@cache
def pairs() -> tuple[tuple[str, str], ...]:
    """Cards of NVIDIA's and others that are no worse, with its links."""
    known = {
        name: roomy(MachineSpec(gpu=name)).gpus[0]
        for name, row in GPUS.rows().items()
        if row.vendor == "NVIDIA" and not row.unified
    }
    return tuple(
        (better, worse)
        for better, worse in permutations(known, 2)
        if no_worse(known[better], known[worse])
    )


def no_worse(card: Gpu, other: Gpu) -> bool:
    """A card has at least what another has of everything that its datasheet states."""
    links = [
        (gpu.peer.value if gpu.peer else 0.0, float(gpu.peer_access), gpu.link.pinned.value)
        for gpu in (card, other)
    ]
    rates = [gpu.bandwidth.value for gpu in (card, other)]
    peaks = [(card.tensor_flops.get(kind, 0.0), peak) for kind, peak in other.tensor_flops.items()]
    every = [tuple(rates), *peaks, *zip(*links, strict=True)]
    return all(own >= its for own, its in every)


@many
@given(
    st.sampled_from((VLLM, SGLANG, TENSORRT_LLM)),
    names,
    forms,
    st.sampled_from((1, 2, 4, 8)),
    users,
    lengths,
    st.data(),
)
def test_a_card_that_is_no_worse_is_never_slower(
    engine: Runtime,
    name: str,
    form: str,
    count: int,
    several: int,
    prompt: int,
    data: st.DataObject,
) -> None:
    better, worse = data.draw(st.sampled_from(pairs()))
    answers = [
        answer(engine, name, form, card, request(several, prompt), count)
        for card in (better, worse)
    ]
    if None in answers or answers[0].model.format != answers[1].model.format:
        return
    fast, slow = (each(result) for result in answers)
    assert fast >= slow * 0.999
    assert first(answers[0]) <= first(answers[1]) * 1.001


@many
@given(engines, names, forms, cards, users, lengths)
def test_a_smaller_cache_is_never_slower_where_the_backend_has_a_kernel_for_it(
    engine: Runtime, name: str, form: str, card: str, several: int, prompt: int
) -> None:
    """Without one, attention unpacks the cache anew for each token: that was measured to be slower
    than 16 bits (data/runtimes/cache_kernels.csv), and each row says so in a sentence.
    """
    if not engine.quantized_kv_type:
        return
    plain = answer(engine, name, form, card, request(several, prompt))
    packed = answer(engine, name, form, card, request(several, prompt, engine.quantized_kv_type))
    if plain is None or packed is None:
        return
    if packed.slow_cache is not None:
        assert packed.slow_cache.told_of(packed.work)
        return
    assert each(packed) >= each(plain) * (1 - 1e-9)


def widest(engine: Runtime) -> float:
    """Upper over lower end of the widest range of an engine."""
    constants = Constants.fitted().bound(Scope(runtime=engine.engine))
    return WIDEST ** float(of_few(constants.value("engine_publishers")))


@many
@given(engines, names, forms, cards, users, lengths)
def test_every_answer_is_a_positive_number_in_its_range(
    engine: Runtime, name: str, form: str, card: str, several: int, prompt: int
) -> None:
    result = answer(engine, name, form, card, request(several, prompt))
    if result is None or result.decode is None or result.first_token is None:
        return
    for shown in (result.decode, result.first_token):
        low, value, high = (float(end) for end in (shown.low, shown.value, shown.high))
        assert 0 < low <= value <= high < math.inf
        assert engine in (LLAMA_CPP, MLX) or high <= widest(engine) * low
