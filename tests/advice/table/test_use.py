"""Waiting, sessions, rent by use and API prices, worked by hand. A month has 30.4375 days."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from advisor.advice.prices.power import PowerDraw
from advisor.advice.prices.price import Price
from advisor.advice.speeds import Speed
from advisor.advice.table.cost import Use, queue_seconds, session_seconds, waiting_seconds
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.request.money import MoneyInputs
from advisor.request.request import Request


def running(
    decode: float, first_token: float, waiting: float = 0.0, load: float | None = None
) -> Speed:
    return Speed(
        strategy=PlacementStrategy.CPU_OFFLOAD,
        format="",
        decode=decode,
        low=decode,
        high=decode,
        first_token=first_token,
        load=load,
        waiting=waiting,
    )


def test_a_reader_waits_for_text_slower_than_reading() -> None:
    # 2 s, then 200 tokens at 5 tokens/s in 40 s of which 20 s are reading at 10 tokens/s
    assert waiting_seconds(2, 5, 0, 200, 10) == pytest.approx(22)
    # at 10 tokens/s and more only the first token is waited for
    assert waiting_seconds(2, 10, 0, 200, 10) == pytest.approx(2)
    assert waiting_seconds(2, 80, 0, 200, 10) == pytest.approx(2)


def test_thinking_is_waited_for_at_any_speed() -> None:
    # 1 s + 1000 / 50 = 21 s; the 200 tokens that are read come fast enough
    assert waiting_seconds(1, 50, 1000, 200, 10) == pytest.approx(21)


def test_a_batch_job_waits_for_all_of_it() -> None:
    # 2 s + 300 / 60 = 7 s
    assert waiting_seconds(2, 60, 0, 300, math.inf) == pytest.approx(7)


def test_a_turn_ends_when_the_reply_is_read() -> None:
    # 1 s + 100 / 50 thought + 200 / 10 read = 23 s; a slow machine takes 1 + 20 + 40 = 61 s
    assert session_seconds(1, 50, 100, 200, 10) == pytest.approx(23)
    assert session_seconds(1, 5, 100, 200, 10) == pytest.approx(61)


def test_rented_hours_follow_from_use_and_starts() -> None:
    # 400 replies x 45 s and 2 starts x 360 s are 18720 s = 5.2 h a day; x 30.4375 = 158.275 h
    money = MoneyInputs(replies_per_day=400, starts_per_day=2, start_minutes=6, reading_tps=10)
    use = Use(work=Workload(output=400), money=money)
    assert use.rented_hours(running(100, first_token=5)) == pytest.approx(158.275)


def test_nobody_rents_for_minutes_and_the_weights_lie_somewhere() -> None:
    # 40 replies x 45 s and 2 starts x 360 s are 0.7 h a day: two sessions of an hour, 60.875 h,
    # whatever the replies are; 42 GB at 0.07 USD are 2.94 USD a month
    money = MoneyInputs(replies_per_day=40, starts_per_day=2, start_minutes=6, reading_tps=10)
    use = Use(work=Workload(output=400), money=money, weights=42e9)
    cost = use.rented(0.50, running(100, first_token=5))
    assert use.rented_hours(running(100, first_token=5)) == pytest.approx(60.875)
    assert (cost.rent, cost.starts) == (0.0, pytest.approx(30.4375))
    assert cost.storage == pytest.approx(2.94)
    assert cost.total == pytest.approx(33.3775)
    assert use.rented_by_the_month(0.50).total == pytest.approx(365.25 + 2.94)
    assert (
        Use(work=use.work, money=MoneyInputs(replies_per_day=0)).rented_hours(
            running(100, first_token=5)
        )
        == 0
    )


def test_a_day_has_no_more_than_24_hours_of_rent() -> None:
    money = MoneyInputs(replies_per_day=1000, reading_tps=10)
    use = Use(work=Workload(output=6000), money=money)
    assert use.rented_hours(running(100, first_token=0)) == pytest.approx(24 * 30.4375)


def test_columns_cost_what_each_of_their_rows_costs() -> None:
    rows = [
        running(speed, first_token=first, waiting=waiting, load=load)
        for speed, first, waiting, load in ((3, 9.0, 0, 40.0), (20, 1.0, 2, None), (90, 0.1, 6, 8))
    ]
    columns = SimpleNamespace(
        **{
            name: np.array([getattr(row, name) for row in rows])
            for name in ("decode", "first_token", "loading", "waiting")
        }
    )
    draw = PowerDraw(idle=60.0, busy=410.0)
    for changes in ({}, {"thinking_tokens": 900, "replies_per_day": 700}, {"replies_per_day": 0}):
        use = Use(work=Workload(output=300, users=8), money=MoneyInputs(**changes))
        for of in (use.hours_lost, use.hours_starting, use.rented_hours, use.keeps_up):
            assert of(columns) == pytest.approx([of(row) for row in rows], rel=1e-12)
        idle, busy = use.power(draw, columns)
        each = [use.power(draw, row) for row in rows]
        assert idle == pytest.approx([parts[0] for parts in each], rel=1e-12)
        assert busy == pytest.approx([parts[1] for parts in each], rel=1e-12)


def test_an_api_charges_prompt_and_reply_apart() -> None:
    # 40 x 30.4375 calls x (1500 x 0.50 + 300 x 1.50) / 1e6 USD = 1217.5 x 0.0012 = 1.461 USD
    use = Use(work=Workload(prompt=1500, output=300), money=MoneyInputs(replies_per_day=40))
    assert use.called(0.50, 1.50).total == pytest.approx(1.461)


def test_cached_input_has_its_own_price_where_a_provider_has_one() -> None:
    # 1217.5 calls x (500 x 0.50 + 1000 x 0.05 + 300 x 1.50) / 1e6 = 1217.5 x 0.00075 = 0.913125
    work = Workload(prompt=1500, output=300, cached=1000)
    use = Use(work=work, money=MoneyInputs(replies_per_day=40))
    assert use.called(0.50, 1.50, 0.05).total == pytest.approx(0.913125)
    assert use.called(0.50, 1.50).total == pytest.approx(1.461)  # as any input


def test_tokens_of_a_month() -> None:
    use = Use(work=Workload(output=400), money=MoneyInputs(replies_per_day=10))
    assert use.tokens == pytest.approx(121_750)


def test_more_speed_never_makes_anybody_wait_longer() -> None:
    speeds = np.geomspace(0.1, 1000, 50)
    waits = waiting_seconds(1.0, speeds, 100.0, 300.0, 10.0)
    turns = session_seconds(1.0, speeds, 100.0, 300.0, 10.0)
    assert np.all(np.diff(waits) <= 0)
    assert np.all(np.diff(turns) <= 0)
    assert np.all(turns >= waits)


def test_working_days_and_the_hours_of_a_day_count() -> None:
    # 5 days a week: 30.4375 x 5 / 7 = 21.741 days; 40 replies of 42 s: 0.46667 h a day
    worked = MoneyInputs(days_per_week=5)
    assert worked.days == pytest.approx(21.741071, abs=1e-6)
    slow = Speed(
        strategy=PlacementStrategy.CPU_OFFLOAD,
        format="",
        decode=5,
        low=4,
        high=6,
        first_token=2,
        load=None,
    )
    use = Use(work=Workload(output=200), money=worked)
    assert use.busy_hours(slow) == pytest.approx(21.741071 * 40 * 42 / 3600)
    assert use.tokens == pytest.approx(21.741071 * 40 * 200)
    # 28 minutes of answers: within half an hour, not within a quarter of one
    for hours, enough in ((0.5, True), (0.25, False)):
        within = Use(work=use.work, money=replace(worked, answer_hours=hours))
        assert within.keeps_up(slow) == enough


def test_users_beyond_those_who_run_wait_for_replies_by_hand() -> None:
    # Of 8 users 2 run together: turns 0, 0, 1, 1, 2, 2, 3, 3 of 42 s, 1.5 x 42 on average.
    assert queue_seconds(8, 2, 42.0) == pytest.approx(63.0)
    assert queue_seconds(8, 8, 42.0) == 0.0
    # 22 s of reading behind, as for one user, and 63 s: 40 replies on 30.4375 days
    two = Speed(
        strategy=PlacementStrategy.GPU_RESIDENT,
        format="",
        decode=5,
        low=4,
        high=6,
        first_token=2,
        load=None,
        waiting=6.0,
    )
    eight = Use(work=Workload(output=200, users=8), money=MoneyInputs(reading_tps=10.0))
    assert eight.hours_lost(two) == pytest.approx(40 * 30.4375 * 85 / 3600)
    # 42 s of computing for each pair
    assert eight.busy_hours(two) == pytest.approx(40 * 30.4375 * 21 / 3600)


def test_a_rent_of_short_sessions_is_paid_by_the_start() -> None:
    # 10 answers a day in one start: a least session of an hour each day, of which nothing is rent
    # by use; 30.4375 hours at 2 USD are 60.875 USD a month
    money = MoneyInputs(replies_per_day=10, starts_per_day=1, reading_tps=10.0)
    use = Use(work=Workload(output=100), money=money)
    short = use.rented(2.0, running(decode=100.0, first_token=1.0, load=0.0))
    assert (short.rent, short.starts) == (0.0, pytest.approx(60.875))
    # three starts a day keep three hours, which is more than 10 answers take
    three = replace(use, money=replace(money, starts_per_day=3))
    rented = three.rented(2.0, running(decode=100.0, first_token=1.0, load=0.0))
    assert (rented.rent, rented.starts) == (0.0, pytest.approx(3 * 60.875))
    # asked for more than the sessions' least: what starts take is fixed, the rest grows with use
    busy = replace(use, money=replace(money, replies_per_day=2000))
    long = busy.rented(2.0, running(decode=100.0, first_token=1.0, load=0.0))
    assert long.rent > long.starts


def test_an_idle_machine_takes_idle_power_alone() -> None:
    # 10 W for 24 h x 30.4375 days at 0.30 USD: 2.19 USD; nothing runs on it
    use = Use(work=Workload(), money=MoneyInputs(usd_per_kwh=0.3, hours_on_per_day=24.0))
    month = use.owned(PowerDraw(idle=10.0, busy=500.0), None)
    assert (month.idle_power, month.busy_power) == (pytest.approx(2.1915), 0.0)


def test_waiting_ends_with_the_hours_that_all_users_have() -> None:
    # a reply of 1,000 s for each of 40 a day on 30.4375 days are 338 h; of 100,000 s more than the
    # 730.5 h of one user's month, or the 1,461 h of two
    money = MoneyInputs(reading_tps=10.0)
    for users, hours in ((1, 730.5), (2, 2 * 730.5)):
        use = Use(work=Workload(output=1, users=users), money=money)
        assert use.hours_lost(running(10.0, first_token=100_000.0)) == pytest.approx(hours)
        less = use.hours_lost(running(10.0, first_token=1000.0))
        assert less == pytest.approx(40 * 30.4375 * 1000 / 3600)


def test_what_is_rented_by_the_month_costs_the_same_without_replies() -> None:
    use = Use(work=Workload(), money=MoneyInputs())
    kept = use.rented_by_the_month(0.5)
    stopped = use.rented(0.5, running(100.0, first_token=1.0))
    assert (kept.fixed, kept.by_use) == (pytest.approx(0.5 * 730.5), 0.0)
    assert (kept.paid_fixed, kept.paid_by_use) == (pytest.approx(0.5 * 730.5), 0.0)
    assert stopped.stopped
    assert not kept.stopped


def test_a_launch_price_adds_half_of_itself_to_comparisons_by_hand() -> None:
    # 3,600 USD over 36 months are 100 a month, of which half is added
    use = Use(work=Workload(), money=MoneyInputs(purchase_months=36.0))
    cost = use.owned(PowerDraw(idle=0.0, busy=0.0), None, 5000.0)
    launched = Price(usd=5000.0, at_launch=3600.0).launch_share
    assert cost.margin(launched) == pytest.approx(50.0)
    assert cost.margin(Price(usd=5000.0).launch_share) == 0.0


def test_a_server_that_is_bought_takes_power_while_it_is_busy() -> None:
    # 7,200 USD over 36 months; 500 W for 100 h at 0.20 USD/kWh are 10 USD
    use = Use(work=Workload(), money=MoneyInputs(usd_per_kwh=0.20, purchase_months=36.0))
    month = use.served(PowerDraw(idle=50.0, busy=500.0), 7200.0, 100.0)
    assert (month.purchase, month.busy_power, month.idle_power) == (200.0, 10.0, 0.0)


def test_users_who_run_together_share_the_hours_of_a_rent() -> None:
    # 8 users of whom 2 run: 400 replies x 45 s / 2 and 2 starts x 360 s are 9,720 s a day
    money = MoneyInputs(
        replies_per_day=400,
        starts_per_day=2,
        start_minutes=6,
        reading_tps=10,
        hours_on_per_day=0,
    )
    use = Use(work=Workload(output=400, users=8), money=money)
    two = running(100, first_token=5, waiting=6.0)
    assert use.rented_hours(two) == pytest.approx(9720 / 3600 * 30.4375)


def test_several_people_keep_a_rent_all_the_working_day() -> None:
    # 9,720 s of work within 10 hours in which any of 8 users may ask; a single person stops it
    hours = {"replies_per_day": 400, "starts_per_day": 2, "start_minutes": 6, "reading_tps": 10}
    money = MoneyInputs(**hours, hours_on_per_day=10)
    two = running(100, first_token=5, waiting=6.0)
    team = Use(work=Workload(output=400, users=8), money=money)
    assert team.rented_hours(two) == pytest.approx(10 * 30.4375)
    alone = Use(work=Workload(output=400), money=money)
    assert alone.rented_hours(running(100, first_token=5)) < 10 * 30.4375
    # nothing is stopped earlier where fewer ask, so all of it is fixed
    assert team.rented(2.0, two).by_use == 0.0
    assert team.rented(2.0, two).starts == pytest.approx(2.0 * 10 * 30.4375)


def test_hours_in_which_requests_come_are_those_of_a_rent() -> None:
    asks = {"model": "Llama-3.3-70B", "cards_owned": "nothing"}
    rate = Request(**asks, requests_per_hour=30.0, answer_hours=10.0)
    assert rate.nouns().money.rented_hours_per_day == 10
    batch = Request(**asks, replies_per_day=300.0, answer_hours=10.0)
    assert batch.nouns().money.rented_hours_per_day is None
    team = Request(**asks, users=6, hours_on_per_day=10.0)
    assert team.nouns().money.rented_hours_per_day == 10
    typed = Request(**asks, users=6, hours_on_per_day=10.0, rented_hours_per_day=3.0)
    assert typed.nouns().money.rented_hours_per_day == 3
