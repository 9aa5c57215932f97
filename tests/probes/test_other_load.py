"""Processor time of other programs: arithmetic on the system's counters."""

import os
from types import SimpleNamespace

import psutil
import pytest

from advisor.probes import host
from advisor.probes.host import Neighbours


class Seen(SimpleNamespace):
    """Processor times as psutil gives them: a tuple with names."""

    def __iter__(self):
        return iter((self.user, self.system, self.idle, self.iowait, self.steal))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch):
    """Sets what the system counts: all times, and those of this program."""
    monkeypatch.setattr(host, "operating_system", lambda: "linux")

    def counted(user=0.0, idle=0.0, steal=0.0, own=0.0, children=0.0) -> None:
        seen = Seen(user=user, system=0.0, idle=idle, iowait=0.0, steal=steal)
        monkeypatch.setattr(psutil, "cpu_times", lambda: seen)
        times = SimpleNamespace(
            user=own, system=0.0, children_user=children, children_system=0.0, elapsed=0.0
        )
        monkeypatch.setattr(os, "times", lambda: times)

    counted()
    return counted


def test_its_own_work_and_that_of_ended_processes_do_not_count(counted) -> None:
    watch = Neighbours()
    counted(user=8.0, idle=2.0, own=1.0, children=7.0)
    assert watch.share() == 0.0
    assert watch.note(0.1) == ""


def test_others_and_stolen_time_count(counted) -> None:
    # Of 10 s of all processors 4 were idle, 2 its own, and 1 stolen: others took 4.
    watch = Neighbours()
    counted(user=5.0, idle=4.0, steal=1.0, own=2.0)
    assert watch.share() == pytest.approx(0.4)
    assert watch.note(0.1).startswith("Other programs took 40% of the processor meanwhile")
    assert watch.note(0.5) == ""


def test_clocks_that_disagree_still_give_a_share(counted) -> None:
    watch = Neighbours()
    counted(user=1.0, idle=1.0, own=5.0)
    assert watch.share() == 0.0


def test_without_counts_of_ended_processes_nothing_is_reported(counted, monkeypatch) -> None:
    monkeypatch.setattr(host, "operating_system", lambda: "win32")
    watch = Neighbours()
    counted(user=10.0)
    assert watch.share() == 0.0
