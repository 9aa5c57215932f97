"""Random questions with one thing changed: better hardware is never slower, more work no cheaper.

The format is stated: left open, it is the maker's where that fits, so more memory can mean more
bytes.
`ADVISOR_FUZZ=2600 pytest tests/properties/test_one_thing_changed.py` asks more of them.
"""

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from random import Random

import pytest

from advisor.cost_model.arrangement import Arrangement
from advisor.cost_model.estimate import Estimate
from advisor.errors import AdvisorError
from advisor.machine.catalog import GPUS
from advisor.machine.from_catalog import gpu
from advisor.machine.rows import PEAKS, GpuRow
from advisor.request.request import Request
from advisor.runtimes import compare
from advisor.runtimes.llama_cpp.passes import COPY_TOKENS

COUNT = int(os.environ.get("ADVISOR_FUZZ", "25"))
ROUNDING = 0.995
"""Share of a speed below which it counts as slower."""
BATCHES = 0.97
"""The same for prompts: llama.cpp's kernels change with the tokens of a step, so that prompts of a
hundred tokens come up to 2.5 % sooner with a tenth more."""
NEARLY = 1 / Arrangement.WORTH
"""The same where GPUs can be arranged otherwise: all as one are kept up to that."""
A_LAYER = 0.8
"""The same where a layer lies on another card, or pages of the file make room for it."""


MODELS = (
    "Llama-3.1-8B", "Llama-3.1-70B", "Qwen3-30B-A3B", "Qwen3-32B", "gpt-oss-120b", "gpt-oss-20b",
    "DeepSeek-R1", "GLM-4.5-Air", "Qwen3-Next-80B-A3B", "Gemma 3 27B", "Mixtral-8x7B",
    "Qwen3-235B-A22B", "Phi-4", "Kimi-K2", "Qwen3-4B", "Nemotron-H-8B", "DeepSeek-V2-Lite",
)  # fmt: skip
CARDS = (
    "RTX 3060 12GB", "RTX 3090", "RTX 4090", "RTX 5090", "RTX 4060 Ti 16GB", "RTX 2080 Ti", "P40",
    "GTX 1080 Ti", "A100 80GB", "H100", "RX 7900 XTX", "RX 6800", "MI50 32GB", "Arc B580", "L40S",
    "Arc A770", "V100 32GB", "T4", "RTX A6000", "RTX 5060 Ti 16GB",
)  # fmt: skip


def no_worse(name: str, other: str) -> bool:
    """Whether a card has at least as much of all that datasheets state as another one of the same
    maker, and its driver leaves as much memory: that of an H100 leaves 0.07 GiB less than that of
    an A100, room for a layer's experts.
    """
    card, worse = (GPUS.rows()[GPUS.find(each).name] for each in (name, other))
    figures = ("bandwidth_gbs", *PEAKS)
    pairs = [(getattr(card, figure) or 0.0, getattr(worse, figure) or 0.0) for figure in figures]
    pairs.append((_link(card), _link(worse)))
    pairs.append((float(gpu(name).memory.value), float(gpu(other).memory.value)))
    return card.vendor == worse.vendor and all(has >= needs for has, needs in pairs)


def _link(row: GpuRow) -> float:
    return 2.0 ** (row.pcie_gen or 0) * (row.pcie_lanes or 0)


BETTER = {
    worse: [better for better in CARDS if better != worse and no_worse(better, worse)]
    for worse in CARDS
}
"""Cards with at least as much of all that datasheets state, by a worse one of the same maker."""
UNIFIED = ("Mac Studio M3 Ultra 256GB", "MacBook Pro M4 Max 64GB", "Strix Halo 128GB", "DGX Spark")
CPUS = (None, "Ryzen 9 7950X", "Core i5-12400", "EPYC 7763", "Ryzen 5 5600", "Xeon E5-2690 v4")


def questions(seed: str) -> Iterator[Request]:
    random = Random(seed)
    while True:
        request = Request(
            model=random.choice(MODELS),
            format=random.choice(("Q4_K_M", "Q4_K_M", "Q8_0", "Q6_K", "Q3_K_M")),
            context=random.choice((4096, 8192, 16384, 32768, 65536)),
            prompt=random.choice((16, 33, 100, 256, 500, 512, 600, 1000, 2000)),
            output=random.choice((64, 256)),
            users=random.choice((1, 1, 1, 2, 4, 8, 16)),
        )
        if random.random() < 0.1:
            yield replace(request, machine=random.choice(UNIFIED))
            continue
        cards = random.choices(CARDS, k=random.choice((1, 1, 1, 2, 2, 3, 4)))
        if random.random() >= 0.6:
            cards = cards[:1] * len(cards)
        yield replace(
            request,
            gpu=" + ".join(cards),
            ram_gb=random.choice((16, 32, 64, 128, 192, 256, 512)),
            cpu=random.choice(CPUS),
        )


def some(name: str) -> Iterator[Request]:
    """Every other question of those that all tests share: an answer serves several tests."""
    return islice(questions("one thing changed"), zlib.crc32(name.encode()) % 2, 2 * COUNT, 2)


@lru_cache(maxsize=100)
def placed(request: Request) -> tuple[Estimate, ...]:
    """Estimates that fit, of every runtime in every placement."""
    nouns = request.nouns()
    estimates = compare.compare(nouns.model, nouns.machine, nouns.work, settings=nouns.settings)
    return tuple(estimate for estimate in estimates if bool(estimate.fits))


def together(estimate: Estimate) -> float:
    """Tokens per second of all users who run."""
    assert estimate.decode_tps is not None
    return float(estimate.decode_tps) * float(estimate.work.users)


def sooner(estimate: Estimate) -> float:
    """First tokens a second of all users who run [1/s]: a server that holds more of them reads
    their prompts together.
    """
    assert estimate.first_token is not None
    return float(estimate.work.users) / float(estimate.first_token.value)


def best(estimates: Iterable[Estimate], by: Callable[[Estimate], float]) -> float:
    return max(map(by, estimates), default=0.0)


def worse(
    seed: str,
    change: Callable[[Request], Request],
    by: Callable[[Estimate], float],
    share: float = ROUNDING,
) -> list[str]:
    """Questions whose best answer is worse after a change that should do no harm."""
    harmed = []
    for request in some(seed):
        try:
            changed = change(request)
            if changed == request:
                continue
            before = placed(request)
            after = placed(changed)
        except AdvisorError:  # a model in no such format, a context beyond the model's own
            continue
        if best(after, by) < share * best(before, by):
            harmed.append(f"{best(before, by):.4g} to {best(after, by):.4g}: {request}")
    return harmed


def test_a_larger_memory_of_the_gpu_is_never_slower() -> None:
    def more(request: Request, factor: float) -> Request:
        gpus = request.nouns().machine.gpus
        if request.machine or len({gpu.name for gpu in gpus}) > 1:
            return request
        return replace(request, vram_gb=float(gpus[0].memory.value) / 2**30 * factor)

    for factor in (1.1, 1.9):
        assert worse(f"VRAM {factor}", lambda request, f=factor: more(request, f), together) == []


@pytest.mark.parametrize("by", [together, sooner])
def test_more_ram_is_never_slower(by: Callable[[Estimate], float]) -> None:
    def more(request: Request) -> Request:
        if request.machine:
            return request
        return replace(request, ram_gb=2 * float(request.ram_gb or 64))

    assert worse(f"RAM {by.__name__}", more, by) == []


def answers(estimate: Estimate) -> float:
    """Answers of all users who run in a second, as one stream [1/s]."""
    return compare.answers_per_second(estimate)


def test_a_second_card_is_never_slower() -> None:
    """Another card of the same kind, or of any: it can be left out, or serve users of its own."""

    def again(request: Request) -> Request:
        if request.machine:
            return request
        first = (request.gpu or "").split(" + ")[0]
        return replace(request, gpu=f"{request.gpu} + {first}")

    def of_any_kind(request: Request) -> Request:
        if request.machine:
            return request
        other = CARDS[zlib.crc32(repr(request).encode()) % len(CARDS)]
        return replace(request, gpu=f"{request.gpu} + {other}")

    assert worse("second card", again, answers, NEARLY) == []
    assert worse("any second card", of_any_kind, answers, NEARLY) == []


def test_a_better_card_is_never_slower() -> None:
    """A card with at least as much of all that datasheets state in place of a worse one."""

    def better(request: Request) -> Request:
        if request.machine:
            return request
        cards = (request.gpu or "").split(" + ")
        number = zlib.crc32(repr(request).encode())
        able = BETTER[cards[0]]
        if not able:
            return request
        other = able[number % len(able)]
        return replace(
            request, gpu=" + ".join(other if card == cards[0] else card for card in cards)
        )

    assert worse("better card", better, answers, NEARLY) == []


def in_equal_batches(estimate: Estimate) -> float:
    """The same without Ollama, which reads prompts in larger batches from a context of 4096 tokens
    on, and so sooner (`BATCHES` in `advisor/runtimes/llama_cpp/ollama.py`).
    """
    if estimate.runtime.key == "ollama":
        return 0.0
    return answers(estimate)


def test_a_longer_context_is_never_faster() -> None:
    """In answers, by which the arrangement of GPUs is chosen: copies side by side, for which a
    short cache alone leaves room, may write slower and read sooner. But for whole layers: of
    unlike cards the slower may hold the one that a shorter cache moves, and of one memory for all a
    layer more leaves fewer pages of a file that is read from a drive.
    """

    def shorter(request: Request) -> Request:
        return replace(request, context=request.context / 2)

    def of_a_kind(request: Request) -> Request:
        kinds = set((request.gpu or "").split(" + "))
        if request.machine or len(kinds) > 1:
            return request
        return shorter(request)

    assert worse("context", of_a_kind, in_equal_batches) == []
    assert worse("context of any", shorter, in_equal_batches, A_LAYER) == []


def test_a_longer_prompt_never_comes_sooner() -> None:
    """But for the step from which llama.cpp copies weights in RAM to the GPU: it is a fixed number
    of tokens, whether or not the copy is faster (`COPY_TOKENS`)."""

    def shorter(request: Request) -> Request:
        less = max(1, int(request.prompt / 1.1))
        copied = [tokens * request.users >= COPY_TOKENS for tokens in (less, request.prompt)]
        if copied[0] == copied[1]:
            return replace(request, prompt=less)
        return request

    assert worse("prompt", shorter, sooner, BATCHES) == []


def test_what_was_once_worse_with_half_the_context_or_twice_the_ram_is_not() -> None:
    """Questions of larger samples: splits that stopped a layer too early for unlike cards, a cache
    on the drive that emptied the RAM, pages of a file for which shared memory is free.
    """
    usual = Request(model="Qwen3-235B-A22B", format="Q6_K", ram_gb=192)
    halved = (
        replace(usual, gpu="A100 80GB + 2x V100 32GB + GTX 1080 Ti", context=16384, prompt=16),
        replace(usual, format="Q4_K_M", gpu="A100 80GB + RX 7900 XTX + RTX 2080 Ti", ram_gb=16,
                context=32768, users=8),
        Request(model="Qwen3-Next-80B-A3B", format="Q6_K", gpu="RTX 3060 12GB + RTX A6000",
                ram_gb=32, context=65536),
        Request(model="gpt-oss-120b", format="Q8_0", machine="Strix Halo 128GB", users=8),
    )  # fmt: skip
    for request in halved:
        before = placed(request)
        after = placed(replace(request, context=request.context / 2))
        assert best(after, together) >= ROUNDING * best(before, together) > 0, request
    cached = Request(
        model="Llama-3.1-70B",
        format="Q3_K_M",
        gpu="RTX 4060 Ti 16GB",
        cpu="Core i5-12400",
        ram_gb=32,
        context=65536,
        prompt=2000,
        output=64,
        users=8,
    )
    before = placed(cached)
    after = placed(replace(cached, ram_gb=64))
    assert best(after, together) >= ROUNDING * best(before, together) > 0


def test_more_ram_beside_a_fast_and_a_slow_card_never_delays_the_first_token() -> None:
    """With all GPUs as one the slower card made it 43 % later where more of the model fitted."""
    usual = Request(
        model="Llama-3.1-70B", format="Q6_K", gpu="H100 + T4", prompt=512, placement="gpu-resident"
    )
    firsts = [best(placed(replace(usual, ram_gb=size)), sooner) for size in (32, 64, 128, 256)]
    assert firsts == pytest.approx([firsts[0]] * len(firsts))
    anywhere = [
        best(placed(replace(usual, placement=None, ram_gb=size)), sooner)
        for size in (32, 64, 128, 256)
    ]
    assert anywhere == sorted(anywhere)


def test_the_order_in_which_cards_are_named_changes_nothing() -> None:
    for request in some("order"):
        turned = " + ".join(reversed((request.gpu or "").split(" + ")))
        if " + " not in turned:
            continue
        each = (placed(request), placed(replace(request, gpu=turned)))
        assert [tuple(map(together, estimates)) for estimates in each[:1]] == [
            tuple(map(together, estimates)) for estimates in each[1:]
        ], request


def test_a_range_contains_its_value() -> None:
    for request in some("ranges"):
        for estimate in placed(request):
            for figure in (estimate.decode, estimate.prefill, estimate.first_token):
                assert figure is not None
                assert float(figure.low) <= float(figure.value) <= float(figure.high), request


def test_a_fifth_card_like_one_of_four_unlike_ones_is_never_slower() -> None:
    """The best three of four were not tried beside a fifth."""
    usual = Request(model="gpt-oss-20b", format="Q6_K", ram_gb=512, context=16384, users=8)
    four = "RTX 3060 12GB + RX 6800 + RTX 4060 Ti 16GB + P40"
    before = placed(replace(usual, gpu=four))
    after = placed(replace(usual, gpu=f"{four} + RTX 3060 12GB"))
    assert best(after, answers) >= NEARLY * best(before, answers) > 0


def test_a_fifth_card_of_another_maker_is_never_slower() -> None:
    """The best two of five unlike cards, the first and third fastest, were not tried."""
    usual = Request(
        model="Mixtral-8x7B",
        format="Q4_K_M",
        cpu="EPYC 7763",
        ram_gb=128,
        context=65536,
        prompt=16,
        output=64,
        users=16,
    )
    four = "RTX 4090 + RTX 5060 Ti 16GB + V100 32GB + L40S"
    before = placed(replace(usual, gpu=four))
    after = placed(replace(usual, gpu=f"{four} + Arc A770"))
    assert best(after, answers) >= NEARLY * best(before, answers) > 0


def test_an_old_card_beside_a_new_one_leaves_the_machine_around_it_as_it_is() -> None:
    """The larger of the two, an MI50, put an RTX 4090 into a desktop with DDR4."""
    usual = Request(
        model="GLM-4.5-Air",
        format="Q6_K",
        gpu="RTX 4090",
        ram_gb=64,
        context=65536,
        users=2,
        output=64,
    )
    alone = usual.nouns().machine.host
    both = replace(usual, gpu="RTX 4090 + MI50 32GB").nouns().machine.host
    old = replace(usual, gpu="MI50 32GB").nouns().machine.host
    assert both.bandwidth.value == alone.bandwidth.value > old.bandwidth.value
