"""The advice: its statements hold, in every kind of situation."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from advisor.advice.advise import advise
from advisor.advice.table.option import OptionKind
from advisor.advice.words.verdict import Advice
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.formatting import money as money_words
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs, Ownership
from advisor.runtimes import ACCELERATE, DEEPSPEED, KTRANSFORMERS, LLAMA_CPP, RUNTIMES, VLLM
from advisor.runtimes.compare import decode_tps, usable
from advisor.units import Provenance, Quantity, number

SATA = "SATA SSD (typical)"
SITUATIONS = {
    "fits": ("Llama-3.1-8B", {"gpu": "RTX 4090", "ram_gb": 64}),
    "offloads": ("Llama-3.1-70B", {"gpu": "RTX 4090", "ram_gb": 64}),
    "reads the drive": ("Llama-3.1-70B", {"gpu": "RTX 4090", "ram_gb": 16, "disk": SATA}),
    "has experts": ("Qwen3-30B-A3B", {"gpu": "RTX 3060 12GB", "ram_gb": 64}),
    "has no GPU": ("Llama-3.1-8B", {"ram_gb": 32}),
    "is unified": ("gpt-oss-120b", {"gpu": "GB10", "ram_gb": 128}),
    "runs nothing": ("Llama-3.1-70B", {"ram_gb": 2}),
}
IN_EACH = pytest.mark.parametrize("situation", SITUATIONS)
DEFAULT = MoneyInputs()


@cache
def advice(
    situation: str, money: MoneyInputs = DEFAULT, ownership: Ownership | None = None
) -> Advice:
    model, text = SITUATIONS[situation]
    here = machine(MachineSpec(**text))
    return advise(
        catalog.model(model, "Q4_K_M"), here, Workload(), money=money, ownership=ownership
    )


def verdict(situation: str, **money: float) -> str:
    return advice(situation, MoneyInputs(**money)).verdict


@IN_EACH
def test_the_title_names_model_format_and_machine(situation: str) -> None:
    model, text = SITUATIONS[situation]
    title = advice(situation).title
    assert title.startswith(f"{model}, Q4_K_M, on {text.get('gpu', '')}")
    assert title.endswith("GB of RAM")


@IN_EACH
def test_all_placements_are_there_side_by_side(situation: str) -> None:
    answer = advice(situation)
    for strategy in PlacementStrategy:
        names = [estimate.runtime.name for estimate in answer.placed(strategy)]
        assert len(names) == len(set(names)) >= 2


@IN_EACH
def test_the_best_is_the_fastest_usual_one_that_fits(situation: str) -> None:
    answer = advice(situation)
    fitting = usable(answer.estimates)
    assert answer.best is (fitting[0] if fitting else None)
    usual = [estimate for estimate in fitting if estimate.runtime.mainstream]
    assert all(decode_tps(entry) <= decode_tps(fitting[0]) for entry in usual)


def test_a_model_that_fits_needs_nothing_else() -> None:
    answer = advice("fits")
    assert answer.best is not None
    kept = answer.options[0]
    assert kept.monthly is not None
    speed = number(decode_tps(answer.best))
    assert answer.summary.gives == f"Runs well, faster than you read: {speed} tokens a second."
    # what one owns costs its power
    assert f"Keep what you have. Power: {money_words(kept.monthly)} a month." in answer.summary.way
    assert answer.choice.safe is None
    assert answer.another_model is None


@pytest.mark.parametrize(
    ("situation", "start"),
    [("offloads", "It runs, but slower than you read: "),
     ("reads the drive", "It does not fit in memory; from the drive about ")],
)  # fmt: skip
def test_the_verdict_says_the_speed_now_and_a_better_model_here(situation, start) -> None:
    answer = advice(situation)
    assert answer.best is not None
    assert answer.verdict.startswith(f"{start}{number(decode_tps(answer.best))} tokens a second")
    better = answer.another_model
    assert better is not None
    assert better.speed.decode >= DEFAULT.reading_tps
    assert better.speed.strategy is not PlacementStrategy.NVME_OFFLOAD
    assert f"{better.model.name} " in answer.summary.way
    assert f"writes {number(better.speed.decode)}" in answer.summary.way


def test_what_is_owned_and_not_the_machine_described_is_what_the_answer_begins_with() -> None:
    model = catalog.model("Qwen3-32B", "Q4_K_M")
    described, owned = (machine(MachineSpec(gpu=gpu)) for gpu in ("RTX 5090", "RTX 3090"))
    answer = advise(model, described, Workload(), owned=owned)
    kept = answer.options[0]
    assert kept.speed is not None
    assert answer.verdict.startswith("On what you have, RTX 3090, ")
    assert f"{number(kept.speed.decode)} tokens a second" in answer.summary.gives


def test_a_request_with_arrays_gets_a_sentence() -> None:
    here = machine(MachineSpec(gpu="RTX 3090"))
    work = Workload(users=np.array([1.0, 2.0]))
    with pytest.raises(InputError, match="single request, not for arrays"):
        advise(catalog.model("Llama-3.1-8B", "Q4_K_M"), here, work)


def test_where_nothing_runs_it_states_the_missing_memory_and_what_would_run() -> None:
    answer = advice("runs nothing")
    assert answer.best is None
    assert answer.what_ifs == ()
    assert answer.judgement == "does not run here"
    assert answer.verdict.startswith("It does not run here: ")
    assert "of memory are missing." in answer.summary.gives


def test_without_replies_nothing_is_saved() -> None:
    answer = advice("offloads", MoneyInputs(replies_per_day=0))
    assert answer.choice.safe is None
    assert "saves" not in answer.verdict


def test_a_rent_of_ones_own_brings_its_gpu_in() -> None:
    own = MoneyInputs(own_rent=(("RTX A5500", 0.15),), rented_hours_per_day=24.0)
    assert not any("RTX A5500" in item.name for item in advice("offloads").options)
    (rent,) = [item for item in advice("offloads", own).options if "RTX A5500" in item.name]
    count = int(rent.name.partition("x ")[0])
    # 0.15 USD x 24 h x 30.4375 days = 109.575 USD for each; a volume for the weights, 0.07 USD a GB
    volume = 0.07 * advice("offloads", own).question.model.file_bytes / 1e9
    assert rent.monthly == pytest.approx(109.575 * count + volume)


@pytest.mark.parametrize("situation", ["offloads", "has experts", "runs nothing"])
def test_options_are_compared_with_the_present_machine(situation: str) -> None:
    answer = advice(situation)
    kept = answer.options[0]
    assert kept.kind is OptionKind.KEEP
    assert kept.upfront == 0
    assert all(option.kept is kept for option in answer.options[1:])
    if answer.best is not None:
        assert kept.speed is not None
        assert kept.speed.decode == pytest.approx(decode_tps(answer.best))


def test_the_owned_machine_may_differ_from_the_described_one() -> None:
    model, text = SITUATIONS["offloads"]
    here = machine(MachineSpec(**text))
    owned = machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=64))
    chosen = catalog.model(model, "Q4_K_M")
    advice = advise(chosen, here, Workload(), owned=owned)
    alone = advise(chosen, owned, Workload())
    assert "RTX 4090" in advice.title
    assert advice.options[0].name.startswith("RTX 3060")
    assert advice.options[0].speed is not None
    assert alone.options[0].speed is not None
    assert advice.options[0].speed.decode == pytest.approx(alone.options[0].speed.decode)


@IN_EACH
def test_what_ifs_are_gains_largest_first(situation: str) -> None:
    answer = advice(situation)
    gains = [item.gain for item in answer.what_ifs]
    assert gains == sorted(gains, reverse=True)
    assert all(gain >= 1.02 for gain in gains)
    for change in answer.what_ifs:
        assert answer.best is not None
        assert change.speed.decode == pytest.approx(change.gain * decode_tps(answer.best))
        assert change.words
        assert change.cost


def test_the_drive_suggests_ram_that_holds_the_model() -> None:
    changes = [change.words for change in advice("reads the drive").what_ifs]
    assert any("GB of RAM (to hold what the GPU does not" in change for change in changes)


def test_what_ifs_keep_a_fixed_split() -> None:
    # All layers in RAM: a smaller cache saves little, and may not bring the layers back.
    model, text = SITUATIONS["offloads"]
    here = machine(MachineSpec(**text))
    fixed = Settings(gpu_layers=0.0)
    chosen = catalog.model(model, "Q4_K_M")
    advice = advise(chosen, here, Workload(), settings=fixed, chosen=LLAMA_CPP)
    assert all(change.gain < 1.1 for change in advice.what_ifs if "KV cache" in change.words)
    assert not any("context" in change.words for change in advice.what_ifs)


@cache
def of(runtime: Runtime, situation: str) -> Advice:
    model, text = SITUATIONS[situation]
    here = machine(MachineSpec(**text))
    return advise(catalog.model(model, "Q4_K_M"), here, Workload(), chosen=runtime)


@pytest.mark.parametrize("situation", ["offloads", "has experts", "is unified"])
@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.key)
def test_the_runtime_chosen_is_carried_through_everything(runtime, situation) -> None:
    advice = of(runtime, situation)
    assert {estimate.runtime.name for estimate in advice.estimates} == {
        runtime.name for runtime in RUNTIMES
    }
    assert advice.best is None or advice.best.runtime is runtime
    assert {option.speed.runtime for option in advice.options if option.speed} <= {runtime.name, ""}
    if advice.best is None:
        assert advice.verdict.startswith(f"{runtime.name} does not run it here")
    else:
        assert runtime.name in advice.verdict
    for strategy in PlacementStrategy:
        assert all(estimate.runtime is runtime for estimate in advice.meant(strategy))
        assert advice.meant(strategy) or advice.why_not(strategy).startswith(runtime.name)


def test_a_runtime_that_holds_nothing_in_the_gpu_is_upgraded_with_its_rest_in_ram() -> None:
    advice = of(DEEPSPEED, "offloads")
    speeds = [option.speed for option in advice.options if option.speed and option.speed.runtime]
    assert speeds
    assert not any(speed.whole for speed in speeds)
    assert "always leaves a part outside the GPU" in advice.why_not(PlacementStrategy.GPU_RESIDENT)


def test_a_faster_runtime_is_named_beside_the_one_chosen() -> None:
    advice = of(ACCELERATE, "offloads")
    first = usable(advice.estimates)[0]
    assert advice.verdict.startswith("With Accelerate, ")
    assert f"{first.runtime.name} would give {number(decode_tps(first))} here." in advice.verdict


def test_a_runtime_that_cannot_says_why_and_what_could() -> None:
    """It is for models with experts, and a dense model has none."""
    advice = of(KTRANSFORMERS, "offloads")
    assert advice.best is None
    assert "does not run it here. KTransformers is for models with experts" in advice.verdict
    assert "would give" in advice.verdict


def test_changes_are_options_of_the_runtime() -> None:
    fp8 = {change.words for change in of(VLLM, "offloads").what_ifs}
    assert "KV cache in q8_0" not in fp8
    # Weights of 16 bits are all that Transformers offloads: no smaller format is offered.
    assert not any("instead of" in change.words for change in of(ACCELERATE, "offloads").what_ifs)
    model = catalog.model("Llama-3.1-70B", "BF16")
    here = machine(MachineSpec(gpu="RTX 4090", ram_gb=256))
    advice = advise(model, here, Workload(), chosen=VLLM)
    changes = {change.words for change in advice.what_ifs}
    assert {"FP8 instead of BF16", "AWQ instead of BF16"} <= changes
    assert not any("Q4_K_M" in change for change in changes)


def test_a_narrow_slot_is_named_where_weights_cross_it() -> None:
    """A 4090 has PCIe 4 x16; over 4 lanes a quarter of it streams at a quarter of the speed."""
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    slots = {
        lanes: advise(
            model,
            machine(MachineSpec(gpu="RTX 4090", ram_gb=64, pcie_gen=4, pcie_lanes=lanes)),
            Workload(),
            chosen=VLLM,
        )
        for lanes in (4, 16)
    }
    named = [
        change for change in slots[4].what_ifs if change.words.startswith("a slot with PCIe 4 x16")
    ]
    assert slots[16].best is not None
    assert named[0].speed.decode == pytest.approx(decode_tps(slots[16].best))
    assert 3 < named[0].gain <= 4.01
    assert not any("a slot with" in change.words for change in slots[16].what_ifs)


@pytest.mark.parametrize(
    ("model", "now", "better"), [("Qwen3-235B-A22B", 8192, 128), ("Llama-3.1-70B", 128, 2048)]
)
def test_a_drive_that_reads_too_far_ahead_or_too_little_is_named(
    model: str, now: int, better: int
) -> None:
    """Pieces of experts need little around them, a scan is better off with more."""
    here = machine(MachineSpec(ram_gb=32, disk_gbs=2.0))
    assert here.disk is not None
    read = {
        kib: replace(
            here,
            disk=replace(
                here.disk,
                mapped=replace(here.disk.sequential, value=1e9),
                read_ahead=Quantity(
                    value=kib * 1024.0, kind=Provenance.MEASURED, source="this system"
                ),
            ),
        )
        for kib in (now, better)
    }
    chosen = catalog.model(model, "Q4_K_M")
    after = advise(chosen, read[better], Workload()).best
    assert after is not None
    (named,) = (
        change
        for change in advise(chosen, read[now], Workload()).what_ifs
        if change.words == f"read_ahead_kb of the drive at {better}, now {now}"
    )
    assert named.cost == "free"
    assert named.speed.decode == pytest.approx(decode_tps(after))
    assert named.gain > 1.2
    assumed = advise(chosen, here, Workload())
    assert not any("read_ahead" in change.words for change in assumed.what_ifs)
