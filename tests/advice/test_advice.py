"""The advice: its statements hold, in every kind of situation."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from advisor.advice.advise import Advice, advise
from advisor.advice.compare import decode_tps, usable
from advisor.advice.money.inputs import MoneyInputs
from advisor.advice.options.option import OptionKind
from advisor.advice.options.table import choice
from advisor.advice.upgrades.upgrades import COUNTS, WORTHWHILE, Upgrade, first_choice
from advisor.advice.words.verdict import DONE
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.formatting import money as money_words
from advisor.formatting import tokens_per_second
from advisor.machine.from_spec import machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import (
    ACCELERATE,
    DEEPSPEED,
    KTRANSFORMERS,
    LLAMA_CPP,
    RUNTIMES,
    VLLM,
    Runtime,
)

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
def advice(situation: str, money: MoneyInputs = DEFAULT) -> Advice:
    model, said = SITUATIONS[situation]
    here = machine(MachineSpec(**said))
    return advise(catalog.model(model, "Q4_K_M"), here, Workload(), money=money)


def verdict(situation: str, **money: float) -> str:
    return advice(situation, MoneyInputs(**money)).verdict


def chosen(found: Advice) -> Upgrade:
    one = first_choice(found.upgrades)
    assert one is not None
    assert one.offer is not None
    return one


@IN_EACH
def test_the_title_names_model_format_and_machine(situation: str) -> None:
    model, said = SITUATIONS[situation]
    title = advice(situation).title
    assert title.startswith(f"{model}, Q4_K_M, on {said.get('gpu', '')}")
    assert title.endswith("GiB of RAM")


@IN_EACH
def test_all_placements_are_there_side_by_side(situation: str) -> None:
    found = advice(situation)
    for strategy in PlacementStrategy:
        names = [one.runtime for one in found.placed(strategy)]
        assert len(names) == len(set(names)) >= 2


@IN_EACH
def test_the_best_is_the_fastest_usual_one_that_fits(situation: str) -> None:
    found = advice(situation)
    fitting = usable(found.estimates)
    assert found.best is (fitting[0] if fitting else None)
    usual = [one for one in fitting if one.how.mainstream]
    assert all(decode_tps(one) <= decode_tps(fitting[0]) for one in usual)


def test_a_model_that_fits_needs_nothing_else() -> None:
    found = advice("fits")
    assert found.best is not None
    kept = found.options[0]
    assert kept.monthly is not None
    assert found.verdict.startswith(
        f"It fits in the GPU: {found.best.runtime} gives "
        f"{tokens_per_second(decode_tps(found.best))} for {money_words(kept.monthly)} a month; "
        "keep it: nothing that has a price here pays."
    )


@pytest.mark.parametrize(
    ("situation", "start", "waiting"),
    [
        ("offloads", "Offloading to RAM gives ", "At 40 replies a day that saves"),
        # 40 replies of 256 tokens at less than 0.118 tokens/s take more than a day
        ("reads the drive", "Reading from the drive gives ", "cannot keep up"),
    ],
)
def test_the_verdict_says_the_speed_now_the_upgrade_and_when_it_pays(
    situation, start, waiting
) -> None:
    found = advice(situation)
    option, words = choice(found.options), found.verdict
    assert found.best is not None
    assert option is not None
    assert option.speed is not None
    assert words.startswith(start + tokens_per_second(decode_tps(found.best)))
    assert f"{option.name}, {DONE[option.kind]}, gives about " in words
    assert tokens_per_second(option.speed.decode) in words
    assert waiting in words
    # what is older than 90 days, or a price of the launch, is never named unmarked
    assert not option.stale or option.price.date in words
    assert ("if your hour is worth over $" in words) == ("saves" in waiting)


def test_what_is_owned_and_not_the_machine_described_is_what_the_answer_begins_with() -> None:
    model = catalog.model("Qwen3-32B", "Q4_K_M")
    described, owned = (machine(MachineSpec(gpu=gpu)) for gpu in ("RTX 5090", "RTX 3090"))
    found = advise(model, described, Workload(), owned=owned)
    kept = found.options[0]
    assert kept.speed is not None
    speed = tokens_per_second(kept.speed.decode)
    assert found.summary.answer.startswith(f"What you have, {owned.name}, gives {speed} for $")
    assert found.summary.others.startswith("The machine described: It fits in the GPU: ")
    assert tokens_per_second(decode_tps(found.best)) in found.summary.others


def test_a_slower_option_that_saves_waiting_says_what_comes_sooner() -> None:
    here = machine(MachineSpec(gpu="RTX 4090", cpu="EPYC 9355", ram_gb=384))
    chosen_slower = set()
    for replies in (60, 100):
        money = MoneyInputs(replies_per_day=replies)
        found = advise(catalog.model("Qwen3-235B-A22B", "Q4_K_M"), here, Workload(), money=money)
        option = choice(found.options)
        assert option is not None
        slower = bool(option.speed.decode < found.options[0].speed.decode)
        assert slower == ("the first token comes after" in found.summary.reason)
        chosen_slower.add(slower)
    assert chosen_slower == {True, False}


def test_a_request_with_arrays_gets_a_sentence() -> None:
    here, work = machine(MachineSpec(gpu="RTX 3090")), Workload(users=np.array([1.0, 2.0]))
    with pytest.raises(InputError, match="single request, not for arrays"):
        advise(catalog.model("Llama-3.1-8B", "Q4_K_M"), here, work)


def test_where_nothing_runs_it_states_the_missing_memory_and_what_would_run() -> None:
    found = advice("runs nothing")
    assert found.best is None
    assert found.what_ifs == ()
    assert found.verdict.startswith("Nothing here runs it: ")
    assert "of memory are short." in found.verdict
    option = choice(found.options)
    assert option is not None
    assert option.name in found.verdict


def test_offloading_pays_with_few_requests() -> None:
    few = advice("offloads", MoneyInputs(replies_per_day=1, usd_per_hour_of_time=1))
    assert not any(one.pays for one in few.upgrades)
    many = advice("offloads", MoneyInputs(replies_per_day=500, usd_per_hour_of_time=100))
    assert chosen(many).pays


def test_without_replies_nothing_is_saved() -> None:
    words = verdict("offloads", replies_per_day=0)
    assert "keep it: nothing that has a price here pays." in words
    assert "rented" not in words


@IN_EACH
def test_an_upgrade_is_never_slower_than_now(situation: str) -> None:
    found = advice(situation)
    now = decode_tps(found.best) if found.best else 0.0
    assert all(decode_tps(one.estimate) >= WORTHWHILE * now for one in found.upgrades)


@IN_EACH
def test_an_upgrade_has_the_claimed_speed(situation: str) -> None:
    for one in advice(situation).upgrades:
        assert bool(one.estimate.fits)
        assert one.estimate.machine is not None
        assert [gpu.name for gpu in one.estimate.machine.gpus] == [one.gpu] * one.count
        assert one.count in COUNTS
        assert one.holds_all == (one.estimate.strategy is PlacementStrategy.GPU_RESIDENT)
        assert one.holds_all or one.count == 1


@IN_EACH
def test_upgrades_come_cheapest_month_first(situation: str) -> None:
    costs = [one.offer.monthly for one in advice(situation).upgrades if one.offer]
    assert costs == sorted(costs)
    for one in advice(situation).upgrades:
        assert all(one.offer.monthly <= other.monthly for other in one.other_offers)


@IN_EACH
def test_an_upgrade_pays_when_it_costs_less_than_its_hours_are_worth(situation: str) -> None:
    for one in advice(situation).upgrades:
        assert one.offer is not None
        hour = DEFAULT.usd_per_hour_of_time
        assert one.pays == (one.offer.monthly < one.hours_saved * hour)
        assert one.pays == (one.worth < hour)
        assert one.net == pytest.approx(one.hours_saved * hour - one.offer.monthly)


@IN_EACH
def test_hours_saved_are_the_difference_of_the_replies(situation: str) -> None:
    found = advice(situation)
    for one in found.upgrades if found.best else ():
        # seconds of a reply, before and after x 40 replies x 30.4375 days / 3600
        saved = (float(found.best.reply) - float(one.estimate.reply)) * 40 * 30.4375 / 3600
        assert one.hours_saved == pytest.approx(max(saved, 0))


@pytest.mark.parametrize("situation", ["offloads", "reads the drive", "has experts"])
def test_more_replies_never_make_an_upgrade_worse(situation: str) -> None:
    # rent by the day: what is stopped between sessions costs more the more is asked of it
    few, many = (
        {
            one.name: one
            for one in advice(
                situation, MoneyInputs(replies_per_day=day, rented_hours_per_day=24.0)
            ).upgrades
        }
        for day in (10, 100)
    )
    assert few.keys() == many.keys()
    for name, one in few.items():
        assert many[name].hours_saved >= one.hours_saved
        if one.offer is not None and one.offer.kind == many[name].offer.kind == "rent":
            assert many[name].worth <= one.worth
            assert many[name].net >= one.net
            assert many[name].pays or not one.pays


def test_the_first_choice_holds_the_whole_model_where_any_does() -> None:
    for situation in SITUATIONS:
        found = advice(situation)
        one = first_choice(found.upgrades)
        if one is not None:
            rivals = [two for two in found.upgrades if two.holds_all]
            assert one.holds_all or not rivals
            assert all(one.net >= two.net for two in rivals)


def test_a_gpu_without_price_is_never_chosen() -> None:
    one = replace(chosen(advice("offloads")), offer=None, net=None, worth=None, break_even=None)
    assert one.pays is None
    assert first_choice([one]) is None


def test_a_rent_of_ones_own_brings_its_gpu_in() -> None:
    own = MoneyInputs(own_rent=(("RTX A5500", 0.15),), rented_hours_per_day=24.0)
    assert "RTX A5500" not in {one.gpu for one in advice("offloads").upgrades}
    (one,) = [one for one in advice("offloads", own).upgrades if one.gpu == "RTX A5500"]
    assert one.offer is not None
    # 0.15 USD x 24 h x 30.4375 days = 109.575 USD for each
    assert one.offer.monthly == pytest.approx(109.575 * one.count)


@pytest.mark.parametrize("situation", ["offloads", "has experts", "runs nothing"])
def test_options_are_compared_with_the_present_machine(situation: str) -> None:
    found = advice(situation)
    kept = found.options[0]
    assert kept.kind is OptionKind.KEEP
    assert kept.upfront == 0
    assert all(option.kept is kept for option in found.options[1:])
    if found.best is not None:
        assert kept.speed is not None
        assert kept.speed.decode == pytest.approx(decode_tps(found.best))


def test_the_owned_machine_may_differ_from_the_described_one() -> None:
    model, said = SITUATIONS["offloads"]
    here = machine(MachineSpec(**said))
    owned = machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=64))
    asked = catalog.model(model, "Q4_K_M")
    found = advise(asked, here, Workload(), owned=owned)
    alone = advise(asked, owned, Workload())
    assert "RTX 4090" in found.title
    assert found.options[0].name.startswith("RTX 3060")
    assert found.options[0].speed is not None
    assert alone.options[0].speed is not None
    assert found.options[0].speed.decode == pytest.approx(alone.options[0].speed.decode)


@IN_EACH
def test_what_ifs_are_gains_largest_first(situation: str) -> None:
    found = advice(situation)
    gains = [one.gain for one in found.what_ifs]
    assert gains == sorted(gains, reverse=True)
    assert all(gain >= 1.02 for gain in gains)
    for one in found.what_ifs:
        assert found.best is not None
        assert one.decode == pytest.approx(one.gain * decode_tps(found.best))
        assert one.change
        assert one.cost


def test_the_drive_suggests_ram_that_holds_the_model() -> None:
    changes = [one.change for one in advice("reads the drive").what_ifs]
    assert any("GiB of RAM, to hold the model" in change for change in changes)


def test_what_ifs_keep_a_fixed_split() -> None:
    # All layers in RAM: a smaller cache saves little, and may not bring the layers back.
    model, said = SITUATIONS["offloads"]
    here = machine(MachineSpec(**said))
    fixed = Settings(gpu_layers=0.0)
    asked = catalog.model(model, "Q4_K_M")
    found = advise(asked, here, Workload(), settings=fixed, chosen=LLAMA_CPP)
    assert all(one.gain < 1.1 for one in found.what_ifs if "KV cache" in one.change)
    assert not any("context" in one.change for one in found.what_ifs)


@cache
def of(runtime: Runtime, situation: str) -> Advice:
    model, said = SITUATIONS[situation]
    here = machine(MachineSpec(**said))
    return advise(catalog.model(model, "Q4_K_M"), here, Workload(), chosen=runtime)


@pytest.mark.parametrize("situation", ["offloads", "has experts", "is unified"])
@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda one: one.key)
def test_the_runtime_chosen_is_carried_through_everything(runtime, situation) -> None:
    found = of(runtime, situation)
    assert {one.runtime for one in found.estimates} == {one.name for one in RUNTIMES}
    assert found.best is None or found.best.how is runtime
    assert all(one.estimate.how is runtime for one in found.upgrades)
    assert found.best is None or all(
        decode_tps(one.estimate) >= WORTHWHILE * decode_tps(found.best) for one in found.upgrades
    )
    if found.best is None:
        assert found.verdict.startswith(f"{runtime.name} does not run it here")
    else:
        assert runtime.name in found.verdict
    for strategy in PlacementStrategy:
        assert all(one.how is runtime for one in found.meant(strategy))
        assert found.meant(strategy) or found.why_not(strategy).startswith(runtime.name)


def test_upgrades_are_in_the_format_that_the_runtime_takes() -> None:
    for one in of(VLLM, "offloads").upgrades:
        assert one.estimate.model.format == "AWQ"
    for one in of(ACCELERATE, "offloads").upgrades:
        assert one.estimate.model.format == "BF16"


def test_a_runtime_that_holds_nothing_in_the_gpu_is_upgraded_with_its_rest_in_ram() -> None:
    found = of(DEEPSPEED, "offloads")
    assert not any(one.holds_all for one in found.upgrades)
    assert "always leaves a part outside the GPU" in found.why_not(PlacementStrategy.GPU_RESIDENT)


def test_a_faster_runtime_is_named_beside_the_one_chosen() -> None:
    found = of(ACCELERATE, "offloads")
    first = usable(found.estimates)[0]
    assert found.verdict.startswith("With Accelerate, ")
    assert found.verdict.endswith(
        f"{first.runtime} would give {tokens_per_second(decode_tps(first))} here."
    )


def test_a_runtime_that_cannot_says_why_and_what_could() -> None:
    """It is for models with experts, and a dense model has none."""
    found = of(KTRANSFORMERS, "offloads")
    assert found.best is None
    assert "does not run it here. KTransformers is for models with experts" in found.verdict
    assert "would give" in found.verdict


def test_changes_are_options_of_the_runtime() -> None:
    fp8 = {one.change for one in of(VLLM, "offloads").what_ifs}
    assert "KV cache in q8_0" not in fp8
    # Weights of 16 bits are all that Transformers offloads: no smaller format is offered.
    assert not any("instead of" in one.change for one in of(ACCELERATE, "offloads").what_ifs)
    asked = catalog.model("Llama-3.1-70B", "BF16")
    here = machine(MachineSpec(gpu="RTX 4090", ram_gb=256))
    found = advise(asked, here, Workload(), chosen=VLLM)
    changes = {one.change for one in found.what_ifs}
    assert {"FP8 instead of BF16", "AWQ instead of BF16"} <= changes
    assert not any("Q4_K_M" in one for one in changes)


def test_a_narrow_slot_is_named_where_weights_cross_it() -> None:
    """A 4090 has PCIe 4 x16; over 4 lanes a quarter of it streams at a quarter of the speed."""
    asked = catalog.model("Llama-3.1-70B", "Q4_K_M")
    slots = {
        lanes: advise(
            asked,
            machine(MachineSpec(gpu="RTX 4090", ram_gb=64, pcie_gen=4, pcie_lanes=lanes)),
            Workload(),
            chosen=VLLM,
        )
        for lanes in (4, 16)
    }
    named = [one for one in slots[4].what_ifs if one.change.startswith("a slot with PCIe 4 x16")]
    assert slots[16].best is not None
    assert named[0].decode == pytest.approx(decode_tps(slots[16].best))
    assert 3 < named[0].gain <= 4.01
    assert not any("a slot with" in one.change for one in slots[16].what_ifs)


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
    asked = catalog.model(model, "Q4_K_M")
    after = advise(asked, read[better], Workload()).best
    assert after is not None
    (named,) = (
        one
        for one in advise(asked, read[now], Workload()).what_ifs
        if one.change == f"read_ahead_kb of the drive at {better}, now {now}"
    )
    assert (named.cost, named.decode) == ("free", pytest.approx(decode_tps(after)))
    assert named.gain > 1.2
    assumed = advise(asked, here, Workload())
    assert not any("read_ahead" in one.change for one in assumed.what_ifs)
