"""RAM against the drive: speed of a model over sizes of RAM, with one drive and with two.

What the GPU and RAM do not hold is read from the drive for each token, by llama.cpp as pages of the
file, by engines with experts in tiers as experts. More RAM saves reads, a second drive that is
striped with the first makes each read twice as fast. The fastest engine and placement counts at
each point, as people would choose.

    memory = ram_and_drive(question, estimates)
    memory.words       # "128 GB of RAM: 38 tokens/s in place of 9.5 for $389; it pays. ..."
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from advisor.advice.edits.changes import TAKES_DRIVES, YOUR_PRICE
from advisor.advice.edits.edit import Edited, scaled
from advisor.advice.speeds import speed_of
from advisor.advice.table.option import FREE, Option, Question
from advisor.advice.table.options import changes
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import capitalised, money
from advisor.machine.catalog import memory_generation
from advisor.machine.machine import Machine
from advisor.model.model import Floats
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import decode_tps, usable
from advisor.units import GIB, number

SIZES = (16, 32, 64, 128)  # sizes of RAM that are compared [GiB]
NUMBERS_OF_DRIVES = {1: "one drive", 2: "two drives, striped"}
"""Drives that work as one, in words."""
AS_IS = "as it is"
MORE = "of RAM"  # end of the words of more RAM
SECOND = "a second drive, striped with the first"
FELT = 1.05  # factor of speed below which a change is none


@dataclass(frozen=True, kw_only=True)
class MemoryPoint:
    """Fastest way to run a model with one size of RAM and number of drives."""

    ram_gib: float  # RAM [GiB]
    drives: int  # drives, striped
    decode: float  # speed of generation; 0 where nothing runs [tokens/s]
    low: float  # end of its 80 % range [tokens/s]
    high: float  # end of its 80 % range [tokens/s]
    runtime: str = ""  # name of the runtime; empty where nothing runs
    placement: str = ""  # placement there; empty where nothing runs


@dataclass(frozen=True, kw_only=True)
class RamAndDrive:
    """Speeds over sizes of RAM and numbers of drives, and the gain of more RAM or another drive."""

    points: tuple[MemoryPoint, ...]  # by drives, then by RAM
    now: MemoryPoint  # the present machine
    steps: tuple[Option, ...]  # twice the RAM and a second drive, where the machine takes them

    def along(self, drives: int) -> tuple[MemoryPoint, ...]:
        """Points with a given number of drives, in the order of their RAM."""
        return tuple(point for point in self.points if point.drives == drives)

    @property
    def words(self) -> str:
        """Sentences on whether more RAM or a second drive pays."""
        told = [*filter(None, (_of_step(step, self.now) for step in self.steps))]
        if not told:
            return "Neither more RAM nor a second drive makes it notably faster."
        return " ".join(told)


def ram_and_drive(question: Question, estimates: Iterable[Estimate]) -> RamAndDrive | None:
    """Speeds of a model over RAM and drives; None where neither changes them, as the GPU holds the
    model, or both are fixed.

    Args:
        question: what the options are of.
        estimates: its placements on the machine.
    """
    machine = question.machine
    estimates = list(estimates)
    tried = _tried(estimates)
    on_board = machine.unified or memory_generation(machine.host.name).startswith("LP")
    if not tried or on_board or machine.disk is None:
        return None
    present = float(machine.host.memory.value) / GIB
    sizes = sorted({*map(float, SIZES), present})
    points = tuple(_points(tried, machine, sizes))
    now = next(point for point in points if (point.ram_gib, point.drives) == (present, 1))
    speeds = [point.decode for point in points]
    in_gpu = max(map(decode_tps, filter(_is_resident, usable(estimates))), default=0.0)
    if max(speeds) < FELT * max(min(speeds), in_gpu, 1e-9):
        return None
    priced = list(changes(question, filter(None, _steps(tried, machine, now))))
    kept = next((option for option in priced if option.name == AS_IS), None)
    steps = tuple(replace(option, kept=kept) for option in priced if option.name != AS_IS)
    return RamAndDrive(points=points, now=now, steps=steps)


def _is_resident(estimate: Estimate) -> bool:
    return estimate.strategy is PlacementStrategy.GPU_RESIDENT


def _tried(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Estimates in llama.cpp and in engines with experts in tiers, outside the GPU; in other
    engines where only these are compared.
    """
    outside = [each for each in estimates if not _is_resident(each) and not each.refusal]
    usual = [each for each in outside if each.runtime is LLAMA_CPP or each.runtime.in_tiers]
    return usual or outside


def _machine_with(machine: Machine, ram_gib: Floats | float, drives: Floats | float) -> Machine:
    """Machine with some RAM and drives; arrays of both are many machines at once."""
    memory = replace(machine.host.memory, value=np.asarray(ram_gib) * GIB)
    more = replace(machine, host=replace(machine.host, memory=memory))
    striped = scaled(more, "disk.sequential", np.asarray(drives, dtype=float))
    if machine.disk is None or machine.disk.mapped is None:
        return striped
    return scaled(striped, "disk.mapped", np.asarray(drives, dtype=float))


def _points(tried: list[Estimate], machine: Machine, sizes: list[float]) -> Iterator[MemoryPoint]:
    """Fastest of some estimates at each size of RAM and number of drives."""
    grid = [(ram, drives) for drives in NUMBERS_OF_DRIVES for ram in sizes]
    ram, drives = (np.array(column, dtype=float) for column in zip(*grid, strict=True))
    swept = [each.again(machine=_machine_with(machine, ram, drives)) for each in tried]
    able = [each for each in swept if each.decode is not None]
    speeds = np.array([_along(each, len(grid)) for each in able])
    for at, (size, number_of_drives) in enumerate(grid):
        best = able[int(np.argmax(speeds[:, at]))] if len(able) else None
        if best is None or best.decode is None or not speeds[:, at].max():
            yield MemoryPoint(ram_gib=size, drives=number_of_drives, decode=0.0, low=0.0, high=0.0)
            continue
        ends = (best.decode.value, best.decode.low, best.decode.high)
        value, low, high = (float(np.broadcast_to(end, len(grid))[at]) for end in ends)
        yield MemoryPoint(
            ram_gib=size,
            drives=number_of_drives,
            decode=value,
            low=low,
            high=high,
            runtime=best.runtime.name,
            placement=best.strategy.value,
        )


def _along(estimate: Estimate, points: int) -> Floats:
    """Speed at each point, 0 where it does not fit, shape (points,) [tokens/s]."""
    if estimate.decode is None:
        return np.zeros(points)
    fits = np.broadcast_to(estimate.fits, points)
    return np.where(fits, np.broadcast_to(estimate.decode.value, points), 0.0)


def _steps(tried: list[Estimate], machine: Machine, now: MemoryPoint) -> Iterator[Edited | None]:
    """Machine as it is, then twice the RAM, up to the largest size that is compared, and a
    second drive.
    """
    yield _step(tried, AS_IS, _machine_with(machine, now.ram_gib, 1.0), cost=FREE)
    larger = next((size for size in SIZES if size >= 1.5 * now.ram_gib), None)
    if larger is not None:
        more = _machine_with(machine, float(larger), 1.0)
        yield _step(tried, f"{larger:g} GB {MORE}", more, part="ram", ram=larger * GIB)
    if machine.form in TAKES_DRIVES:
        yield _step(tried, SECOND, _machine_with(machine, now.ram_gib, 2.0), part="drive")


def _step(
    tried: list[Estimate], words: str, after: Machine, cost: str = YOUR_PRICE, **bought: Any
) -> Edited | None:
    """Machine with what is bought for it, in the fastest engine; None where none runs."""
    speeds = map(speed_of, usable([each.again(machine=after) for each in tried]))
    best = max(filter(None, speeds), key=lambda speed: speed.decode, default=None)
    if best is None:
        return None
    changed = {"machine": after}
    return Edited(words=words, cost=cost, changes=changed, speed=best, gain=1.0, **bought)


def _of_step(step: Option, now: MemoryPoint) -> str:
    """Sentence on a step: its speed, its cost, and whether it pays; empty where it is no faster."""
    speed = step.speed
    if speed is None or speed.decode < FELT * now.decode:
        return ""
    before = f" in place of {number(now.decode)}" if now.decode else ""
    price = f" for {money(step.price.usd)}" if step.price.usd else ", at a price of your own"
    pays = {True: "; it pays", False: "; it does not pay", None: ""}[step.pays]
    name = capitalised(step.name)
    return f"{name}: {number(speed.decode)} tokens/s{before}{price}{pays}."
