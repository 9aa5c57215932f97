"""Order of the probes of a machine: first the one that narrows a usual answer there most."""

import math
from collections.abc import Sequence
from dataclasses import replace

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import Margins
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Gpu, Machine
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP
from advisor.units import Provenance, Quantity

USUAL = ("Qwen3-30B-A3B", "Q4_K_M")
"""A model of the size that many ask for: experts in RAM beside a small card, whole in a large one,
on the drive where RAM is small."""


def in_order(machine: Machine, probes: Sequence[str]) -> list[str]:
    """Probes in the order of the range that each leaves for a usual answer, the narrowest first."""
    usual = _usual(machine)
    if usual is None:
        return list(probes)
    return sorted(probes, key=lambda name: _width_after(usual, name))


def _usual(machine: Machine) -> Estimate | None:
    """Usual answer on a machine, in the first placement that fits."""
    model = catalog.in_format(catalog.architecture(USUAL[0]), USUAL[1])
    for strategy in LLAMA_CPP.strategies:
        answer = estimate(model, machine, Workload(), LLAMA_CPP, strategy)
        if answer.decode is not None and bool(answer.fits):
            return answer
    return None


def _width_after(usual: Estimate, name: str) -> float:
    """Width of an estimate's range after a probe that finds the assumed value, as a logarithm."""
    probed = replace(usual, machine=_probed(usual.machine, name), planned=usual.phases)
    if name == "engine" and usual.constants is not None:
        probed = replace(probed, constants=_timed(usual.constants))
    speed = probed.decode
    if speed is None:
        return math.inf
    return math.log(float(speed.high) / float(speed.low))


def _probed(machine: Machine, name: str) -> Machine:
    """Machine with a probe's rates measured."""
    if name == "ram":
        bandwidth = _measured(machine.host.bandwidth)
        return replace(machine, host=replace(machine.host, bandwidth=bandwidth))
    if name == "gpu":
        return replace(machine, gpus=tuple(map(_with_link, machine.gpus)))
    if name == "disk" and machine.disk is not None:
        disk = replace(
            machine.disk,
            sequential=_measured(machine.disk.sequential),
            mapped=_measured(machine.disk.for_pages),
        )
        return replace(machine, disk=disk)
    return machine


def _with_link(gpu: Gpu) -> Gpu:
    return replace(gpu, link=replace(gpu.link, pinned=_measured(gpu.link.pinned)))


def _measured(rate: Quantity) -> Quantity:
    return replace(rate, kind=Provenance.MEASURED)


def _timed(constants: Constants) -> Constants:
    """Constants where llama.cpp was timed on the processor."""
    narrow = constants.row("spread_timed")
    row = replace(narrow, constant=Margins.IN_DECODE, family=str(Route.IN_PLACE), runtime=None)
    return constants.with_measured((row,))
