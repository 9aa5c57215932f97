"""The memory probe: bytes read, when it stops, its report. No clock is judged."""

import itertools
import threading
from dataclasses import replace

import pytest

from advisor.failures import ProbeError
from advisor.probes import host, ram
from advisor.probes import measurement as progress
from advisor.probes import ram as ram_readers
from advisor.probes.measurement import ProbeStep, Repeats, measurement
from advisor.units import GB, GIB, MIB

FACTS = host.HostFacts(
    name="Example",
    cores=2,
    sockets=1,
    instruction_sets=frozenset(),
    memory_total=int(16 * GIB),
    memory_available=int(8 * GIB),
    llc=int(32 * MIB),
    os="Linux",
    notes=(),
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "facts", lambda: replace(FACTS, llc=1))
    monkeypatch.setattr(host, "nodes", lambda: ())
    monkeypatch.setattr(ram, "LEAST_BYTES", int(MIB))
    monkeypatch.setattr(ram, "WINDOW", 0.001)
    ticks = itertools.count()  # a clock that no busy machine makes late
    monkeypatch.setattr(progress, "now", lambda: next(ticks) * 1e-4)


@pytest.mark.parametrize(
    ("cores", "counts"),
    [(1, (1,)), (2, (2, 1)), (6, (6, 4, 2, 1)), (8, (8, 4, 2, 1)), (24, (24, 16, 8, 4, 2, 1))],
)
def test_thread_counts(cores, counts):
    assert ram.thread_counts(cores) == counts


def test_buffers_are_eight_caches():
    assert ram.buffer_bytes(FACTS) == 8 * 32 * MIB


def test_buffers_are_64_mib_at_least():
    assert ram.buffer_bytes(replace(FACTS, llc=int(MIB))) == 64 * MIB


def test_buffers_take_a_quarter_of_free_memory_at_most():
    facts = replace(FACTS, llc=int(1024 * MIB), memory_available=int(4 * GIB))
    assert ram.buffer_bytes(facts) == GIB


def test_an_unknown_cache_counts_as_a_large_one():
    assert ram.buffer_bytes(replace(FACTS, llc=None)) == 8 * 32 * MIB


def test_too_little_memory_is_refused():
    with pytest.raises(ProbeError, match="needs 256 MB of free memory and 100 MB is free"):
        ram.buffer_bytes(replace(FACTS, memory_available=int(100 * MIB)))


def test_a_share_of_free_memory_can_be_smaller():
    facts = replace(FACTS, llc=int(1024 * MIB), memory_available=int(4 * GIB))
    assert ram.buffer_bytes(facts, share=1 / 8) == GIB / 2


def test_it_measures(small):
    told: list[ProbeStep] = []
    (measurement,) = ram.measure(0.02, progress=told.append)
    assert (measurement.name, measurement.unit) == ("ram_read", "B/s")
    assert measurement.value > 0
    assert measurement.threads in (1, 2)
    assert "1 MB" in measurement.note
    assert [point.threads for point in measurement.curve] == [1, 2]
    assert max(point.value for point in measurement.curve) == measurement.value
    assert all(point.best >= point.value for point in measurement.curve)
    shares = [step.share for step in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {"RAM, threads: 1", "RAM, threads: 2"} <= {step.doing for step in told}


def test_nodes_are_measured_together_and_apart(small, monkeypatch):
    here = frozenset(host._usable_cpus())
    nodes = (host.Node(cpus=here, cores=1), host.Node(cpus=here, cores=1))
    monkeypatch.setattr(host, "nodes", lambda: nodes)
    measurements = ram.measure(0.02)
    assert [measurement.name for measurement in measurements] == [
        "ram_read",
        "ram_read_node0",
        "ram_read_node1",
    ]
    assert all(measurement.value > 0 for measurement in measurements)
    assert "memory node 1 by its own cores" in measurements[2].note


@pytest.mark.skipif(not hasattr(ram_readers.os, "sched_setaffinity"), reason="Linux only")
def test_readers_of_a_node_stay_on_it(monkeypatch):
    told: list[tuple[int, frozenset[int]]] = []
    monkeypatch.setattr(ram_readers.os, "sched_setaffinity", lambda *about: told.append(about))
    with ram_readers.Readers(2, 4096, frozenset({3, 5})) as readers:
        assert readers.seconds(1) > 0
    assert told == [(0, frozenset({3, 5}))] * 2


def test_processors_that_are_not_there_are_an_error():
    with (
        pytest.raises(ProbeError),
        ram_readers.Readers(1, 4096, frozenset({1_000_000})) as readers,
    ):
        readers.seconds(1)


def test_small_buffers_are_reported(small, monkeypatch):
    crowded = replace(FACTS, llc=int(1024 * MIB), memory_available=int(8 * MIB))
    monkeypatch.setattr(host, "facts", lambda: crowded)
    (measurement,) = ram.measure(0.0)
    assert "the buffers are 0.0 times the caches" in measurement.note


def test_no_time_still_measures_all_cores(small):
    (measurement,) = ram.measure(0.0)
    assert measurement.threads == 2
    assert [point.threads for point in measurement.curve] == [2]


@pytest.mark.parametrize("after", [0, 2, 4])
def test_cancelling_gives_nothing_and_leaves_no_thread(small, after):
    before = threading.active_count()
    request = iter([False] * after + [True] * 100)
    assert ram.measure(1.0, cancelled=lambda: next(request)) == ()
    assert threading.active_count() == before


def test_an_interruption_leaves_no_thread(small):
    before = threading.active_count()

    def interrupt(_: ProbeStep) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ram.measure(1.0, interrupt)
    assert threading.active_count() == before


def test_no_room_for_a_buffer_is_reported(small, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr(ram_readers.np, "full", full)
    with pytest.raises(ProbeError, match="No memory for buffers"):
        ram.measure(0.02)


def test_the_best_median_wins_not_the_best_repeat():
    repeats = Repeats(threads=1, rates=(10 * GB, 11 * GB, 99 * GB))
    two = Repeats(threads=2, rates=(18 * GB, 20 * GB, 24 * GB))
    outcome = measurement("ram_read", [two, repeats], "Read.")
    assert (outcome.value, outcome.threads) == (20 * GB, 2)
    assert outcome.spread == pytest.approx((24 - 18) / 2 / 20)
    assert outcome.note == "Read. Median by threads: 1: 11, 2: 20 GB/s; best of 6 repeats 24."
    assert outcome.when.endswith("+00:00")


def test_a_curve_by_block_and_depth_names_both():
    curve = [
        Repeats(threads=threads, block=block, rates=(rate * GB,))
        for threads, block, rate in ((4, 2**22, 3.0), (1, 2**18, 1.0), (1, 2**22, 2.0))
    ]
    outcome = measurement("disk_read_direct", curve, "Read.")
    assert outcome.note == (
        "Read. Median by block x threads: 256 KB x 1: 1, 4 MB x 1: 2, 4 MB x 4: 3 GB/s; "
        "best of 3 repeats 3."
    )
    assert [(point.block, point.threads) for point in outcome.curve] == [
        (2**18, 1),
        (2**22, 1),
        (2**22, 4),
    ]
