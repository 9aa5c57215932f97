"""The memory probe: what it reads, when it stops, what it reports. No clock is judged."""

import threading
from dataclasses import replace

import pytest

from advisor.errors import ProbeError
from advisor.probes import host, ram
from advisor.probes.repeats import Repeats, Watch, measurement
from advisor.units import GB, GIB, MIB

FACTS = host.HostFacts(
    name="Example",
    cores=2,
    sockets=1,
    instruction_sets=frozenset(),
    memory_total=int(16 * GIB),
    memory_available=int(8 * GIB),
    llc=int(32 * MIB),
    numa_nodes=1,
    os="Linux",
    notes=(),
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "facts", lambda: replace(FACTS, llc=1))
    monkeypatch.setattr(ram, "LEAST_BYTES", int(MIB))
    monkeypatch.setattr(ram, "WINDOW", 0.001)


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
    with pytest.raises(ProbeError, match="needs 256 MiB of free memory and 100 MiB is free"):
        ram.buffer_bytes(replace(FACTS, memory_available=int(100 * MIB)))


def test_it_measures(small):
    told: list[float] = []
    (found,) = ram.measure(0.02, progress=told.append)
    assert (found.name, found.unit) == ("ram_read", "B/s")
    assert found.value > 0
    assert found.threads in (1, 2)
    assert "1 MiB" in found.note
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_no_time_still_measures_all_cores(small):
    (found,) = ram.measure(0.0)
    assert found.threads == 2
    assert "Median by threads: 2:" in found.note


@pytest.mark.parametrize("after", [0, 2, 4])
def test_cancelling_gives_nothing_and_leaves_no_thread(small, after):
    before = threading.active_count()
    asked = iter([False] * after + [True] * 100)
    assert ram.measure(1.0, cancelled=lambda: next(asked)) == ()
    assert threading.active_count() == before


def test_no_room_for_a_buffer_is_said(small, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr(ram.np, "full", full)
    with pytest.raises(ProbeError, match="No memory for buffers"):
        ram.measure(0.02)


def test_the_best_median_wins_not_the_best_repeat():
    one = Repeats(threads=1, rates=(10 * GB, 11 * GB, 99 * GB))
    two = Repeats(threads=2, rates=(18 * GB, 20 * GB, 24 * GB))
    found = measurement("ram_read", [two, one], "Read.")
    assert (found.value, found.threads) == (20 * GB, 2)
    assert found.spread == pytest.approx((24 - 18) / 2 / 20)
    assert found.note == "Read. Median by threads: 1: 11, 2: 20 GB/s; best repeat 24."
    assert found.when.endswith("+00:00")


def test_a_stretch_of_the_bar_is_told_as_its_share():
    told: list[float] = []
    watch = Watch(progress=told.append, start=0.5).stretch(1, 2)
    assert not watch.stop(0.0)
    assert not watch.stop(2.0)
    assert told == [0.75, 1.0]
