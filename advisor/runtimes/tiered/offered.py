"""Engines with experts in tiers that are worth a comparison on a machine."""

import re

import numpy as np

from advisor.cost_model.runtime import Runtime
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.tiered.engines import TieredEngine
from advisor.runtimes.tiered.reports import users_of
from advisor.runtimes.tiered.runtimes import described

MOST = 3  # engines that a comparison shows, those with most users first
ANY = "."  # pattern of engines that run whatever llama.cpp runs


def in_tiers(model: Model, machine: Machine) -> tuple[Runtime, ...]:
    """Engines that users reported and that run a model larger than a machine's VRAM; none for a
    model without experts, or a stack of machines.
    """
    if not model.has_experts or np.ndim(machine.host.memory.value) or machine.nodes > 1:
        return ()
    if machine.gpus and np.all(machine.gpu_memory > model.bytes_without_table):
        return ()
    able = [engine for engine in TieredEngine.rows() if _runs(engine, model, machine)]
    first = sorted(able, key=users_of, reverse=True)[:MOST]
    return tuple(map(described, first))


def _runs(engine: TieredEngine, model: Model, machine: Machine) -> bool:
    """Whether an engine names a model, and takes a machine's system and cards."""
    if engine.models == ANY or not users_of(engine):
        return False
    if not re.search(engine.models, model.name, re.IGNORECASE):
        return False
    if not engine.takes_system(machine.system):
        return False
    if not machine.gpus:
        return engine.without_gpu
    return all(engine.takes_vendor(gpu.vendor) for gpu in machine.gpus)
