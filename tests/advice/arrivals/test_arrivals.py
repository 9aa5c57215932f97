"""Arrivals: the simulation beside queueing theory, by hand, and what must hold of any load."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from advisor.advice.arrivals.load import ServerLoad, load_on
from advisor.advice.arrivals.server import Lengths, Requests, Server, at_random, of_users, simulate
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.request import Request
from advisor.runtimes import LLAMA_CPP, VLLM
from advisor.runtimes.compare import compare

SERVER = Server(  # a step 10 ms, a token read 1 ms, nothing for caches
    counts=np.array([1.0, 100.0]),
    bare=np.array([0.01, 0.01]),
    chunks=np.array([0.0, 10_000.0]),
    passes=np.array([0.0, 10.0]),
    cached=0.0,
    earlier=0.0,
    budget=10_000.0,
    slots=64,
    room=1e9,
)
ONE_AT_A_TIME = replace(SERVER, slots=1)
SHORT = Lengths(prompt=100, output=50, spread=0.0)


@pytest.mark.parametrize("busy", [0.3, 0.6, 0.8])
def test_one_slot_and_equal_requests_wait_as_theory_says(busy: float) -> None:
    # M/D/1: mean wait = rho s / (2 (1 - rho)); a request takes 0.1 s here and is a token long.
    lengths = Lengths(prompt=100, output=1, spread=0.0)
    service = 0.1
    served = simulate(ONE_AT_A_TIME, at_random(busy / service, 8_000, lengths))
    theory = service + busy * service / (2 * (1 - busy))
    assert float(np.mean(served.waits)) == pytest.approx(theory, rel=0.1)


def test_requests_of_different_lengths_wait_longer() -> None:
    # M/G/1 (Pollaczek and Khinchine): wait = lambda E[S^2] / (2 (1 - rho)), E[S^2] = s^2 (1 + c^2).
    busy = 0.6
    service = 0.1
    spread = 1.0
    lengths = Lengths(prompt=100, output=1e-9, spread=spread)
    served = simulate(ONE_AT_A_TIME, at_random(busy / service, 8_000, lengths))
    wait = busy / service * service**2 * (1 + spread**2) / (2 * (1 - busy))
    assert float(np.mean(served.waits)) == pytest.approx(service + wait, rel=0.15)


@pytest.mark.parametrize(("slots", "busy"), [(2, 0.7), (4, 0.8), (8, 0.85)])
def test_several_slots_wait_as_erlang_says(slots: int, busy: float) -> None:
    # M/M/c: wait = C s / (c - a), C = Erlang's probability of waiting, a = c rho.
    # Replies of exponential length, 100 tokens on average; every step takes 10 ms.
    load = slots * busy
    service = 1.0
    generator = np.random.default_rng(7)
    count = 40_000
    server = replace(SERVER, slots=slots, passes=np.array([0.01, 0.01]))
    requests = Requests(
        arrivals=np.cumsum(generator.exponential(service / load, count)),
        prompts=np.ones(count),
        outputs=np.ceil(generator.exponential(100.0, count)),
    )
    served = simulate(server, requests)
    terms = [load**k / math.factorial(k) for k in range(slots)]
    last = load**slots / math.factorial(slots) / (1 - busy)
    erlang = last / (sum(terms) + last)
    queued = float(np.mean(served.waits)) - 0.01
    assert queued == pytest.approx(erlang * service / (slots - load), rel=0.12)


def test_a_cached_part_of_a_prompt_is_not_read() -> None:
    # 80 % of 100 tokens are cached: 20 are read at 1 ms each, then 49 tokens at 10 ms.
    served = simulate(SERVER, of_users(1, 1, replace(SHORT, cached_share=0.8)))
    assert served.firsts == pytest.approx([0.02])
    assert served.ends == pytest.approx([0.02 + 0.49])


def test_a_prompt_cached_whole_still_reads_a_token() -> None:
    served = simulate(SERVER, of_users(1, 1, replace(SHORT, cached_share=1.0)))
    assert served.firsts == pytest.approx([0.001])


def test_cached_tokens_are_read_with_each_token_and_take_room() -> None:
    # 0.1 ms for each cached token: the first of 2 further tokens reads 100 + 0, the other one more.
    deep = replace(SERVER, cached=1e-4)
    lengths = Lengths(prompt=100, output=3, cached_share=0.8)
    served = simulate(deep, of_users(1, 1, lengths))
    assert served.ends - served.firsts == pytest.approx([2 * 0.01 + (100 + 101) * 1e-4])
    full = simulate(replace(SERVER, room=200.0), of_users(2, 2, replace(SHORT, cached_share=0.8)))
    assert full.firsts == pytest.approx([0.02, 0.51 + 0.02])


def test_the_closed_form_ends_where_memory_or_speed_does() -> None:
    # t(n) = 10 ms + (n - 1) / 50 x 100 ms <= 51 ms up to n = 21; room for 10 of 150 tokens.
    question = Request(user_tps=1 / 0.051)
    load = replace(served(), server=SERVER, lengths=SHORT, request=question)
    assert load.by_closed_form == 21
    assert replace(load, server=replace(SERVER, room=1500.0)).by_closed_form == 10
    assert replace(load, request=Request(first_token_within=0.05)).by_closed_form == 0
    # 80 % cached: 10 ms + (n - 1) / 50 x 20 ms reaches 51 ms beyond the 64 slots.
    assert replace(load, lengths=replace(SHORT, cached_share=0.8)).by_closed_form == 64


def test_two_requests_by_hand() -> None:
    # The first is read in 0.1 s and writes 2 tokens at 10 ms; the second comes at 0.105 s, so it is
    # read in the step after the one that ends at 0.11 s, together with the first's last token:
    # 101 tokens, 0.101 s. Then it writes 4 more.
    served = simulate(
        SERVER,
        Requests(
            arrivals=np.array([0.0, 0.105]),
            prompts=np.array([100.0, 100.0]),
            outputs=np.array([3.0, 5.0]),
        ),
    )
    assert served.firsts == pytest.approx([0.1, 0.211])
    assert served.ends == pytest.approx([0.211, 0.251])
    assert served.waits == pytest.approx([0.1, 0.106])


def test_a_long_prompt_is_read_in_chunks() -> None:
    # A budget of 60 tokens reads 150 in three steps: 0.06 + 0.06 + 0.03 s.
    small = replace(SERVER, budget=60.0)
    served = simulate(small, of_users(1, 1, Lengths(prompt=150, output=1)))
    assert served.firsts == pytest.approx([0.15])


def test_full_memory_lets_requests_wait() -> None:
    # Room for one request of 150 tokens: the second begins when the first, 0.1 + 49 x 0.01 s, ends.
    served = simulate(replace(SERVER, room=200.0), of_users(2, 2, SHORT))
    assert served.firsts == pytest.approx([0.1, 0.59 + 0.1])


def staggered(users, count, lengths, apart):
    """Requests of users whose first ones come one after another."""
    requests = of_users(users, count, lengths)
    arrivals = requests.arrivals.copy()
    arrivals[:users] = apart * np.arange(users)
    return replace(requests, arrivals=arrivals)


def test_an_engine_that_reads_apart_stops_writing() -> None:
    apart = simulate(replace(SERVER, mixed=False), staggered(8, 40, SHORT, apart=0.05))
    mixed = simulate(SERVER, staggered(8, 40, SHORT, apart=0.05))
    assert np.max(apart.ends) > np.max(mixed.ends)


def test_more_users_answer_more_and_wait_longer() -> None:
    load = replace(served(), server=SERVER, lengths=replace(SHORT, spread=0.5))
    met = [load.with_users(users) for users in (1, 4, 8)]
    assert [each.per_hour for each in met] == sorted(each.per_hour for each in met)
    assert [each.token_p50 for each in met] == sorted(each.token_p50 for each in met)


def test_users_in_service_are_arrivals_times_duration() -> None:
    # Little: users = rate x stay; alone a request stays 0.1 + 49 x 0.01 = 0.59 s.
    met = replace(served(), server=SERVER, lengths=SHORT).with_arrivals(360.0)
    assert met.users == pytest.approx(met.per_hour / 3600 * 0.59, rel=0.15)


def test_the_closed_form_is_near_the_simulation() -> None:
    load = replace(served(), server=SERVER, lengths=replace(SHORT, spread=0.5))
    for users in (2, 8, 32):
        simulated = load.with_users(users).token_p50
        by_form = float(SERVER.time_per_token(np.array([float(users)]), SHORT)[0])
        assert by_form == pytest.approx(simulated, rel=0.3)


@cache
def served() -> ServerLoad:
    where = machine(MachineSpec(gpu="L40S", ram_gb=128))
    model = catalog.model("Qwen3-8B", "FP8")
    load = load_on(compare(model, where, Workload(), runtimes=(VLLM,)), Request())
    assert load is not None
    return load


def test_a_higher_target_is_met_by_fewer_users() -> None:
    loads = [replace(served(), request=Request(user_tps=tps)) for tps in (15.0, 30.0, 5000.0)]
    slow, fast, beyond = (load.users_supported for load in loads)
    assert 0 == beyond < fast < slow
    assert loads[0].with_users(slow).meets(loads[0].request)


def test_beyond_saturation_nothing_is_promised() -> None:
    full = served().full_per_hour
    calm, crowded = (served().with_arrivals(share * full) for share in (0.3, 0.9))
    assert calm.first_p50 < crowded.first_p95
    assert calm.token_p50 < crowded.token_p50


def test_a_runtime_without_a_queue_has_no_load() -> None:
    where = machine(MachineSpec(gpu="L40S", ram_gb=128))
    estimates = compare(
        catalog.model("Qwen3-8B", "Q4_K_M"), where, Workload(), runtimes=(LLAMA_CPP,)
    )
    assert load_on(estimates, Request()) is None


def test_the_runtime_that_serves_most_is_chosen() -> None:
    where = machine(MachineSpec(gpu="H100", gpu_count=4, ram_gb=128))
    estimates = compare(catalog.model("Qwen3-8B", "FP8"), where, Workload())
    question = Request()
    best = load_on(estimates, question)
    each = [load_on([estimate], question) for estimate in estimates if estimate.fits]
    assert best is not None
    assert best.by_closed_form == max(load.by_closed_form for load in each if load is not None)


def test_numbers_out_of_their_limits_are_refused() -> None:
    with pytest.raises(InputError, match="--user-tps"):
        Request(user_tps=0.0)


def test_users_who_pause_ask_as_often_as_is_stated() -> None:
    # 16 users, 640 requests an hour: one of each in 16 x 3600 / 640 = 90 s
    load = loaded(Request(users=16, requests_per_hour=640.0))
    assert load.between == pytest.approx(90.0)
    # a prompt of 100 tokens is read in 0.1 s, and 50 tokens are written in 0.5 s: the rest passes
    assert load.pause == pytest.approx(89.4)
    assert load.with_users(16).per_hour <= 640.0
    assert loaded(Request(users=16)).pause == 0.0


def test_users_who_ask_less_often_wait_no_longer() -> None:
    waits = [
        loaded(Request(users=16, requests_per_hour=rate)).with_users(16).first_p95
        for rate in (100.0, 1000.0, 10_000.0)
    ]
    assert waits == sorted(waits)
    assert waits[-1] <= loaded(Request(users=16)).with_users(16).first_p95 * 1.05


def loaded(request: Request) -> ServerLoad:
    """The load of a request on the server of these tests."""
    return replace(served(), server=SERVER, lengths=SHORT, request=request)
