"""Arrangements of GPUs: fewer of them, or copies side by side, where all as one answer less."""

from dataclasses import replace

import pytest

from advisor.advice.advise import answer
from advisor.advice.arrivals.load import load_on
from advisor.advice.readers import readers
from advisor.cost_model.arrangement import Arrangement, fewer, side_by_side
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings, Tier
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine, network_named
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.request.request import Request
from advisor.runtimes import (
    IK_LLAMA_CPP,
    LLAMA_CPP,
    LLAMAFILE,
    LM_STUDIO,
    OLLAMA,
    TENSORRT_LLM,
    VLLM,
)
from advisor.runtimes.compare import answers_per_second, best_arranged, compare
from advisor.runtimes.remarks import remarks

IN_GPU = PlacementStrategy.GPU_RESIDENT
SMALL = catalog.model("Qwen3-4B", "Q4_K_M")
AWQ = catalog.model("Qwen3-4B", "AWQ")
USERS = Workload(users=16)


def cards(names: str, ram_gb: float = 64) -> Machine:
    return machine(MachineSpec(gpu=names, ram_gb=ram_gb))


TWO = cards("2x RTX 5090")
ONE = cards("RTX 5090")


def resident(where: Machine, runtime: Runtime, work: Workload, model: Model = SMALL) -> Estimate:
    """Estimate with the whole model in the GPUs, in the best arrangement."""
    every = compare(model, where, work, runtimes=(runtime,))
    return next(each for each in every if each.strategy is IN_GPU)


@pytest.mark.parametrize("runtime", [VLLM, LLAMA_CPP, OLLAMA])
def test_copies_are_each_one_card_with_its_share_of_the_users(runtime: Runtime) -> None:
    """16 users on two cards of 32 GB: a copy of 2.7 GB on each, with 8 of the users."""
    both = resident(TWO, runtime, USERS)
    single = resident(ONE, runtime, replace(USERS, users=8))
    assert both.arrangement is not None
    assert both.arrangement.copies == 2
    assert float(both.decode_tps) == pytest.approx(float(single.decode_tps))
    assert float(both.first_token_seconds) == pytest.approx(float(single.first_token_seconds))
    assert float(both.work.users) == 16
    # Eight prompts on each card take as long as eight on one: twice the tokens of both in a second.
    assert float(both.prefill.value) == pytest.approx(2 * float(single.prefill.value))
    each = [float(size) for size in both.held[Tier.VRAM]]
    assert each == pytest.approx([float(single.held[Tier.VRAM][0])] * 2)
    assert "2 copies side by side, each on 1 GPU (RTX 5090)" in both.format_note


def test_two_cards_answer_more_users_than_one() -> None:
    """What was asked first: 16 users of a small model had fewer tokens from two cards."""
    for runtime in (LLAMA_CPP, OLLAMA, VLLM):
        alone = resident(ONE, runtime, USERS)
        both = resident(TWO, runtime, USERS)
        assert answers_per_second(both) > Arrangement.WORTH * answers_per_second(alone)
        assert float(both.decode_tps) >= float(alone.decode_tps)


def test_each_copy_is_started_on_its_own_card_and_port() -> None:
    lines = resident(TWO, VLLM, USERS, AWQ).command.splitlines()
    servers = [line for line in lines if not line.startswith("#")]
    assert [line.split()[0] for line in servers] == [
        "CUDA_VISIBLE_DEVICES=0",
        "CUDA_VISIBLE_DEVICES=1",
    ]
    assert all("--max-num-seqs 8" in line and "parallel-size" not in line for line in servers)
    assert "--port" not in servers[0]
    assert servers[1].endswith("--port 8001")
    ollama = resident(TWO, OLLAMA, USERS).command
    assert "CUDA_VISIBLE_DEVICES=1 OLLAMA_HOST=127.0.0.1:11435 " in ollama


def test_an_app_that_runs_once_has_no_copies() -> None:
    assert resident(TWO, LM_STUDIO, USERS).arrangement is None


def test_a_slow_card_beside_a_fast_one_is_left_out_and_named() -> None:
    """A P40 reads 346 GB/s and an RTX 5090 1,792: taking turns, a token waits for the slow one."""
    both = resident(cards("RTX 5090 + P40"), LLAMA_CPP, Workload())
    alone = resident(ONE, LLAMA_CPP, Workload())
    assert float(both.decode_tps) == pytest.approx(float(alone.decode_tps))
    assert "On 1 of 2 GPUs (RTX 5090)" in both.format_note
    assert both.command.startswith("CUDA_VISIBLE_DEVICES=0 llama-server ")


def test_a_runtime_that_refuses_one_card_runs_on_the_others_and_says_why() -> None:
    """vLLM has no kernels for Pascal, of compute capability 6.1."""
    both = resident(cards("RTX 5090 + P40"), VLLM, Workload())
    assert float(both.decode_tps) > 0
    assert "With all of them: vLLM needs a GPU of compute capability 7.5" in both.format_note
    assert "P40" in both.format_note


def test_all_cards_as_one_are_kept_where_they_are_nearly_as_good() -> None:
    """A hand-over between two equal cards costs a hundredth of a token."""
    both = resident(TWO, LLAMA_CPP, Workload())
    alone = resident(ONE, LLAMA_CPP, Workload())
    assert both.arrangement is None
    assert (
        float(alone.decode_tps) / Arrangement.WORTH
        < float(both.decode_tps)
        <= float(alone.decode_tps)
    )


def test_a_card_of_another_maker_takes_no_answers_from_the_others() -> None:
    """vLLM is built for CUDA, ROCm or XPU: four cards of AMD answer as before beside an Arc."""
    model = catalog.model("DeepSeek-R1", "Q4_K_M")
    four, five = (
        compare(model, cards(names, 512), Workload(), runtimes=(VLLM,))
        for names in ("4x RX 7900 XTX", "4x RX 7900 XTX + Arc A770")
    )
    before = max(map(answers_per_second, four))
    assert max(map(answers_per_second, five)) == pytest.approx(before)
    note = max(five, key=answers_per_second).format_note
    assert "On 4 of 5 GPUs (RX 7900 XTX)" in note
    assert "vLLM runs on GPUs of one maker at a time, not on RX 7900 XTX and Arc A770" in note


def test_an_arrangement_may_load_a_format_that_loses_as_little() -> None:
    """An Arc has no kernels for experts in AWQ: of two cards one may load AWQ where both load GPTQ,
    but none a format that loses notably more.
    """
    whole = resident(cards("2x Arc Pro B60"), VLLM, Workload(), AWQ)
    faster = replace(whole, work=replace(whole.work, output=1))
    in_gptq = replace(whole, model=catalog.model("Qwen3-4B", "GPTQ"))
    in_16_bits = replace(whole, model=catalog.model("Qwen3-4B", "BF16-hf"))
    assert best_arranged(in_gptq, [faster]) is not in_gptq
    assert best_arranged(in_16_bits, [faster]) is in_16_bits


def test_copies_in_smaller_weights_do_not_stand_for_the_makers_own() -> None:
    """Two cards of 24 GB hold Qwen3-14B in the maker's 16 bits, one of them in four bits alone."""
    model = replace(catalog.model("Qwen3-14B", "Q4_K_M"), native="BF16-hf")
    both = resident(cards("2x RTX 3090"), VLLM, USERS, model)
    assert both.model.format == "BF16-hf"


@pytest.mark.parametrize(
    ("names", "another"),
    [
        ("RTX 4090 + RX 6800", "MI50 32GB"),
        ("Arc B580 + RTX 4060 Ti 16GB + GTX 1080 Ti", "MI50 32GB"),
        ("RX 6800 + RTX 5090 + 2x RTX 4060 Ti 16GB", "RX 6800"),
        ("3x RTX 3060 12GB + T4", "RX 6800"),
    ],
)
def test_the_cards_that_were_there_are_an_arrangement(names: str, another: str) -> None:
    """Neither the fastest nor the largest of all: each combination of a few is tried."""
    model = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    there = len(cards(names).gpus)
    every = list(fewer(cards(f"{names} + {another}")))
    assert any(
        each.part.cards == cards(names).cards for each in every if len(each.part.gpus) == there
    )
    before, after = (
        max(map(answers_per_second, compare(model, cards(each), USERS)))
        for each in (names, f"{names} + {another}")
    )
    assert after >= before / Arrangement.WORTH


def test_an_engine_for_one_makers_cards_gets_the_best_of_them() -> None:
    """Beside a faster card of another maker the two fastest of NVIDIA are tried, of five as of four
    cards.
    """
    four = "MI50 32GB + RTX 4090 + RTX A6000 + RTX 4060 Ti 16GB"
    for names in (four, f"{four} + RTX 4060 Ti 16GB"):
        used = [{gpu.name for gpu in each.part.gpus} for each in fewer(cards(names))]
        assert {"RTX 4090", "RTX A6000"} in used


def test_no_arrangement_leaves_out_the_better_of_two_cards() -> None:
    """A 4090 has more of everything than a 3090: the 3090 is used beside it or not at all."""
    used = [{gpu.name for gpu in each.part.gpus} for each in fewer(cards("RTX 3090 + RTX 4090"))]
    assert used == [{"RTX 4090"}]
    several = [each.groups[0] for each in fewer(cards("2x RTX 4090 + 2x RTX 3090"))]
    assert several == [(0,), (0, 1), (0, 1, 2)]


def test_cards_of_two_makers_are_each_left_out() -> None:
    """Kernels differ: an engine may take the slower card alone."""
    used = {
        tuple(gpu.name for gpu in each.part.gpus) for each in fewer(cards("RTX 4090 + RX 6800"))
    }
    assert used == {("RTX 4090",), ("RX 6800",)}


def test_cards_with_the_same_figures_under_two_names_are_one_or_the_other() -> None:
    first, second = cards("2x RTX 3090").gpus
    alike = replace(TWO, gpus=(first, replace(second, name="another 3090")))
    assert [each.groups for each in fewer(alike)] == [((0,),)]


def test_what_a_person_states_of_the_layers_is_kept() -> None:
    stated = Settings(gpu_layers=20)
    where = cards("RTX 5090 + P40")
    every = compare(SMALL, where, Workload(), settings=stated, runtimes=(LLAMA_CPP,))
    assert all(each.arrangement is None for each in every)


@pytest.mark.parametrize("users", [1, 4, 16])
def test_more_t4s_never_answer_less(users: int) -> None:
    """Prompts of 2,000 tokens on one to four cards of 16 GB that are linked by PCI Express."""
    work = Workload(users=users, prompt=2000, context=4096)
    model = catalog.model("Qwen3-14B", "Q4_K_M")
    most = 0.0
    for count in (1, 2, 3, 4):
        every = compare(model, cards(f"{count}x T4", 128), work)
        best = max(map(answers_per_second, every))
        assert best >= most / Arrangement.WORTH
        most = max(most, best)


def test_a_card_with_more_of_all_loses_no_runtime() -> None:
    """The 5060 Ti has more bandwidth and newer kernels than the 4060 Ti, and as much memory."""
    work = Workload()
    for form in ("AWQ", "Q4_K_M"):
        model = catalog.model("Llama-3.1-8B", form)
        worse, better = (
            {each.runtime.name for each in compare(model, where, work) if bool(each.fits)}
            for where in (cards("RTX 4060 Ti 16GB"), cards("RTX 5060 Ti 16GB"))
        )
        assert worse <= better
        assert TENSORRT_LLM.name in better


@pytest.mark.parametrize("users", [1, 4])
def test_twice_the_ram_beside_unlike_cards_moves_no_first_token(users: int) -> None:
    """Llama-3.1-70B Q6_K lies in an H100: the T4 and the RAM beside it are not needed."""
    model = catalog.model("Llama-3.1-70B", "Q6_K")
    work = Workload(users=users)
    less, more = (
        max(compare(model, cards("H100 + T4", ram_gb), work), key=answers_per_second)
        for ram_gb in (128, 256)
    )
    assert float(more.first_token_seconds) == pytest.approx(float(less.first_token_seconds))


def half(runtime: Runtime, prompt: int, model: str = "Llama-3.1-8B") -> Estimate:
    """Estimate with part of a model in the RAM beside an RTX 3090."""
    nouns = Request(
        model=model,
        format="Q4_K_M",
        gpu="RTX 3090",
        ram_gb=64,
        prompt=prompt,
        context=4096,  # Ollama takes passes of 1,024 tokens where more are allocated
    ).nouns()
    return estimate(nouns.model, nouns.machine, nouns.work, runtime, PlacementStrategy.CPU_OFFLOAD)


def of_passes(answer: Estimate) -> list[str]:
    """Remarks on the passes of a prompt."""
    return [
        sentence for sentence in remarks(answer) if " tokens " in sentence and "pass" in sentence
    ]


IN_PASSES = (LLAMA_CPP, OLLAMA, LM_STUDIO, IK_LLAMA_CPP, LLAMAFILE)


@pytest.mark.parametrize("runtime", IN_PASSES, ids=lambda runtime: runtime.key)
def test_a_token_more_than_a_pass_costs_a_token_and_says_so(runtime: Runtime) -> None:
    """Weights in RAM are copied for each 512 tokens of a prompt; a last pass of fewer than 32 is
    computed where they lie, a single token as one of the reply.
    """
    short = half(runtime, 512, "Llama-3.1-70B")
    long = half(runtime, 513, "Llama-3.1-70B")
    of_one = float(long.prompt.total) - float(short.prompt.total)
    assert of_one == pytest.approx(1 / float(long.decode_tps), rel=0.15)
    assert not of_passes(short)
    (told,) = of_passes(long)
    assert "2 passes of at most 512, the last of 1: the processor computes fewer than 32" in told
    (further,) = of_passes(half(runtime, 544, "Llama-3.1-70B"))
    assert "the last of 32: each copies the weights in RAM to the GPU anew" in further


@pytest.mark.parametrize("runtime", IN_PASSES, ids=lambda runtime: runtime.key)
@pytest.mark.parametrize("model", ["Llama-3.1-8B", "Qwen3-30B-A3B", "gpt-oss-120b"])
def test_no_pass_makes_a_prompt_longer_in_silence(runtime: Runtime, model: str) -> None:
    """Wherever a few tokens more than a pass take 15 % longer, the reason is said."""
    for full in (512, 1024, 2048):
        short = half(runtime, full, model)
        for more in (1, 16, 31, 32):
            long = half(runtime, full + more, model)
            jump = float(long.prompt.total) / float(short.prompt.total) * full / (full + more)
            assert jump < 1.15 or of_passes(long), (full, more, jump)


def test_a_prompt_too_short_to_be_copied_says_so() -> None:
    """From 32 tokens on llama.cpp copies weights in RAM to the GPU, which then reads 32 sooner than
    the processor reads 31.
    """
    short = half(LLAMA_CPP, 31)
    longer = half(LLAMA_CPP, 32)
    assert float(longer.prompt.total) < float(short.prompt.total) / 1.15
    assert any("prompts of fewer than 32 tokens" in sentence for sentence in remarks(short))
    assert not any("fewer than 32" in sentence for sentence in remarks(longer))


def test_arrangements_try_each_number_of_equal_cards() -> None:
    four = cards("4x RTX 3090")
    assert [each.groups for each in fewer(four)] == [((0,),), ((0, 1),), ((0, 1, 2),)]
    assert [each.groups for each in side_by_side(four, 16)] == [
        ((0,), (1,), (2,), (3,)),
        ((0, 1), (2, 3)),
    ]
    # Three users need no fourth copy; of five cards two pairs leave one over.
    assert [each.copies for each in side_by_side(four, 3)] == [3, 2]
    five = cards("5x RTX 3090")
    assert [each.groups for each in side_by_side(five, 8)][1] == ((0, 1), (2, 3))
    assert not list(side_by_side(four, 1))


def test_several_machines_serve_a_copy_each() -> None:
    two = ONE.joined(2, network_named("10GbE"))
    (copies,) = side_by_side(two, 16)
    assert copies.groups == ((0,), (1,))
    assert copies.part.nodes == 1
    every = compare(SMALL, two, USERS, runtimes=(LLAMA_CPP,))
    both = next(each for each in every if each.strategy is IN_GPU)
    assert both.arrangement is not None
    assert "# on HOST2" in both.command


def test_another_request_keeps_the_arrangement() -> None:
    both = resident(TWO, VLLM, USERS)
    fewer_users = both.again(work=replace(both.work, users=8.0))
    single = resident(ONE, VLLM, replace(USERS, users=4))
    assert float(fewer_users.decode_tps) == pytest.approx(float(single.decode_tps))
    of_one = readers(resident(ONE, VLLM, USERS), 100.0)
    assert readers(both, 100.0) == pytest.approx(2 * of_one, abs=2)


def test_copies_serve_twice_the_users_of_one() -> None:
    request = Request(users=16)
    single = load_on([resident(ONE, VLLM, USERS)], request)
    both = load_on([resident(TWO, VLLM, USERS)], request)
    assert single is not None
    assert both is not None
    assert both.together == pytest.approx(2 * single.together)
    assert both.by_closed_form == pytest.approx(2 * single.by_closed_form, abs=2)


def test_the_answer_names_the_arrangement() -> None:
    both = answer(Request(model="Qwen3-4B", gpu="2x RTX 5090", ram_gb=64, users=16).nouns())
    name = both.advice.best.runtime.name
    words = f"{name} runs here on 2 copies side by side, each on 1 GPU (RTX 5090)."
    assert words in both.caveats
    single = answer(Request(model="Qwen3-4B", gpu="RTX 5090", ram_gb=64, users=16).nouns())
    assert not any("side by side" in caveat for caveat in single.caveats)


def test_fewer_cards_that_lack_a_little_are_tried_beside_all_that_hold_the_model() -> None:
    """vLLM shares layers among four cards; the 64 heads cannot be divided by five, which take
    turns. Four lack a little of gpt-oss-120b, which is copied to them in each step.
    """
    model = catalog.model("gpt-oss-120b", "Q4_K_M")
    outside = PlacementStrategy.CPU_OFFLOAD

    def offloaded(count: int) -> Estimate:
        every = compare(model, cards(f"{count}x Arc A770", 128), Workload(), runtimes=(VLLM,))
        return next(each for each in every if each.strategy is outside)

    four = offloaded(4)
    five = offloaded(5)
    assert five.arrangement is not None
    assert "4 of 5 GPUs" in five.format_note
    assert float(five.decode_tps) == pytest.approx(float(four.decode_tps))
