"""A prompt that a server cuts for checkpoints: its micro-batches, by hand, and its time."""

import numpy as np
import pytest

from advisor.catalog.constants import Constants
from advisor.cost_model.loads import cut_batches
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.schedule import Phases, Schedule
from advisor.cost_model.timing import schedule_seconds
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, RUNTIMES
from advisor.runtimes.llama_cpp.passes import TAIL, checkpoint

HYBRID = "Qwen3.6-27B"
WINDOWED = "Gemma-3-27B"
PLAIN = "Qwen3-8B"
WHERE = machine(MachineSpec(gpu="RTX 3090", ram_gb=64.0))


def work(prompt: float, **more: float | bool) -> Workload:
    return Workload(prompt=prompt, output=128, context=8192, **more)  # type: ignore[arg-type]


def phases(name: str, request: Workload, runtime: str = "llama.cpp") -> Phases:
    how = next(each for each in RUNTIMES if each.name == runtime)
    model = catalog.model(name, "Q4_K_M")
    placed = how.place(model, WHERE, request, PlacementStrategy.GPU_RESIDENT, Settings())
    return how.schedule(model, placed, WHERE, request)


def seconds(schedule: Schedule) -> float:
    return float(schedule_seconds(schedule, WHERE, Constants.fitted()).total)


@pytest.mark.parametrize(
    ("prompt", "count", "tokens", "first"),
    [
        (100, 1, 96, 1.0),  # 96 + 4
        (512, 1, 508, 1.0),  # 508 + 4
        (1024, 2, 510, 512 / 510),  # 508 + 512 + 4
        (1540, 3, 512, 1.0),  # 1024 + 512 + 4
        (3, 1, 3, 1.0),  # too short for a cut
    ],
)
def test_micro_batches_end_before_the_last_tokens(
    prompt: float, count: float, tokens: float, first: float
) -> None:
    (step, repeats, size), (last, times, _) = cut_batches(work(prompt), TAIL)
    assert float(repeats) == count
    assert float(step.tokens) == pytest.approx(tokens)
    assert float(size) == pytest.approx(first)
    assert float(times) == (prompt > TAIL)
    assert float(last.tokens) == TAIL


def test_only_what_is_not_in_the_cache_is_cut() -> None:
    (step, repeats, _), _ = cut_batches(work(4000, cached=3900), TAIL)
    assert (float(step.tokens), float(repeats)) == (96, 1)


def test_lengths_along_a_sweep_are_each_cut() -> None:
    (step, repeats, _), (_, times, _) = cut_batches(work(np.array([3.0, 1024.0])), TAIL)  # type: ignore[arg-type]
    assert np.allclose(step.tokens, [3, 510])
    assert np.allclose(repeats, [1, 2])
    assert np.allclose(times, [0, 1])


def test_states_and_windows_are_kept_and_plain_caches_are_not() -> None:
    hybrid, windowed, plain = (catalog.model(name, "Q4_K_M") for name in (HYBRID, WINDOWED, PLAIN))
    states = float(np.sum(4.0 * hybrid.per_layer.state_values))
    assert float(checkpoint(hybrid, work(512))) == pytest.approx(states)
    assert 0.1e9 < states < 0.25e9, "a checkpoint of Qwen3.5 is logged as 186 MiB with its draft"
    assert checkpoint(windowed, work(512)) > 0
    assert checkpoint(windowed, work(512, swa_full=True)) == 0
    assert checkpoint(plain, work(512)) == 0


@pytest.mark.parametrize("name", [HYBRID, WINDOWED])
def test_a_short_prompt_suffers_most_and_a_bench_not(name: str) -> None:
    ratios = [
        seconds(phases(name, work(prompt)).prefill)
        / seconds(phases(name, work(prompt, bench=True)).prefill)
        for prompt in (100, 512, 4096)
    ]
    assert ratios[0] > ratios[1] > ratios[2] > 1.0
    assert ratios[0] < 2.5
    assert ratios[2] < 1.08


def test_a_plain_model_is_read_alike() -> None:
    assert seconds(phases(PLAIN, work(512)).prefill) == seconds(
        phases(PLAIN, work(512, bench=True)).prefill
    )


def test_servers_on_it_cut_and_its_fork_does_not() -> None:
    assert phases(HYBRID, work(512), "Ollama").prefill.then is not None
    assert phases(HYBRID, work(512), "ik_llama.cpp").prefill.then is None


def test_a_change_of_all_schedules_reaches_the_last_tokens() -> None:
    def without_stages(schedule: Schedule) -> Schedule:
        assert schedule.then is None
        return Schedule(stages=())

    changed = phases(HYBRID, work(512)).each(without_stages).prefill
    assert changed.then is not None
    assert changed.stages == changed.then.stages == ()


def test_the_reply_is_the_same() -> None:
    assert LLAMA_CPP.name == "llama.cpp"
    assert phases(HYBRID, work(512)).decode.then is None


def test_the_prompts_of_several_users_are_cut_each() -> None:
    # 3 users of 1,000 tokens: 996 before the last 4, of which 512 end at the cut and 484 come
    # before: ceil(3 x 484 / 512) = 3 and ceil(3 x 512 / 512) = 3 micro-batches, of 3 x 996 / 6
    (step, repeats, first), (last, times, _) = cut_batches(work(1000, users=3), TAIL)
    assert float(repeats) == 6
    assert float(step.tokens) == pytest.approx(3 * 996 / 6)
    assert float(first) == pytest.approx(512 / 498)
    assert (float(last.tokens), float(times)) == (3 * TAIL, 1.0)
    # 200 tokens each are one micro-batch for every user's cut: 3 x 196 in ceil(588 / 512) = 2
    (step, repeats, _), _ = cut_batches(work(200, users=3), TAIL)
    assert (float(repeats), float(step.tokens)) == (2, pytest.approx(294))
