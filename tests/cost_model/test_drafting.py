"""Drafted tokens: how many a step yields, and what it costs to draft and to check them."""

import pytest

from advisor.advice.compare import as_run
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate, with_drafting
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.timing import StepTime
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, VLLM, Runtime


def run(name: str, form: str, runtime: Runtime, work: Workload, **spec: object) -> Estimate:
    where = machine(MachineSpec(**spec))  # type: ignore[arg-type]
    model = as_run(catalog.model(name, form), runtime, where)
    strategy = PlacementStrategy.GPU_RESIDENT
    if runtime is LLAMA_CPP:
        strategy = PlacementStrategy.CPU_OFFLOAD
    return estimate(model, where, work, runtime, strategy, fitted_constants())


def tps(one: Estimate) -> float:
    assert one.decode is not None
    return float(one.decode.value)


@pytest.mark.parametrize(
    ("drafted", "acceptance", "tokens"),
    [(0, 0.9, 1.0), (1, 0.85, 1.85), (3, 0.5, 1.875), (4, 1.0, 5.0), (5, 0.0, 1.0)],
)
def test_tokens_of_a_step_by_hand(drafted: int, acceptance: float, tokens: float) -> None:
    """1 + a + ... + a^k."""
    work = Workload(draft="mtp", drafted=drafted, acceptance=acceptance)
    assert float(work.tokens_per_step) == pytest.approx(tokens, rel=1e-6)


def test_drafts_by_hand() -> None:
    """Each of two drafts reads a layer of 64 and the head: 64 read bytes for each of its own."""
    model = catalog.model("Qwen3-32B", "BF16-hf")
    read = model.read_bytes_per_token
    share = ((read - model.output) / 64 + model.output) / read
    time = StepTime(total=0.02, parts={"resident": 0.02}, hidden=0.0)
    found = with_drafting(time, model, Workload(draft="mtp", drafted=2, acceptance=0.5))
    assert float(found.total) == pytest.approx(0.02 * (1 + 2 * share))
    looked_up = with_drafting(time, model, Workload(draft="ngram", drafted=5, acceptance=0.5))
    assert float(looked_up.total) == pytest.approx(0.02)


def test_deepseek_s_own_head_as_published() -> None:
    """1.8 times the tokens a second at 85 to 90 % (arXiv 2412.19437, section 5.4.3)."""
    plain, drafted = Workload(), Workload(draft="mtp", drafted=1, acceptance=0.875)
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


def test_who_does_not_draft_is_refused() -> None:
    with pytest.raises(InputError, match="use one of mtp, eagle, ngram"):
        Workload(draft="crystal ball")
