"""Which option a verdict names: launch prices, silent APIs, what people ask for, no machine yet."""

from dataclasses import replace
from datetime import date
from functools import cache

import pytest

from advisor.advice.advise import advise
from advisor.advice.edits.changes import LAST_RESORTS
from advisor.advice.finder.runnable import FOR_CODE
from advisor.advice.prices.power import PowerDraw
from advisor.advice.prices.price import Price
from advisor.advice.prices.rows import LAUNCH, price_rows
from advisor.advice.speeds import Speed
from advisor.advice.table.choice import choice_of, free_change, worth_buying
from advisor.advice.table.cost import LAUNCH_MARGIN, Use, speed_for_wait, waiting_seconds
from advisor.advice.table.option import FREE, Option, OptionKind, Question, split
from advisor.advice.table.turning import least_speed
from advisor.advice.words.verdict import Advice
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine import from_spec
from advisor.machine.machine import Form
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs, Ownership
from advisor.request.request import Request
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import compare

TODAY = date(2026, 11, 22)
WORK = Workload(output=200)
MONEY = MoneyInputs(usd_per_kwh=0.0, reading_tps=10.0)
USE = Use(work=WORK, money=MONEY)
SLOW = Speed(
    strategy=PlacementStrategy.CPU_OFFLOAD,
    format="Q4_K_M",
    decode=5,
    low=4,
    high=6,
    first_token=2,
    load=60,
)
FAST = replace(SLOW, decode=20.0, first_token=1.0)
NO_POWER = PowerDraw(idle=0, busy=0)


@cache
def question() -> Question:
    return Question(
        model=catalog.model("Llama-3.1-70B", "Q4_K_M"),
        machine=from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64)),
        work=WORK,
        runtimes=(LLAMA_CPP,),
        money=MONEY,
        ownership=Ownership(),
        today=TODAY,
    )


@cache
def kept() -> Option:
    return question().option(OptionKind.KEEP, "kept", SLOW, USE.owned(NO_POWER, SLOW))


def waiting(speed: Speed, hours: float) -> Speed:
    """A speed with a later first token, so many hours later in a month."""
    later = hours * 3600 / USE.replies
    return replace(speed, first_token=speed.first_token + later)


def card(name: str, usd: float, at_launch: float = 0.0) -> Option:
    price = Price(usd=usd, date="2026-11", note="a card", sources=("a",), at_launch=at_launch)
    cost = USE.owned(NO_POWER, FAST, usd=usd)
    option = question().option(OptionKind.REPLACE, name, FAST, cost, price)
    return replace(option, kept=kept())


def test_a_launch_price_counts_half_as_much_again_by_hand() -> None:
    # 600 USD over 36 months are 16.67 USD, as a launch price 25.00; 800 USD of today 22.22
    at_launch = card("launched", 600, at_launch=600)
    of_today = card("sold", 800)
    assert LAUNCH_MARGIN == 1.5
    assert at_launch.monthly == pytest.approx(16.6667, abs=1e-4)
    assert at_launch.compared == pytest.approx((at_launch.with_waiting or 0.0) + 8.3333, abs=1e-4)
    assert choice_of([kept(), at_launch, of_today], 6.0, 20.0).cheapest is of_today
    # at 500 USD it counts 20.83 USD
    lower = card("launched", 500, at_launch=500)
    assert choice_of([kept(), lower, of_today], 6.0, 20.0).cheapest is lower


def test_only_the_part_with_a_launch_price_counts_more() -> None:
    # a card of 300 USD at launch with a supply of 300 USD of today: 150 USD more over 36 months
    both = card("launched, with a supply", 600, at_launch=300)
    assert both.compared == pytest.approx((both.with_waiting or 0.0) + 150 / 36)


def test_what_pays_at_its_launch_price_alone_is_not_the_verdict() -> None:
    # 7.1021 h saved at 30 USD are 213.06 USD a month; 6,000 USD are 166.67, as a launch price 250
    dear = card("launched", 6000, at_launch=6000)
    assert dear.pays
    assert choice_of([kept(), dear], 6.0, 20.0).cheapest is None
    assert choice_of([kept(), card("sold", 6000)], 6.0, 20.0).cheapest is not None


def test_nine_in_ten_cards_cost_less_than_the_margin_over_their_launch_price() -> None:
    rows = [row for row in price_rows() if row.kind == "purchase"]
    launch = {row.gpu: row.usd for row in rows if row.provider == LAUNCH}
    street = {
        row.gpu: row.usd
        for row in sorted(rows, key=lambda row: row.date)
        if row.provider == "street, low" and row.gpu in launch
    }
    above = [gpu for gpu, usd in street.items() if usd > LAUNCH_MARGIN * launch[gpu]]
    assert len(street) >= 30
    assert len(above) <= 0.1 * len(street)


@pytest.mark.parametrize(("thought", "shown"), [(0.0, 200.0), (500.0, 200.0), (3000.0, 100.0)])
@pytest.mark.parametrize("speed", [2.0, 9.0, 40.0])
def test_the_speed_for_a_wait_is_the_wait_solved_for_it(thought, shown, speed) -> None:
    wait = waiting_seconds(0.0, speed, thought, shown, 10.0)
    if wait > 0:
        assert speed_for_wait(wait, thought, shown, 10.0) == pytest.approx(speed)


def test_an_api_of_unknown_speed_pays_from_a_speed_by_hand() -> None:
    # kept: 22 s a reply, 1217.5 x 22 / 3600 x 30 = 223.2083 USD a month; the API 1217.5 x 200 x
    # 2.78 / 1e6 = 0.6769 USD: 222.5314 USD are 21.9333 s a reply, 0.5 s until its first token:
    # S = 200 / (21.4333 + 20)
    base = replace(question(), ownership=Ownership(resale=0.0))
    called = base.option(OptionKind.API, "an API", None, USE.called(0.0, 2.78))
    called = replace(called, kept=kept())
    assert least_speed(called) == pytest.approx(200 / (21.4333 + 20), abs=1e-5)
    dear = base.option(OptionKind.API, "an API", None, USE.called(0.0, 5000.0))
    dear = replace(dear, kept=kept())
    assert least_speed(dear) is None


def advised(model: str, *, gpu: str = "RTX 3090", **own: object) -> Advice:
    machine = from_spec.machine(MachineSpec(gpu=gpu, ram_gb=64))
    ownership = Ownership(**own) if own else None
    return advise(
        catalog.model(model, "Q4_K_M"), machine, Workload(), ownership=ownership, today=TODAY
    )


def test_the_owner_of_an_rtx_3090_sees_the_choices_that_people_weigh() -> None:
    advice = advised("Llama-3.1-70B")
    shown, _ = split(advice.options, advice.choice.named)
    names = {(option.kind, option.name) for option in shown}
    assert (OptionKind.ADD, "RTX 3090, 2 in all") in names
    # beside the old card and in its place, which differ sixfold for a model that fills both
    assert {(OptionKind.ADD, "RTX 5090"), (OptionKind.REPLACE, "RTX 5090")} <= names
    assert {option.kind for option in shown} == set(OptionKind)
    machines = {option.topic for option in shown if option.kind is OptionKind.MACHINE}
    assert machines == {"Apple", "AMD", "NVIDIA"}
    # what the verdict names, and the formats nearest to Q4_K_M
    assert advice.choice.named
    assert set(map(id, advice.choice.named)) <= set(map(id, shown))
    assert (OptionKind.CHANGE, "IQ4_XS instead of Q4_K_M") in names
    assert (OptionKind.CHANGE, "Q2_K instead of Q4_K_M") not in names


def test_who_has_nothing_pays_nothing_now_and_buys_a_whole_desktop() -> None:
    advice = advised("Qwen3-32B", gpu="RTX 5090", nothing=True)
    nothing = advice.options[0]
    assert (nothing.name, nothing.monthly, nothing.upfront) == ("Nothing yet", 0.0, 0.0)
    assert nothing.speed is None
    kinds = {option.kind for option in advice.options[1:]}
    assert kinds == {OptionKind.MACHINE, OptionKind.RENT, OptionKind.API}
    assert any("New desktop with RTX 3090" in option.name for option in advice.options)
    assert advice.verdict.startswith("You have no machine for it yet.\n")


def test_nothing_is_neither_sold_nor_rented() -> None:
    with pytest.raises(InputError, match="Who owns nothing"):
        Ownership(form=Form.DESKTOP, nothing=True, resale=100.0)
    with pytest.raises(InputError, match="Who owns nothing"):
        Ownership(form=Form.DESKTOP, nothing=True, rented_at=1.0)


def test_nothing_is_bought_before_a_free_change_that_does_as_much() -> None:
    free = question().option(
        OptionKind.CHANGE,
        "a setting",
        FAST,
        USE.owned(NO_POWER, FAST),
        Price(note="free, until the next start"),
    )
    free = replace(free, kept=kept())
    bought = card("sold", 800)
    assert choice_of([kept(), bought], MONEY.reading_tps, MONEY.replies_per_day).safe is bought
    both = choice_of([kept(), bought, free], MONEY.reading_tps, MONEY.replies_per_day)
    assert both.safe is None
    assert "a setting" in both.reason


def test_another_model_has_room_and_keeps_its_quality_and_its_purpose() -> None:
    offered = [
        answer.another_model
        for answer in (
            advised("Llama-3.3-70B"),
            advised("Llama-3.3-70B", gpu="RTX 5090"),
            advised("DeepSeek-V3"),
            advised("Qwen3-32B", gpu="RTX 2070"),
        )
    ]
    known = [row for row in offered if row is not None]
    assert len(known) >= 3
    for row in known:
        assert row.model.format not in LAST_RESORTS, row.model.name
        assert not row.tight, row.model.name
        assert not FOR_CODE.search(row.model.name), row.model.name


def test_memory_is_tight_where_the_system_has_too_little_by_hand() -> None:
    # RTX 2070 of 8 GB with 16 GB of RAM: 21.2 GB are 19.7 GiB, of which the card holds about 7,
    # so 12.7 GiB in RAM leave 3.3 GiB to the system; with 32 GB there are 19
    big = catalog.model("Qwen3.6-35B-A3B", "Q4_K_M")
    for ram, tight in ((16, True), (32, False)):
        machine = from_spec.machine(MachineSpec(gpu="RTX 2070", ram_gb=ram))
        best = advise(big, machine, Workload()).best
        assert best is not None
        assert best.tight is tight, ram


def test_pages_of_a_file_fill_the_memory_that_a_gpu_shares() -> None:
    # 59 GiB of weights in a Mac of 64: 51 in the GPU's part, 9 of the other 10 as pages of the file
    nouns = Request(machine="MacBook Pro M4 Max 64GB", model="gpt-oss-120b").nouns()
    tried = compare(nouns.model, nouns.machine, nouns.work, runtimes=[LLAMA_CPP])
    (read,) = (each for each in tried if bool(each.fits))
    assert read.strategy is PlacementStrategy.NVME_OFFLOAD
    assert read.tight


def test_what_costs_thousands_is_rented_first_unless_it_answers_all_day() -> None:
    dear = card("workstation", 3001)
    usual = card("card", 3000)
    few = 199.0
    many = 200.0
    assert choice_of([kept(), dear], 10.0, few).safe is None
    too_dear = "What holds it costs $3,001 or more: too much for so few answers."
    assert choice_of([kept(), dear], 10.0, few).reason == too_dear  # nothing may be rented
    rentable = replace(card("by the hour", 0), kind=OptionKind.RENT)
    rent_first = "What holds it costs as much as a workstation: rent it for some hours first."
    assert choice_of([kept(), dear, rentable], 10.0, few).reason == rent_first
    assert choice_of([kept(), dear], 10.0, many).safe is dear
    assert choice_of([kept(), usual], 10.0, few).safe is usual


def test_a_purchase_is_named_where_it_saves_hours_or_halves_the_waiting_by_hand() -> None:
    # 40 answers a day for 30 days, the first word after t: 1,200 t / 3,600 hours
    def beside(now: float, then: float) -> list[Option]:
        here = replace(FAST, decode=5.0, first_token=now)
        there = replace(FAST, decode=5.0, first_token=then)
        present = question().option(OptionKind.KEEP, "kept", here, USE.owned(NO_POWER, here))
        return [present, replace(card("card", 100), speed=there, kept=present)]

    # who reads along at 4 tokens/s: 15 s sooner are 5 hours, 14 s are 4.7
    assert choice_of(beside(40.0, 25.0), 4.0, 40.0).safe is not None
    assert choice_of(beside(40.0, 26.0), 4.0, 40.0).safe is None
    # 5 hours that are less than a fifth of the waiting are within the error of predictions
    assert choice_of(beside(85.0, 70.0), 4.0, 40.0).safe is None


def test_an_hour_of_half_its_worth_chooses_among_purchases_by_hand() -> None:
    # 36 months: 3,600 and 900 USD are 100 and 25 a month; the dear one saves 4 hours more, 120 USD
    # of 30 an hour, 60 of 15: less than the 75 that it costs more
    owned = replace(kept(), speed=waiting(SLOW, 40.0))
    cheap = replace(replaced(20.0, 900), kept=owned, speed=waiting(FAST, 5.0))
    dear = replace(replaced(20.0, 3600), kept=owned, speed=waiting(FAST, 1.0))
    assert choice_of([owned, dear, cheap], 10.0, 2000.0).safe is cheap
    soon = replace(replaced(20.0, 3600), kept=owned, speed=FAST)
    late = replace(replaced(20.0, 900), kept=owned, speed=waiting(FAST, 12.0))
    assert choice_of([owned, soon, late], 10.0, 2000.0).safe is soon


def replaced(decode: float, usd: float = 100, waiting: float = 0.0, whole: bool = True) -> Option:
    if whole:
        held = PlacementStrategy.GPU_RESIDENT
    else:
        held = PlacementStrategy.CPU_OFFLOAD
    faster = replace(FAST, decode=decode, waiting=waiting, strategy=held)
    price = Price(usd=usd, date="2026-11", note="a card", sources=("a",))
    cost = USE.owned(NO_POWER, faster, usd=usd)
    option = question().option(OptionKind.REPLACE, f"card of {usd:g}", faster, cost, price)
    return replace(option, kept=kept())


def test_where_nothing_reads_along_a_third_of_it_is_enough() -> None:
    # a reader of 30 tokens/s: 10 are a third; for one of 31, 10.2 are less than 31 / 3 = 10.33
    assert choice_of([kept(), replaced(10.0)], 30.0, 2000.0).safe is not None
    assert choice_of([kept(), replaced(10.2)], 31.0, 2000.0).safe is None
    # what reads along goes before what does not, though it costs more
    slow = replaced(12.0, 100)
    along = replaced(31.0, 900)
    assert choice_of([kept(), slow, along], 30.0, 2000.0).safe is along


def test_who_rents_moves_for_half_of_the_rent_and_who_owns_never_rents() -> None:
    def rent(usd_per_hour: float, beside: Option) -> Option:
        option = question().option(
            OptionKind.RENT,
            f"{usd_per_hour:g} an hour",
            FAST,
            USE.rented_by_the_month(usd_per_hour),
            Price(usd=usd_per_hour, date="2026-11", note="a rent", sources=("a",)),
        )
        return replace(option, kept=beside)

    at_two = question().option(OptionKind.KEEP, "rented", SLOW, USE.rented_by_the_month(2.0))
    half = rent(1.0, at_two)
    more = rent(1.01, at_two)
    assert choice_of([at_two, half], 10.0, 2000.0).safe is half
    assert choice_of([at_two, more], 10.0, 2000.0).safe is None
    few = question().option(OptionKind.KEEP, "rented", SLOW, USE.rented_by_the_month(0.6))
    assert choice_of([few, rent(0.3, few)], 10.0, 2000.0).safe is None, "219 dollars a month"
    started = replace(
        at_two, cost=replace(USE.rented_by_the_month(2.0), rent=0.0, starts=2.0 * 730.5)
    )
    assert choice_of([started, rent(0.5, started)], 10.0, 2000.0).safe is not None
    # whose machine is owned buys: a rent that would repay is no safe purchase
    owned = replace(kept(), speed=waiting(SLOW, 100.0))
    offered = choice_of([owned, rent(0.5, owned)], 10.0, 2000.0)
    assert (offered.safe, offered.cheapest) == (None, None)
    # nor does who rents call an API by this
    api = replace(rent(0.1, at_two), kind=OptionKind.API)
    assert choice_of([at_two, api], 10.0, 2000.0).cheapest is None


def test_a_paid_change_can_be_chosen_and_a_free_one_is_a_reason_to_wait() -> None:
    def memory(usd: float) -> Option:
        price = Price(usd=usd, date="2026-11", note="more RAM", sources=("a",))
        option = question().option(
            OptionKind.CHANGE,
            "more RAM",
            FAST,
            USE.owned(NO_POWER, FAST, usd=usd),
            price,
        )
        return replace(option, kept=kept())

    paid = memory(100)
    assert choice_of([kept(), paid], 10.0, 2000.0).safe is paid
    assert choice_of([kept(), paid], 10.0, 2000.0).reason.startswith("It goes in as it is.")


def test_the_whole_model_goes_before_a_part_and_a_card_before_a_machine() -> None:
    part = replaced(20.0, 100, whole=False)
    whole = replaced(20.0, 300)
    machine = replace(replaced(40.0, 50), kind=OptionKind.MACHINE)
    assert choice_of([kept(), part, whole], 10.0, 2000.0).safe is whole
    assert choice_of([kept(), machine, part], 10.0, 2000.0).safe is part
    cards = question().machine.gpus
    two = replace(replaced(20.0, 100), bought=(*cards, *cards))
    single = replace(whole, bought=cards)
    assert choice_of([kept(), two, single], 10.0, 2000.0).safe is single


def test_for_half_of_the_price_what_does_nearly_the_same_is_taken() -> None:
    # 40 tokens/s are not twice 30, and who reads 10 tokens/s waits for neither
    dear = replaced(40.0, 1000)
    half = replaced(30.0, 500)
    assert choice_of([kept(), dear, half], 10.0, 2000.0).safe is half
    # twice the speed, and a first word that is five hours of a month sooner
    assert half.speed is not None
    late = replace(half, speed=waiting(half.speed, 5.0))
    fast = replaced(60.0, 1100)
    assert choice_of([kept(), fast, late], 10.0, 2000.0).safe is fast


def test_two_cards_come_before_one_where_they_leave_a_thousand_dollars() -> None:
    cards = question().machine.gpus
    single = replace(replaced(20.0, 4000), bought=cards)
    two = replace(replaced(24.0, 2000), bought=(*cards, *cards))
    assert choice_of([kept(), single, two], 10.0, 2000.0).safe is two
    dear = replace(replaced(20.0, 1800), bought=cards)
    twice = replace(replaced(24.0, 900), bought=(*cards, *cards))
    assert choice_of([kept(), dear, twice], 10.0, 2000.0).safe is dear


def test_alike_cards_go_before_unlike_ones() -> None:
    cards = question().machine.gpus
    other = from_spec.machine(MachineSpec(gpu="RTX 4070")).gpus
    machine = question().machine
    unlike = replace(
        replaced(25.0, 400), machine=replace(machine, gpus=(*cards, *other)), bought=other
    )
    single = replace(replaced(24.0, 600), machine=replace(machine, gpus=other), bought=other)
    assert choice_of([kept(), unlike, single], 10.0, 2000.0).safe is single


def test_where_users_wait_nobody_waiting_is_what_counts() -> None:
    queued = replace(kept(), speed=replace(SLOW, waiting=3.0))
    crowded = replaced(40.0, 100, waiting=1.0)
    served = replaced(6.0, 500)
    assert choice_of([queued, crowded], 5.0, 2000.0).safe is None
    assert choice_of([queued, crowded, served], 5.0, 2000.0).safe is served


def test_who_reads_along_buys_from_five_hours_saved_in_a_month() -> None:
    # the kept machine writes as fast as one reads and waits for its first tokens alone
    reading = replace(SLOW, decode=10.0, first_token=0.0)
    reads = replace(kept(), speed=waiting(reading, 8.0))
    for saved, bought in ((4.9, False), (5.0, True)):
        speed = waiting(replace(reading, decode=20.0), 8.0 - saved)
        faster = replace(replaced(20.0, 1), kept=reads, speed=speed)
        chosen = choice_of([reads, faster], 10.0, 2000.0).safe
        assert (chosen is faster) is bought, saved


def test_what_is_still_read_from_the_drive_is_no_safe_purchase() -> None:
    paged = PlacementStrategy.NVME_OFFLOAD
    now = replace(kept(), speed=replace(SLOW, strategy=paged))
    larger = replace(replaced(20.0, 1), kept=now)
    still = replace(larger, speed=replace(FAST, strategy=paged))
    assert choice_of([now, larger], 10.0, 2000.0).safe is larger
    assert choice_of([now, still], 10.0, 2000.0).safe is None


def test_what_would_be_bought_is_called_by_what_the_machine_takes() -> None:
    reads = replace(kept(), speed=replace(SLOW, decode=10.0))
    for spec, words in (
        (MachineSpec(gpu="RTX 3090", ram_gb=64), "a bigger GPU"),
        (MachineSpec(gpu="Apple M4 Max 40c", ram_gb=64), "a bigger machine"),
        (MachineSpec(gpu="none", ram_gb=64), "a GPU"),
    ):
        there = replace(reads, machine=from_spec.machine(spec))
        assert f": {words} would save little" in choice_of([there], 10.0, 40.0).reason


def test_each_user_must_gain_the_hours_for_which_a_team_buys() -> None:
    reading = replace(SLOW, decode=10.0, first_token=0.0)
    use = replace(USE, work=replace(WORK, users=4.0))
    reads = replace(kept(), speed=waiting(reading, 40.0), use=use)
    for saved, bought in ((19.0, False), (21.0, True)):
        speed = waiting(replace(reading, decode=20.0), 40.0 - saved)
        faster = replace(replaced(20.0, 1), kept=reads, speed=speed, use=use)
        assert (choice_of([reads, faster], 10.0, 2000.0).safe is faster) is bought, saved


def test_the_reason_says_what_is_odd_used_or_old() -> None:
    odd = replace(replaced(20.0, 3500), odd=("It needs a server's case.",))
    reason = choice_of([kept(), odd], 10.0, 40.0).reason
    assert (
        reason
        == "Only something odd repays its price: card of 3500, $3,500. It needs a server's case."
    )
    for words, condition, note in (
        ("Used: without its maker's warranty", "used", "a card"),
        ("Many run it", "new", "a card, less what you sell at its used price"),
    ):
        price = Price(usd=100, date="2026-11", note=note, sources=("a",), condition=condition)
        sold = replace(replaced(20.0, 100), price=price)
        reason = choice_of([kept(), sold], 10.0, 2000.0).reason
        assert words in reason
        assert ("Used" in reason) == (condition == "used")
    new = choice_of([kept(), replaced(20.0, 100)], 10.0, 2000.0).reason
    assert new == "Many run it, and it goes in as it is. Prices are of the United States."
    stale = replace(replaced(20.0, 100), stale=True)
    assert "The price is of 2026-11: look it up" in choice_of([kept(), stale], 10.0, 40.0).reason


def test_nothing_to_buy_says_how_fast_it_is() -> None:
    # a reader of 10 tokens/s; four times as fast is faster than one reads
    for decode, words in ((10.0, "as fast as you read"), (40.0, "faster than you read")):
        fast = replace(kept(), speed=replace(SLOW, decode=decode))
        assert words in choice_of([fast], 10.0, 40.0).reason
    idle = replace(kept(), use=replace(USE, money=replace(MONEY, replies_per_day=0)))
    assert choice_of([idle], 10.0, 40.0).reason == "Without answers nothing repays its price."
    assert "repays its price at your use" in choice_of([kept()], 10.0, 40.0).reason


def free(decode: float, note: str = "free, until the next start") -> Option:
    speed = replace(FAST, decode=decode)
    cost = USE.owned(NO_POWER, speed)
    price = Price(note=note)
    option = question().option(OptionKind.CHANGE, f"{decode:g} tokens/s", speed, cost, price)
    return replace(option, kept=kept())


def test_the_fastest_change_that_costs_nothing_is_the_free_one() -> None:
    slower = free(12.0)
    faster = free(18.0)
    worse = free(30.0, note=FREE)
    assert free_change([kept(), slower, faster, worse]) is faster
    assert free_change([kept(), slower, worse]) is slower
    assert free_change([kept(), worse]) is None
    assert free_change([slower]) is None, "what is kept is no change"
    assert free_change([kept(), free(5.01)]) is None, "nobody notices it"


def test_a_free_change_is_named_before_anything_is_bought_where_one_waits_for_text() -> None:
    answer = choice_of([kept(), free(8.0)], 10.0, 40.0)
    assert (answer.safe, answer.cheapest) == (None, None)
    assert answer.reason == "Before anything is bought, a free change: 8 tokens/s."
    # at 4 tokens/s of reading, 5 are enough: nothing has to change
    assert choice_of([kept(), free(8.0)], 4.0, 40.0).reason.startswith("It writes as fast as")
    assert choice_of([kept(), free(8.0)], 1.25, 40.0).reason.startswith("It writes faster than")


def test_of_cards_alike_the_one_that_costs_less_is_chosen() -> None:
    less = card("less", 700)
    more = card("more", 900)
    for options in ([kept(), less, more], [kept(), more, less]):
        answer = choice_of(options, 10.0, 40.0)
        assert (answer.safe, answer.cheapest) == (less, less)


def test_a_first_word_that_comes_sooner_is_worth_a_purchase_by_hand() -> None:
    # 40 answers a day for 30 days wait 60 s each now: 20 hours; at 20 s 6.7 hours, at 46 s 15.3
    late = replace(SLOW, decode=30.0, first_token=60.0)
    now = replace(kept(), speed=late, cost=USE.owned(NO_POWER, late))

    def beside(first_token: float) -> Option:
        sooner = replace(late, first_token=first_token)
        return replace(card("sooner", 300), speed=sooner, kept=now)

    assert worth_buying((now, beside(20.0)), 10.0, 40.0, None)
    assert not worth_buying((now, beside(46.0)), 10.0, 40.0, None)
    early = replace(kept(), speed=replace(late, first_token=20.0))
    assert not worth_buying((early, replace(beside(6.0), kept=early)), 10.0, 40.0, None)
