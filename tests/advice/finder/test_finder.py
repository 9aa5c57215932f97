"""The finder: numbers of single estimates, targets that are kept, models in their order."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache, partial

import numpy as np
import pytest

from advisor.advice.advise import answer, findings_of
from advisor.advice.finder import combinations as combinations_module
from advisor.advice.finder.combinations import (
    CACHES,
    SEARCHED,
    Combinations,
    in_pieces,
    on_cluster,
    on_cores,
    stack_of,
)
from advisor.advice.finder.runnable import Trials, quality_rows
from advisor.advice.finder.search import Findings, Hit, best_of_each, find, offers
from advisor.advice.prices.power import draw_of
from advisor.advice.prices.price import rented, selling_price
from advisor.advice.speeds import speed_of
from advisor.advice.table.option import OptionKind, Question
from advisor.advice.table.options import odd_about, options
from advisor.advice.table.stack import Stack
from advisor.catalog.constants import Constants
from advisor.catalog.inputs import INPUTS, Input, Kind
from advisor.cost_model.arrangement import fewer, side_by_side
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.estimate import together as together_of
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, Refusal
from advisor.failures import NetworkError
from advisor.machine import from_catalog, from_spec
from advisor.machine.machine import Form, Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.by_name.named import named
from advisor.model.formats import Format
from advisor.model.model import Model
from advisor.request.money import MoneyInputs, Ownership
from advisor.request.request import Request
from advisor.runtimes import LLAMA_CPP, VLLM
from advisor.runtimes import runtime as runtime_named
from advisor.runtimes.compare import as_run, best_arranged

TODAY = date(2026, 11, 22)
WITHIN_A_YEAR = date(2026, 3, 1)  # of the launches of spring 2025


@cache
def host() -> Machine:
    return from_spec.machine(MachineSpec())


@cache
def tried() -> tuple[Machine, ...]:
    """160 cards of the catalogue in every number, and all that is sold whole."""
    every = stack_of(host()).machines
    cards = [machine for machine in every if not machine.unified]
    whole = [machine for machine in every if machine.unified]
    return (*random.Random(0).sample(cards, 160), *whole)


@cache
def stack() -> Stack:
    return Stack(tried())


MODELS = (
    ("Llama-3.1-8B", "Q4_K_M"), ("Llama-3.1-70B", "Q4_K_M"), ("Qwen3-30B-A3B", "Q8_0"),
    ("gpt-oss-120b", "MXFP4"), ("Llama-3.1-8B", "BF16-hf"), ("Qwen3-30B-A3B", "AWQ"),
)  # fmt: skip
WORKS = (
    Workload(), Workload(prompt=4096, users=4), Workload(kv_type="q8_0", users=2),
    Workload(kv_type="fp8", users=3, output=1024), Workload(cached=1024, prompt=2048),
)  # fmt: skip
CONTEXTS = np.array([8192.0, 32_768.0])


@pytest.mark.parametrize("runtime", SEARCHED, ids=lambda runtime: runtime.name)
def test_many_machines_at_once_are_each_machine_alone(runtime: Runtime) -> None:
    # 132 random combinations of each of 15 runtimes, to 12 digits, refusals and fit included; most
    # on machines that the runtime loads the model on
    chance = random.Random(runtime.name)
    answered = []
    for model, form in chance.sample(MODELS, 4):
        chosen = catalog.model(model, form)
        for strategy in PlacementStrategy:
            work = chance.choice(WORKS)
            several = replace(work, context=CONTEXTS)
            together = stack().speeds(chosen, several, runtime, strategy)
            for place in places(chance, chosen, runtime):
                at = chance.randrange(2)
                alone = replace(work, context=float(CONTEXTS[at]))
                row = together.at(place, at)
                assert_alike(row, chosen, tried()[place], alone, runtime, strategy)
                answered.append(row is not None)
    assert len(answered) == 132
    assert sum(answered) >= 3


def places(chance: random.Random, model: Model, runtime: Runtime) -> list[int]:
    """11 machines, by index: up to 8 that load the model, the others at random."""
    loads = [at for at, machine in enumerate(tried()) if runs(model, runtime, machine)]
    able = chance.sample(loads, min(8, len(loads)))
    return [*able, *chance.sample(range(len(tried())), 11 - len(able))]


def runs(model: Model, runtime: Runtime, machine: Machine) -> bool:
    try:
        as_run(model, runtime, machine)
    except Refusal:
        return False
    return True


@pytest.mark.parametrize("runtime", SEARCHED, ids=lambda runtime: runtime.name)
def test_bounds_rule_out_what_is_slower_and_nothing_else(runtime: Runtime) -> None:
    # every machine and context, several formats at once where a runtime takes them
    chance = random.Random(runtime.name)
    work = replace(chance.choice(WORKS), context=CONTEXTS)
    if runtime.takes_several_formats:
        formats = ("BF16-hf", "Q8_0", "AWQ", "Q4_K_M")
    else:
        formats = ("AWQ",)
    name = chance.choice(("Llama-3.1-70B", "Qwen3-30B-A3B"))
    models = [catalog.model(name, form) for form in formats]
    nothing = np.zeros((len(models) * len(CONTEXTS), len(tried())), dtype=bool)
    for strategy in runtime.strategies:
        each = [stack().speeds(model, work, runtime, strategy) for model in models]
        able = [speeds.formats == model.format for speeds, model in zip(each, models, strict=True)]
        every = {
            name: np.concatenate(
                [
                    np.where(mask, getattr(speeds, name), 0)
                    for speeds, mask in zip(each, able, strict=True)
                ]
            )
            for name in ("fits", "decode", "low", "high", "first_token", "load", "waiting")
        }
        fits = every["fits"] > 0
        if fits.any():
            least = float(np.median(every["decode"][fits])) * 0.999999
        else:
            least = 1.0
        bounded = stack().fast_speeds(models, work, runtime, strategy, skip=nothing, least=least)
        fast = fits & (every["decode"] >= least)
        assert np.array_equal(bounded.fits & (bounded.decode >= least), fast)
        for name, expected in every.items():
            np.testing.assert_allclose(getattr(bounded, name)[fast], expected[fast], rtol=1e-12)


def assert_alike(together, request, machine, work, runtime, strategy) -> None:
    alone = speed_of(arranged(request, machine, work, runtime, strategy))
    assert (alone is None) == (together is None)
    if alone is not None:
        for name in ("decode", "low", "high", "first_token", "load", "waiting"):
            assert getattr(together, name) == pytest.approx(getattr(alone, name), rel=1e-12)
        for name in ("format", "strategy", "arrangement"):
            assert getattr(together, name) == getattr(alone, name)


def arranged(
    request: Model, machine: Machine, work: Workload, runtime: Runtime, strategy: PlacementStrategy
) -> Estimate:
    """Single estimate of a machine in the best arrangement of its GPUs."""

    def alone(where: Machine, share: Workload) -> Estimate:
        nouns = {"runtime": runtime, "strategy": strategy, "machine": where, "work": share}
        if strategy not in runtime.strategies:
            return Estimate(model=request, refusal="It has no such placement.", **nouns)
        try:
            model = as_run(request, runtime, where)
        except Refusal as refusal:
            return Estimate(model=request, refusal=str(refusal), **nouns)
        return estimate(model, where, share, runtime, strategy, Constants.fitted())

    parts = []
    if strategy is PlacementStrategy.GPU_RESIDENT and not runtime.alone:
        for copies in side_by_side(machine, float(work.users)):
            single = alone(copies.part, copies.share(work))
            if bool(single.fits):
                parts.append(together_of(single, copies, work))
    parts += [replace(alone(some.part, work), arrangement=some) for some in fewer(machine)]
    return best_arranged(alone(machine, work), parts)


def test_a_purchase_costs_and_is_as_odd_in_the_finder_as_among_the_options() -> None:
    mine = from_spec.machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=64))
    asker = replace(
        question("Llama-3.1-8B"), machine=mine, ownership=Ownership(resale=0.0), money=MoneyInputs()
    )
    bought = (OptionKind.REPLACE, OptionKind.MACHINE)
    listed = {each.name: each for each in options(asker, None, ()) if each.kind in bought}
    hits = {
        hit.name: hit
        for hit in find(asker, Request(min_tps=1, format="Q4_K_M", kv_type="f16")).best
        if hit.kind in bought
    }
    alike = listed.keys() & hits.keys()
    assert {bool(listed[name].odd) for name in alike} == {True, False}
    for name in alike:
        assert odd_about(asker, hits[name]) == listed[name].odd, name
        assert hits[name].upfront == listed[name].upfront, name


def test_cards_that_one_has_are_no_purchase_and_stay_beside_more_of_them() -> None:
    """Two of a card cost the one that is missing, as among the options; the one alone is there."""
    target = Request(
        machine="Ryzen 7 5800X, RTX 3060 12GB, 64 GB", model="Qwen3.6-27B", min_tps=6.0
    )
    bought = [hit for hit in findings_of(target.nouns()).best if hit.kind is OptionKind.REPLACE]
    same = {hit.count: hit for hit in bought if hit.machine.name == "RTX 3060 12GB"}
    assert 1 not in same
    assert same[2].name == "RTX 3060 12GB, 2 in all"
    added = {option.name: option for option in answer(target.nouns()).advice.options}
    assert same[2].price.usd == added["RTX 3060 12GB, 2 in all"].price.usd


def test_cards_are_put_into_one_of_several_joined_machines() -> None:
    """One card in two machines was divided between none, and the search ended in an error."""
    boxes = from_spec.machine(MachineSpec(gpu="RTX 3090", machines=2))
    assert {machine.nodes for machine in stack_of(boxes).machines} == {1}


def test_costs_as_arrays_are_those_of_each_machine() -> None:
    money = MoneyInputs(thinking_tokens=300, days_per_week=5, usd_per_kwh=0.31)
    request = replace(question(), money=money, runtimes=SEARCHED)
    hits = [
        hit
        for form in ("Q4_K_M", "AWQ", "Q4_0")
        for hit in find(request, Request(min_tps=4, format=form, kv_type="f16")).hits
    ]
    chance = random.Random(7)
    for offer in ("bought", "rented"):
        by_runtime = defaultdict(list)
        for hit in hits:
            if hit.offer == offer and hit.monthly is not None:
                by_runtime[hit.speed.runtime].append(hit)
        assert len(by_runtime) >= 10
        for priced in by_runtime.values():
            for hit in chance.sample(priced, min(8, len(priced))):
                assert hit.monthly == pytest.approx(month_alone(hit, request), rel=1e-12)


def compared(hit: Hit) -> float:
    """Month of a machine, launch prices counted more."""
    return hit.monthly + hit.cost.margin(hit.price.launch_share)


def month_alone(hit: Hit, question: Question) -> float:
    machine = hit.machine
    how = runtime_named(hit.speed.runtime)
    model = catalog.model(question.model.name, hit.speed.format)
    work = replace(question.work, kv_type=hit.use.work.kv_type)
    speed = speed_of(arranged(model, machine, work, how, hit.speed.strategy))
    assert speed is not None
    assert speed.decode == pytest.approx(hit.speed.decode, rel=1e-12)
    if hit.offer == "bought":
        return question.use.owned(draw_of(machine), speed, usd=hit.upfront).total
    offer = rented(hit.machine.name, hit.count, question.money.own_rent)
    assert offer is not None
    return question.use.rented(offer.usd, speed).total


@cache
def question(model: str = "Llama-3.1-70B") -> Question:
    return Question(
        model=catalog.model(model, "Q4_K_M"),
        machine=host(),
        work=Workload(),
        runtimes=(LLAMA_CPP,),
        money=MoneyInputs(),
        ownership=Ownership(),
        today=TODAY,
    )


@pytest.mark.parametrize(
    "own", [{"form": Form.LAPTOP}, {"form": Form.MAC}, {"form": Form.DESKTOP, "nothing": True}]
)
def test_cards_for_who_has_no_room_come_in_a_new_desktop(own: dict[str, object]) -> None:
    # 2x RTX 3090 at 1120, 8 cores 188.99, 64 GB 900, 2 TB 290, board 244.94, case 124.99, 1200 W
    # 239
    gpu = {Form.LAPTOP: "RTX 4070 Laptop", Form.MAC: "Apple M4 Max 40c"}.get(own["form"])
    if gpu:
        there = from_spec.machine(MachineSpec(gpu=gpu))
    else:
        there = host()
    asker = replace(question(), machine=there, ownership=Ownership(**own))
    hits = find(asker, Request(min_tps=4, format="Q4_K_M")).hits
    (two,) = {hit.upfront for hit in hits if hit.title == "2x RTX 3090" and hit.offer == "bought"}
    assert two == pytest.approx(2 * 1120 + 188.99 + 900 + 290 + 244.94 + 124.99 + 239)


def test_as_many_machines_as_answer_all_users_at_once() -> None:
    # 64 users of 16k tokens each: no card of 48 GB holds all beside 33 GB of weights.
    work = Workload(users=64, prompt=15_872, output=512, context=16_384)
    model = catalog.model("Qwen3-32B", "FP8")
    wanted = replace(question(), model=model, work=work, runtimes=(VLLM,))
    hits = find(wanted, Request(min_tps=10, format="FP8")).hits
    hit = next(hit for hit in hits if hit.name == "L40S")
    where = from_spec.machine(MachineSpec(gpu="L40S"))
    together = VLLM.at_once(model, where, replace(work, kv_type=hit.use.work.kv_type), Settings())
    assert hit.machines == np.ceil(64 / float(together)) > 1
    assert hit.title == f"{hit.machines} machines, L40S"
    costs = [round(compared(hit), 2) for hit in hits if hit.priced]
    assert costs == sorted(costs)


@pytest.mark.parametrize(
    "target",
    [
        Request(min_tps=15, max_usd_per_month=200, max_usd=3000),
        Request(min_tps=40),
        Request(max_usd_per_month=20),
        Request(max_usd=500),
    ],
)
def test_all_that_is_found_meets_the_target_the_cheapest_first(target: Request) -> None:
    hits = reached(target)
    assert hits
    for hit in hits:
        assert hit.speed.decode >= target.min_tps
        for value, most in ((hit.monthly, target.max_usd_per_month), (hit.upfront, target.max_usd)):
            assert most is None or (value is not None and value <= most)
    costs = [round(compared(hit), 2) for hit in hits if hit.priced]
    assert costs == sorted(costs)
    assert not any(hit.priced for hit in hits[len(costs) :])


@cache
def reached(target: Request) -> tuple[Hit, ...]:
    return find(question(), replace(target, format="Q4_K_M")).hits


@cache
def reached_in_spring(target: Request) -> tuple[Hit, ...]:
    """Hits on a day on which launch prices of spring 2025 still take part in advice."""
    then = replace(question(), today=WITHIN_A_YEAR)
    return find(then, replace(target, format="Q4_K_M")).hits


def cards(hits: Sequence[Hit]) -> list[Hit]:
    """Hits that are no machine sold whole."""
    return [hit for hit in hits if not hit.machine.unified]


@cache
def one_cache(target: Request) -> Findings:
    return find(question(), replace(target, format="Q4_K_M", kv_type="f16"))


@pytest.mark.parametrize(
    "budget", [{"max_usd_per_month": 60}, {"max_usd": 900}, {"max_usd_per_month": 90, "max_usd": 0}]
)
def test_a_budget_leaves_out_what_costs_more_and_nothing_else(budget: dict[str, float]) -> None:
    every = one_cache(Request(min_tps=15))
    within = one_cache(Request(min_tps=15, **budget))
    month = budget.get("max_usd_per_month", np.inf)
    once = budget.get("max_usd", np.inf)
    assert within.hits == tuple(
        hit
        for hit in every.hits
        if hit.monthly is not None and hit.monthly <= month and hit.upfront <= once
    )
    assert 0 < within.rows.costed < every.rows.costed < every.rows.tried == within.rows.tried


def test_a_larger_cache_that_is_fast_enough_spares_the_smaller_one() -> None:
    target = Request(min_tps=15, format="Q4_K_M")
    outcome = find(question(), target).hits
    each = [
        find(replace(question(), work=Workload(kv_type=kept)), replace(target, kv_type=kept)).hits
        for kept in ("f16", "q8_0", "q4_0")
    ]
    largest = {}
    for hit in (hit for hits in each for hit in hits):
        largest.setdefault((hit.name, hit.offer), hit)
    assert set(outcome) == set(largest.values())


def test_a_higher_target_finds_no_more() -> None:
    counts = [len(reached(Request(min_tps=speed))) for speed in (1, 20, 10_000)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0


def test_nothing_unpriced_or_undated_comes_before_what_can_be_had() -> None:
    hits = reached(Request(min_tps=1))
    able = [hit.priced for hit in hits]
    assert able == sorted(able, reverse=True)
    assert {True, False} == set(able)
    assert all(hit.monthly is not None and hit.price.dated for hit in hits if hit.priced)
    budget = reached(Request(min_tps=1, max_usd=1e6))
    assert all(hit.monthly is not None for hit in budget)


def test_a_launch_price_and_an_old_one_are_named_so() -> None:
    hits = [
        hit
        for hit in reached_in_spring(Request(min_tps=1))
        if hit.monthly is not None and not hit.machine.unified
    ]
    launched = {hit.machine.name for hit in hits if hit.price.listed}
    assert {"Arc Pro B60", "RTX PRO 4500 Blackwell"} <= launched
    assert not launched & {"RTX 3090", "RTX 5090"}
    for hit in hits:
        assert hit.aged.startswith(" (launch price of") == hit.price.listed
        assert bool(hit.aged) == (hit.price.listed or hit.stale)


def test_launch_prices_stand_where_a_verdict_puts_them() -> None:
    # 36 months: an Arc Pro B60 at $599 counts half as much again, 599 / 36 / 2 = $8.32 a month more
    request = question()
    assert request.money.purchase_months == 36
    hits = [
        hit
        for hit in reached_in_spring(Request(min_tps=1))
        if hit.offer == "bought" and not hit.machine.unified
    ]
    launched = next(hit for hit in hits if hit.name == "Arc Pro B60")
    assert selling_price("Arc Pro B60").usd == 599
    assert compared(launched) - launched.monthly == pytest.approx(599 / 36 / 2)
    for hit in hits:
        if hit.monthly is not None:
            assert (compared(hit) > hit.monthly) == hit.price.listed


def test_a_launch_price_of_over_a_year_is_none() -> None:
    hits = {
        hit.name: hit
        for hit in reached(Request(min_tps=1))
        if hit.offer == "bought" and not hit.machine.unified
    }
    assert hits["Arc Pro B60"].monthly is None
    assert hits["RTX 3090"].monthly is not None


@cache
def prices_now() -> tuple[Hit, ...]:
    return one_cache(Request(min_tps=15)).hits


def ranks(hits: Sequence[Hit]) -> dict[tuple[str, str], int]:
    """Rank of each offer, 0 for the first."""
    return {(hit.name, hit.offer): at for at, hit in reversed([*enumerate(hits)])}


@pytest.mark.parametrize("offer", ["bought", "rented"])
@pytest.mark.parametrize("share", [0.9, 0.5, 0.01])
def test_a_lower_price_never_lowers_the_rank(offer: str, share: float) -> None:
    # typed prices at a share of what each costs now, for six cards at random
    before = ranks(prices_now())
    dated = [
        hit for hit in prices_now() if hit.offer == offer and hit.priced and not hit.machine.unified
    ]
    for hit in random.Random(f"{offer} {share}").sample(dated, 6):
        target = Request(min_tps=15, format="Q4_K_M", kv_type="f16")
        after = ranks(find(cheaper(hit, share), target).hits)
        key = (hit.name, offer)
        assert after[key] <= before[key]


def cheaper(hit: Hit, share: float) -> Question:
    """The question with a typed price of a card, at a share of the one on record."""
    money = question().money
    if hit.offer == "rented":
        offer = rented(hit.machine.name, hit.count, money.own_rent)
        assert offer is not None
        typed = {"own_rent": ((hit.machine.name, share * offer.usd / hit.count),)}
    else:
        price = selling_price(hit.machine.name)
        assert price is not None
        typed = {"own_price": ((hit.machine.name, share * price.usd),)}
    return replace(question(), money=replace(money, **typed))


UNSOLD = {"SXM", "Laptop", "Mobile"}
"""Words in the names of GPUs that no shop sells by themselves."""


def test_nothing_unpriced_undated_or_unavailable_wins() -> None:
    # server modules and laptops' chips are in no shop: bought, they have no price
    first = prices_now()[0]
    assert first.priced
    for hit in prices_now():
        if hit.priced:
            assert hit.monthly is not None
            assert hit.price.date
            assert hit.offer == "rented" or not {"SXM", "Laptop", "Mobile"} & set(
                hit.machine.name.split()
            )


def test_modules_of_servers_are_rented_and_never_bought() -> None:
    hits = reached(Request(min_tps=1))
    offers = {hit.offer for hit in hits if "SXM" in hit.machine.name and hit.monthly is not None}
    assert offers == {"rented"}


FORMATS = ("Q4_K_M", "Q8_0", "Q6_K", "BF16", "AWQ")


def rows_of(*rows: tuple[int, float, str, str]) -> Combinations:
    """Rows of an option, with decode speed, format and cache."""
    at, decode, form, cache = zip(*rows, strict=True)
    column = np.ones(len(rows))
    return Combinations(
        candidate=np.array(at),
        decode=np.array(decode),
        form=np.array([*map(FORMATS.index, form)]),
        cache=np.array([*map(CACHES.index, cache)]),
        runtime=np.zeros(len(rows), dtype=int),
        strategy=np.zeros(len(rows), dtype=int),
        context=8192 * column,
        low=column,
        high=column,
        first_token=column,
        load=column,
        machines=column,
        arrangement=np.full(len(rows), "", dtype=object),
        tried=0,
    )


def test_the_best_of_a_machine_loses_least_then_is_fastest() -> None:
    rows = rows_of(
        (0, 30, "Q4_K_M", "f16"),
        (0, 20, "Q8_0", "f16"),
        (0, 50, "Q4_K_M", "q8_0"),
        (0, 40, "Q4_K_M", "f16"),
        (1, 5, "Q4_K_M", "f16"),
    )
    assert list(best_of_each(rows, FORMATS)) == [1, 4]
    assert list(best_of_each(rows.at(np.array([0, 2, 3, 4])), FORMATS)) == [2, 3]


def test_the_last_digits_of_a_sum_order_nothing() -> None:
    # A month of one machine at speeds that differ in the twelfth digit: in the order that they had.
    priced = offers(question(), stack_of(host()).machines)
    at = next(at for at, option in enumerate(priced.options) if option.name == "RTX 3090")
    alike = rows_of((at, 30 + 1e-12, "Q4_K_M", "f16"), (at, 30, "Q4_K_M", "f16"))
    assert list(priced.order(alike)) == [0, 1]
    assert list(priced.order(alike.at(np.array([1, 0])))) == [0, 1]
    faster = rows_of((at, 30, "Q4_K_M", "f16"), (at, 30.001, "Q4_K_M", "f16"))
    assert list(priced.order(faster)) == [1, 0]


def test_formats_that_no_score_tells_apart_are_alike() -> None:
    # Q6_K loses 96 x 0.0054 = 0.5 points, Q4_K_M 96 x 0.028 = 2.7 (data/models/format_loss.csv)
    rows = rows_of((0, 7, "BF16", "f16"), (0, 17, "Q6_K", "f16"), (0, 19, "Q4_K_M", "f16"))
    assert list(best_of_each(rows, FORMATS)) == [1]


def test_the_format_that_is_advised_on_stands_before_one_that_loses_less() -> None:
    rows = rows_of(
        (0, 17, "Q6_K", "f16"),
        (0, 19, "Q4_K_M", "f16"),
        (1, 7, "Q6_K", "f16"),
    )
    assert list(best_of_each(rows, FORMATS, "Q4_K_M")) == [1, 2]


def test_the_four_bits_of_servers_stand_for_those_of_files() -> None:
    rows = rows_of((0, 17, "Q6_K", "f16"), (0, 40, "AWQ", "f16"), (0, 20, "Q4_K_M", "f16"))
    assert list(best_of_each(rows, FORMATS, "Q4_K_M")) == [1]
    assert list(best_of_each(rows, FORMATS, "Q8_0")) == [0]


def test_a_cluster_gives_the_same_answer() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    target = Request(min_tps=25, kv_type="f16")
    wanted = replace(question(), runtimes=(LLAMA_CPP, VLLM))
    here = find(wanted, target)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        compute = on_cluster(cluster.scheduler_address)
        there = find(wanted, target, compute)
    assert there.hits == here.hits
    assert here.hits


@pytest.mark.parametrize("forks", [True, False])
def test_all_cores_give_the_same_answer(forks: bool, monkeypatch) -> None:
    monkeypatch.setattr(combinations_module, "_forks", lambda: forks)
    monkeypatch.setattr(combinations_module.os, "cpu_count", lambda: 2)
    target = Request(min_tps=25, kv_type="f16")
    wanted = replace(question(), runtimes=(LLAMA_CPP, VLLM))
    here = find(wanted, target)
    there = find(wanted, target, on_cores)
    assert there.hits == here.hits
    assert here.hits


def test_a_cluster_that_does_not_answer_is_said(monkeypatch) -> None:
    pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    monkeypatch.setattr(combinations_module, "WAIT", 0.2)
    with pytest.raises(NetworkError, match="No Dask scheduler"):
        find(question(), Request(format="Q4_K_M"), on_cluster("tcp://127.0.0.1:1"))


TARGET = [each for each in INPUTS.values() if (each.group, each.kind) == ("target", Kind.NUMBER)]


@pytest.mark.parametrize("entry", TARGET, ids=lambda entry: entry.name)
def test_targets_have_limits(entry: Input) -> None:
    name = entry.name
    most = entry.limits[1]
    for wrong in (-1, most * 1.01, float("nan")):
        with pytest.raises(InputError, match="allowed is"):
            Request(**{name: wrong})


@cache
def here() -> tuple[object, ...]:
    machine = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    names = ("Llama-3.1-8B", "Llama-3.1-70B", "Gemma-3-27B", "Qwen3-30B-A3B", "Qwen3.6-27B",
             "DeepSeek-V3")  # fmt: skip
    return tuple(Trials(machine, Workload(), 10.0).runnable(names))


def test_models_that_keep_up_come_first_by_score_and_unscored_ones_apart() -> None:
    result = here()
    scored = [row for row in result if row.quality is not None]
    assert list(result[: len(scored)]) == scored
    fast = [option for option in scored if option.keeps_up]
    assert scored[: len(fast)] == fast
    scores = [row.score for row in fast]
    assert scores == sorted(scores, reverse=True)
    assert all(option.speed.decode >= 10 for option in fast)


def test_no_context_is_longer_than_the_models_own() -> None:
    # OPT was trained with 2,048 positions (facebook/opt-1.3b, max_position_embeddings)
    machine = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    (row,) = Trials(machine, Workload(context=8192), 10.0).runnable(["OPT-1.3B"])
    assert row.context == 2048


def test_models_that_do_not_fit_are_not_worth_running() -> None:
    # 671 billion parameters in 2.6 bits are 218 GB; card and RAM hold 88
    names = [
        hit.model.name for hit in here() if hit.speed.strategy is not PlacementStrategy.NVME_OFFLOAD
    ]
    assert "DeepSeek-V3" not in names
    assert "Llama-3.1-8B" in names


def test_the_best_format_is_the_largest_that_a_reader_need_not_wait_for() -> None:
    by_name = {estimate.model.name: estimate for estimate in here()}
    assert by_name["Llama-3.1-8B"].model.format == "Q8_0"
    slow = by_name["Llama-3.1-70B"]
    assert slow.keeps_up == (slow.speed.decode >= 10)


def test_scores_are_of_catalogue_models_dated_and_public() -> None:
    for name, row in quality_rows().items():
        assert name in catalog.model_rows() or named(name).known
        assert name in catalog.model_rows() or named(name).architecture.name == name
        assert 900 < row.score < 1600
        assert row.date <= row.retrieved
        assert row.source.startswith("https://")


def test_a_smaller_format_of_a_kind_loses_more() -> None:
    # ggml-org/llama.cpp, tools/perplexity/README.md: LLaMA 3 8B, KLD with a Wikitext matrix
    loss = {form: row.kl_divergence for form, row in Format.losses().items()}
    ladder = ("F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "IQ3_XXS", "Q2_K")
    assert [loss[form] for form in ladder] == sorted(loss[form] for form in ladder)
    assert (loss["Q4_K_M"], loss["Q2_K"]) == (0.028152, 0.332223)
    assert set(loss) <= set(Format.by_name())


def test_hardware_of_candidates_is_of_the_catalogue() -> None:
    names = {machine.name for machine in stack_of(host()).machines}
    assert names >= {"RTX 3090", "DGX Spark (GB10)", "RX 7900 XTX"}
    assert replace(host(), gpus=(from_catalog.gpu("RTX 3090"),)).gpus


def test_a_search_in_pieces_finds_the_same_and_tells_how_far_it_is() -> None:
    small = question("Llama-3.1-8B")
    shares: list[float] = []
    request = Request(min_tps=100, format="Q4_K_M")
    whole = find(small, request)
    pieces = find(small, request, partial(in_pieces, told=shares.append))
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] < 1.0
    for name in combinations_module.COLUMNS:
        np.testing.assert_array_equal(getattr(whole.rows, name), getattr(pieces.rows, name), name)


def test_the_finder_keeps_to_what_a_request_allows() -> None:
    """A maker, watts, and texts that stay in the house, as `advise` does."""
    words = {"model": "Qwen3-8B", "machine": "3060 12gb 32gb", "min_tps": 20.0}
    runtime = {"runtime": "llama.cpp"}
    amd = findings_of(Request(**words, **runtime, maker="AMD").nouns()).best
    assert amd
    assert {card.vendor for hit in amd for card in hit.bought} == {"AMD"}
    small = findings_of(Request(**words, **runtime, max_watts=200.0).nouns()).best
    assert all(sum(card.board_power or 0.0 for card in hit.bought) <= 200 for hit in small)
    home = findings_of(Request(**words, **runtime, texts="house").nouns())
    assert not [hit for hit in home.best if hit.offer == "rented"]
    assert not home.apis
