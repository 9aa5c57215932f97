"""Drafting: tokens per step, and the cost of drafting and verifying them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog.constants import Constants
from advisor.cost_model.drafting import (
    drafter_cache,
    drafter_memory,
    drafter_weights,
    drafting_context,
    weights_read,
    with_drafting,
)
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings, Tier
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Flow, Route, Schedule
from advisor.cost_model.timing import FixedTime, StepTime
from advisor.cost_model.workload import Draft, Workload
from advisor.errors import InputError, Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog, resolve
from advisor.model.architecture import Group
from advisor.model.by_name.named import named
from advisor.runtimes import (
    ASIDE,
    KTRANSFORMERS,
    LLAMA_CPP,
    MLX,
    OLLAMA,
    OLLAMA_MLX,
    RUNTIMES,
    SGLANG,
    TENSORRT_LLM,
    VLLM,
)
from advisor.runtimes.compare import as_run


def run(name: str, form: str, runtime: Runtime, work: Workload, **spec: object) -> Estimate:
    where = machine(MachineSpec(**spec))  # type: ignore[arg-type]
    model = as_run(catalog.model(name, form), runtime, where)
    strategy = PlacementStrategy.GPU_RESIDENT
    if runtime is LLAMA_CPP:
        strategy = PlacementStrategy.CPU_OFFLOAD
    return estimate(model, where, work, runtime, strategy, Constants.fitted())


def tps(estimate: Estimate) -> float:
    assert estimate.decode is not None
    return float(estimate.decode.value)


@pytest.mark.parametrize(
    ("drafted", "acceptance", "tokens"),
    [(0, 0.9, 1.0), (1, 0.85, 1.85), (3, 0.5, 1.875), (4, 1.0, 5.0), (5, 0.0, 1.0)],
)
def test_tokens_of_a_step_by_hand(drafted: int, acceptance: float, tokens: float) -> None:
    """1 + a + ... + a^k."""
    work = Workload(draft="mtp", drafted=drafted, acceptance=acceptance)
    assert float(work.tokens_per_step) == pytest.approx(tokens, rel=1e-6)


def test_drafts_by_hand() -> None:
    """Each of two drafts reads a layer of 64 and the head, at the rate of the step's own reads, and
    starts a layer's kernels and a step."""
    model = catalog.model("Qwen3-32B", "BF16-hf")
    read = model.read_bytes_per_token
    share = ((read - model.output) / 64 + model.output) / read
    parts = {"resident": 0.02, FixedTime.LAYERS: 0.0032, FixedTime.TOKEN: 0.001}
    time = StepTime(total=0.0242, parts=parts, hidden=0.0)
    reads = {"resident": read}
    work = Workload(draft="mtp", drafted=2, acceptance=0.5)
    outcome = with_drafting(time, model, work, reads)
    expected = 0.02 * (1 + 2 * share) + 0.0032 * (1 + 2 / 64) + 0.001 * 3
    assert float(outcome.total) == pytest.approx(expected)
    at_once = with_drafting(time, model, replace(work, draft="dflash", drafted=7), reads)
    once = (5 * (read - model.output) / 64 + model.output) / read
    expected = 0.02 * (1 + once) + 0.0032 * (1 + 5 / 64) + 0.001 * 2
    assert float(at_once.total) == pytest.approx(expected)
    looked_up = with_drafting(
        time, model, Workload(draft="ngram", drafted=5, acceptance=0.5), reads
    )
    assert float(looked_up.total) == pytest.approx(0.0242)


def test_a_drafter_stays_on_the_gpu_where_experts_are_in_ram() -> None:
    """30 ms of experts in RAM for three tokens take no part in a draft, which reads 0.5 GB of the
    2 GB that the GPU reads in 8 ms."""
    model = catalog.model("Qwen3.6-35B-A3B", "Q4_K_M")
    own = (model.read_bytes_per_token - model.output) / model.layers + model.output
    time = StepTime(total=0.038, parts={"resident": 0.008, "in_place": 0.03}, hidden=0.0)
    work = Workload(draft="mtp", drafted=2, acceptance=0.75)
    outcome = with_drafting(time, model, work, {"resident": 2e9, "in_place": 1.5e9})
    assert float(outcome.total) == pytest.approx(0.038 + 2 * 0.008 * own / 2e9)


@pytest.mark.parametrize(
    ("drafted", "share", "gain"), [(1, 0.8835, 1.20), (2, 0.815, 1.28), (3, 0.7127, 1.21)]
)
def test_experts_in_ram_gain_as_published(drafted: int, share: float, gain: float) -> None:
    """A laptop's RTX 3060 of 6 GB, 22.92 tokens/s without drafts and 27.58, 29.39, 27.78 with
    (ggml-org/llama.cpp pull request 22673, comment of 2026-05-05)."""
    rig = {"gpu": "RTX 3060 Laptop", "ram_gb": 64}
    work = Workload(draft="mtp", drafted=drafted, acceptance=Draft.chance(drafted, share))
    speeds = [
        tps(run("Qwen3.6-35B-A3B", "Q4_K_M", LLAMA_CPP, request, **rig))
        for request in (work, Workload())
    ]
    assert speeds[0] / speeds[1] == pytest.approx(gain, rel=0.1)


def test_deepseek_s_own_head_as_published() -> None:
    """1.8 times the tokens a second at 85 to 90 % (arXiv 2412.19437, section 5.4.3)."""
    plain = Workload()
    drafted = Workload(draft="mtp", drafted=1, acceptance=0.875)
    rig = {"gpu": "H200 SXM", "gpu_count": 8, "ram_gb": 1024}
    gain = tps(run("DeepSeek-V3", "FP8", VLLM, drafted, **rig)) / tps(
        run("DeepSeek-V3", "FP8", VLLM, plain, **rig)
    )
    assert gain == pytest.approx(1.8, rel=0.15)


def test_offloaded_dense_models_win_most_and_experts_little() -> None:
    """Weights in RAM are read once for all tokens; other tokens ask for other experts."""
    work = Workload(draft="ngram", drafted=3, acceptance=0.7)
    rig = {"gpu": "RTX 4070", "ram_gb": 128, "ram_gbs": 60.0}
    gains = [
        tps(run(name, "Q4_K_M", LLAMA_CPP, work, **rig))
        / tps(run(name, "Q4_K_M", LLAMA_CPP, Workload(), **rig))
        for name in ("Llama-3.3-70B", "Qwen3-235B-A22B")
    ]
    assert gains[0] > 1.4
    assert gains[1] < gains[0]


def test_nothing_accepted_is_never_faster() -> None:
    rig = {"gpu": "H100 SXM", "ram_gb": 256}
    plain = tps(run("Qwen3-32B", "FP8", VLLM, Workload(), **rig))
    wasted = Workload(draft="eagle", drafted=3, acceptance=0.0)
    assert tps(run("Qwen3-32B", "FP8", VLLM, wasted, **rig)) < plain


def test_what_is_drafted_is_said() -> None:
    work = Workload(draft="mtp", drafted=1, acceptance=0.85)
    assert work.drafting_note == "Each step checks 1 token drafted by mtp, 85 % accepted."
    assert Workload().drafting_note == ""


def test_who_does_not_draft_is_refused() -> None:
    with pytest.raises(InputError, match="use one of mtp, eagle, dflash, ngram"):
        Workload(draft="crystal ball")


def test_a_smaller_model_by_hand() -> None:
    """Each of two drafts runs a model of a tenth of the bytes and a quarter of the layers."""
    model = catalog.model("Qwen3-32B", "BF16-hf")
    layers = {
        group: held[:16] * 0.1 * model.layers / 16 for group, held in model.bytes_per_layer.items()
    }
    smaller = replace(
        model,
        bytes_per_layer=layers,
        output=model.output / 10,
        embedding=model.embedding / 10,
        architecture=replace(model.architecture, layers=16),
    )
    assert smaller.read_bytes_per_token == pytest.approx(model.read_bytes_per_token / 10)
    work = Workload(draft=Draft.MODEL, draft_model=smaller, drafted=2, acceptance=0.5)
    time = StepTime(
        total=0.026,
        parts={"resident": 0.02, FixedTime.LAYERS: 0.004, FixedTime.TOKEN: 0.002},
        hidden=0.0,
    )
    outcome = with_drafting(time, model, work, {"resident": model.read_bytes_per_token})
    assert float(outcome.total) == pytest.approx(0.02 * 1.2 + 0.004 * 1.5 + 0.002 * 3)


@pytest.mark.parametrize(
    ("runtime", "draft", "words"),
    [
        (VLLM, "eagle", '{"method": "eagle3", "num_speculative_tokens": 3, "model": "EAGLE_HEAD"}'),
        (VLLM, Draft.MODEL, '"method": "draft_model"'),
        (VLLM, Draft.MODEL, '"model": "Qwen/Qwen3-0.6B"'),
        (SGLANG, "mtp", "--speculative-algorithm EAGLE --speculative-num-steps 3"),
        (SGLANG, Draft.MODEL, "STANDALONE --speculative-draft-model-path Qwen/Qwen3-0.6B"),
        (VLLM, "dflash", '{"method": "dflash", "num_speculative_tokens": 3, "model": "DFLASH_DR'),
        (SGLANG, "dflash", "--speculative-algorithm DFLASH --speculative-draft-model-path DFLASH"),
        (LLAMA_CPP, "dflash", "--spec-type draft-dflash -md DFLASH_DRAFTER.gguf"),
        (SGLANG, "ngram", "--speculative-algorithm NGRAM --speculative-num-draft-tokens 4"),
        (LLAMA_CPP, "mtp", "--spec-type draft-mtp --spec-draft-n-max 3"),
        (LLAMA_CPP, Draft.MODEL, "draft-simple -md Qwen3-0.6B-Q4_K_M.gguf --spec-draft-n-max 3"),
        (LLAMA_CPP, "ngram", "--spec-type ngram-simple --spec-ngram-simple-size-m 3"),
    ],
)
def test_commands_say_who_drafts(runtime: Runtime, draft: str, words: str) -> None:
    smaller = catalog.model("Qwen3-0.6B", "Q4_K_M")
    work = Workload(
        draft=draft,
        draft_model=smaller if draft == Draft.MODEL else None,
        drafted=3,
        acceptance=0.6,
    )
    name = "Qwen3.6-27B" if draft == "mtp" else "Qwen3-32B"
    assert words in run(name, "Q4_K_M", runtime, work, gpu="H100 SXM", ram_gb=256).command


@pytest.mark.parametrize("runtime", [*RUNTIMES, *ASIDE], ids=lambda runtime: runtime.name)
def test_who_drafts_says_so_in_its_command(runtime: Runtime) -> None:
    apple = runtime in (MLX, OLLAMA_MLX)
    if apple:
        gpu = {"gpu": "Apple M2 Ultra 76c"}
    else:
        gpu = {"gpu": "RTX 3090", "gpu_count": 2}
    where = machine(MachineSpec(**gpu, ram_gb=192))  # type: ignore[arg-type]
    if runtime is KTRANSFORMERS:
        name = "Qwen3-30B-A3B"
    else:
        name = "Qwen3.6-27B"
    model = as_run(catalog.model(name, "Q4_K_M"), runtime, where)
    commands = [
        estimate(model, where, work, runtime, strategy, Constants.fitted()).command
        for work in (Workload(), Workload(draft="mtp", drafted=3, acceptance=0.5))
        for strategy in runtime.strategies[:1]
    ]
    assert all(commands)
    # Ollama drafts by itself where a tag has layers for it, without an option.
    assert (commands[0] != commands[1]) == (runtime.drafts and runtime is not OLLAMA)


def test_memory_of_a_smaller_model_by_hand() -> None:
    """Qwen3-0.6B: 28 layers, 8 heads of 128 for keys and as many for values, 2 bytes each."""
    smaller = catalog.model("Qwen3-0.6B", "Q4_K_M")
    cached = 28 * 2 * 8 * 128 * 2
    work = Workload(
        draft=Draft.MODEL, draft_model=smaller, drafted=5, acceptance=0.6, context=8192, users=2
    )
    big = catalog.model("Qwen3-32B", "Q4_K_M")
    assert float(drafter_memory(big, work)) == smaller.file_bytes + 2 * 8192 * cached
    looked_up = Workload(draft="ngram", drafted=3, acceptance=0.5)
    assert float(drafter_memory(big, looked_up)) == 0
    assert float(drafter_memory(big, Workload())) == 0


def test_memory_of_the_model_s_own_head_by_hand() -> None:
    """DeepSeek-V3's head has 11.5 billion weights of its own (config of DeepSeek-V3, section
    README_WEIGHTS: 14 with embedding and head that it shares, 11.5 unique), of one byte in FP8; its
    cache is one layer's latent of 512 + 64 values.
    """
    model = catalog.model("DeepSeek-V3", "FP8")
    work = Workload(draft="mtp", drafted=1, acceptance=0.9, context=4096, users=3)
    assert float(drafter_cache(model, work)) == 4096 * 576 * 2
    assert float(drafter_memory(model, work)) == pytest.approx(11.5e9, rel=0.03)


@pytest.mark.parametrize("runtime", [VLLM, SGLANG, LLAMA_CPP])
def test_the_model_s_own_head_takes_room(runtime: Runtime) -> None:
    work = Workload(draft="mtp", drafted=1, acceptance=0.9)
    rig = {"gpu": "H100 SXM", "ram_gb": 256}
    if runtime is LLAMA_CPP:
        form = "Q4_K_M"
    else:
        form = "FP8"
    name = "Qwen3.6-27B"
    held = [run(name, form, runtime, request, **rig).held for request in (work, Workload())]
    model = as_run(catalog.model(name, form), runtime, machine(MachineSpec(**rig)))
    more = float(held[0][Tier.VRAM][0]) - float(held[1][Tier.VRAM][0])
    memory = drafting_context if runtime is LLAMA_CPP else drafter_memory
    assert more == pytest.approx(float(memory(model, work)), rel=0.01)


@pytest.mark.parametrize(("context", "measured"), [(131_072, 1.3 * 2**30), (262_144, 1.9 * 2**30)])
def test_memory_of_a_context_that_drafts_is_as_measured(context: int, measured: float) -> None:
    """sudoingX/qwen38-mtp, pull requests 13 and 14: Qwen3.8-27B in Q4_K_M, two drafts, q4_0."""
    model = catalog.in_format(named("Qwen3.8-27B").architecture, "Q4_K_M")
    work = Workload(draft="mtp", drafted=2, acceptance=0.7, context=context, kv_type="q4_0")
    assert float(drafting_context(model, work)) == pytest.approx(measured, rel=0.2)


@pytest.mark.parametrize("name", ["Qwen3-32B", "gemma-3-27b", "gpt-oss-120b", "Llama-3.1-8B"])
def test_a_model_without_layers_to_draft_drafts_nothing(name: str) -> None:
    model = resolve.from_name(name).model
    work = Workload(draft="mtp", drafted=3, acceptance=0.9)
    with pytest.raises(Refusal, match="no layers to draft with"):
        work.check_heads(model)
    where = machine(MachineSpec(gpu="RTX PRO 6000", ram_gb=64))
    strategy = PlacementStrategy.GPU_RESIDENT
    drafted = estimate(model, where, work, LLAMA_CPP, strategy)
    plain = estimate(model, where, Workload(), LLAMA_CPP, strategy)
    assert tps(drafted) == tps(plain)
    assert "no layers to draft" in drafted.format_note


@given(st.integers(1, 16), st.floats(0.0, 1.0))
def test_the_share_that_engines_print_gives_their_tokens_a_step(drafts: int, share: float) -> None:
    """1 + k s tokens a step, of k drafts of which the share s was accepted."""
    work = Workload(draft="mtp", drafted=drafts, acceptance=float(Draft.chance(drafts, share)))
    assert float(work.tokens_per_step) == pytest.approx(1 + drafts * share, rel=1e-4)


@pytest.mark.parametrize("runtime", [VLLM, SGLANG])
def test_a_smaller_model_takes_room_of_users(runtime: Runtime) -> None:
    smaller = catalog.model("Qwen3-4B", "BF16-hf")
    work = Workload(draft=Draft.MODEL, draft_model=smaller, drafted=5, acceptance=0.6)
    where = machine(MachineSpec(gpu="RTX 5090", ram_gb=64))
    model = as_run(catalog.model("Qwen3-32B", "AWQ"), runtime, where)
    assert runtime.at_once is not None
    assert float(runtime.at_once(model, where, work, Settings())) < float(
        runtime.at_once(model, where, Workload(), Settings())
    )
    placed = run("Qwen3-32B", "AWQ", runtime, work, gpu="RTX 5090", ram_gb=64)
    alone = run("Qwen3-32B", "AWQ", runtime, Workload(), gpu="RTX 5090", ram_gb=64)
    assert float(placed.held[Tier.VRAM][0]) - float(alone.held[Tier.VRAM][0]) == pytest.approx(
        float(drafter_memory(catalog.model("Qwen3-32B", "AWQ"), work))
    )


def test_a_smaller_model_leaves_less_room_for_layers() -> None:
    smaller = catalog.model("Qwen3-4B", "Q4_K_M")
    work = Workload(draft=Draft.MODEL, draft_model=smaller, drafted=5, acceptance=0.6)
    rig = {"gpu": "RTX 4070", "ram_gb": 64}
    with_it = run("Qwen3-32B", "Q4_K_M", LLAMA_CPP, work, **rig).placement
    without = run("Qwen3-32B", "Q4_K_M", LLAMA_CPP, Workload(), **rig).placement
    assert with_it is not None
    assert without is not None
    assert float(with_it.gpu_layers) < float(without.gpu_layers)


def test_who_cannot_draft_is_as_fast_as_before_and_says_so() -> None:
    rig = {"gpu": "H100 SXM", "ram_gb": 256}
    plain = run("Qwen3-32B", "FP8", TENSORRT_LLM, Workload(), **rig)
    estimate = run(
        "Qwen3-32B", "FP8", TENSORRT_LLM, Workload(draft="mtp", drafted=2, acceptance=0.9), **rig
    )
    assert tps(estimate) == tps(plain)
    assert "No tokens are drafted" in estimate.format_note


def test_a_kind_of_drafter_without_layers_holds_nothing() -> None:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    assert float(drafter_memory(model, Workload(draft="ngram", drafted=4, acceptance=0.5))) == 0.0


def test_a_block_drafter_takes_the_last_layers_without_their_experts() -> None:
    # DeepSeek-V3: the first layers are dense, the last has experts; five layers like the last, of
    # which a block drafter leaves the routed experts out
    model = catalog.model("DeepSeek-V3", "FP8")
    experts = model.bytes_per_layer[Group.ROUTED_EXPERTS]
    assert experts[0] == experts[1] == 0 < experts[-1]
    block = Workload(draft="dflash", drafted=7, acceptance=0.5)
    assert float(drafter_weights(model, block)) == 5 * (model.layer_bytes[-1] - experts[-1])
    head = Workload(draft="mtp", drafted=1, acceptance=0.5)
    projection = 2 * model.architecture.hidden**2 * model.file_bytes / model.architecture.params
    assert float(drafter_weights(model, head)) == model.layer_bytes[-1] + projection


def test_drafts_along_a_sweep_cost_what_each_of_them_costs() -> None:
    model = catalog.model("Qwen3-32B", "BF16-hf")
    time = StepTime(total=0.021, parts={"resident": 0.02, FixedTime.TOKEN: 0.001}, hidden=0.0)
    reads = {"resident": np.array([2e9, 0.0]), "in_place": np.array([0.0, 2e9])}
    none_and_two = Workload(draft="mtp", drafted=np.array([0.0, 2.0]), acceptance=0.5)
    swept = with_drafting(time, model, none_and_two, {"resident": 2e9})
    for at, drafted in enumerate((0.0, 2.0)):
        single = replace(none_and_two, drafted=drafted)
        alone = with_drafting(time, model, single, {"resident": 2e9})
        assert float(np.ravel(swept.total)[at]) == pytest.approx(float(alone.total))
    # where any of several machines has weights on its GPU, the drafter lies there
    placed = with_drafting(time, model, replace(none_and_two, drafted=2.0), reads)
    assert float(np.ravel(placed.parts["resident"])[0]) > 0.02


def test_weights_of_a_step_are_divided_as_its_flows_are() -> None:
    # 3 GB on the GPU and 1 GB from RAM: three quarters and a quarter of what a token reads; four
    # tokens read further experts, for which all of a layer's experts stand
    def reads(name: str, work: Workload) -> dict[str, float]:
        model = catalog.model(name, "Q4_K_M")
        flows = (Flow(route=Route.RESIDENT, moved=3e9), Flow(route=Route.STREAMED, moved=1e9))
        schedule = Schedule(stages=(flows,))
        shares = weights_read(schedule, model, work, by_gpu=False)
        return {route: float(size) for route, size in shares.items()}

    dense = catalog.model("Qwen3-32B", "Q4_K_M").read_bytes_per_token
    assert reads("Qwen3-32B", Workload()) == pytest.approx(
        {Route.RESIDENT: 0.75 * dense, Route.STREAMED: 0.25 * dense}
    )
    mixed = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    experts = float(np.sum(mixed.bytes_per_layer[Group.ROUTED_EXPERTS]))
    single, four = (sum(reads("Qwen3-30B-A3B", Workload(users=n)).values()) for n in (1, 4))
    assert single == pytest.approx(mixed.read_bytes_per_token)
    further = float(mixed.expert_share(4.0, 4.0) - mixed.expert_share(1.0))
    assert four - single == pytest.approx(experts * further, rel=0.02)


def test_without_weights_on_a_gpu_the_drafter_lies_where_most_are() -> None:
    model = catalog.model("Qwen3-32B", "BF16-hf")
    time = StepTime(total=0.05, parts={"in_place": 0.04, "paged": 0.01}, hidden=0.0)
    work = Workload(draft="mtp", drafted=1, acceptance=0.5)
    outcome = with_drafting(time, model, work, {"in_place": 6e9, "paged": 1e9})
    assert float(outcome.parts["paged"]) == 0.01
    assert float(outcome.parts["in_place"]) > 0.04


def test_the_chance_of_numbers_is_a_number_that_every_door_takes() -> None:
    assert isinstance(Draft.chance(3.0, 0.7), float)
    assert Draft.chance(np.array([3.0, 4.0]), 0.7).shape == (2,)
