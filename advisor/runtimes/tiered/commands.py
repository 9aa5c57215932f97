"""Start lines of the engines that keep experts in tiers, as their makers publish them."""

import shlex
from collections.abc import Callable, Mapping

import numpy as np

from advisor.cost_model.placement import Placement, PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.tiered.engines import TieredEngine
from advisor.runtimes.tiered.passes import best_link_share
from advisor.units import GIB, MIB


def command(
    engine: TieredEngine, model: Model, placement: Placement, machine: Machine, work: Workload
) -> str:
    """Shell text that starts an engine; empty where its maker publishes none."""
    lines = LINES.get(engine.key)
    if lines is None:
        return ""
    return lines(model, placement, machine, work)


def _strata(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Start lines of Strata: its set-up, its own tuning, and the link share with which cores and
    link end together.
    """
    form = shlex.quote(model.format)
    family = "unsloth" if model.format.startswith("UD-") else "qwen"
    context = int(work.context)
    parts = [f"./setup.sh --family {family} --model {form} --context {context}"]
    if placement.strategy is PlacementStrategy.NVME_OFFLOAD:
        budget = int(float(np.ravel(placement.page_cache)[0]) / GIB)
        parts[0] += f" --resident-budget-gib {budget}"
    if machine.gpus and not machine.unified:
        share = f"{best_link_share(machine):.2f}"
        parts.append(
            f"strata launch --calibrate   # else --pcie-frac {share}: link and cores end together"
        )
    else:
        parts.append("strata launch --calibrate")
    return "\n".join(parts)


def _poly(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    line = f"./setup.sh --family qwen36 --context {int(work.context)}"
    if placement.strategy is PlacementStrategy.NVME_OFFLOAD:
        line += f" --ram-experts-mib {int(float(np.ravel(placement.page_cache)[0]) / MIB)}"
    return line


def _maya(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    cards = ",".join(map(str, range(len(machine.gpus))))
    option = "--gpus" if len(machine.gpus) > 1 else "--gpu"
    return f"./maya.sh {option} {cards} --context {int(work.context)} --calibrate"


def _moe4all(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    return "Start-INFR-Wizard.cmd   # ./Start-INFR-Wizard-Linux.sh on Linux; profile: aggressive"


def _colibri(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    ram = int(float(np.ravel(placement.page_cache)[0]) / GIB)
    gpu = " --gpu auto" if machine.gpus else ""
    folder = shlex.quote(f"{model.name}_i4")
    return f"DIRECT=1 COLI_MODEL={folder} ./coli chat --ram {ram}{gpu}"


def _freetoken(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    name = shlex.quote(model.name)
    return f"ft bench bw && ft serve {name} --moe-backend hybrid --moe-cache-auto"


def _crow(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    experts = model.architecture.experts
    total = experts.total if experts else 0
    size = float(np.sum(model.per_layer.expert_layers)) * max(total, 1)
    each = max(float(np.sum(np.ravel(placement.expert_cache)[:1])), 1.0)
    whole = float(sum(np.sum(part) for part in model.bytes_per_layer.values()))
    slots = max(round(total * each / max(whole, 1.0)), 1)
    ram = int(float(np.ravel(placement.page_cache)[0]) / GIB)
    line = (
        f"llama-server -m {shlex.quote(model.name)}-{model.format}.gguf --moe-stream "
        f"--moe-stream-cache {slots}s --moe-stream-io-threads 8 --moe-stream-direct"
    )
    if ram and size:
        line += f" --moe-stream-l2 {ram}"
    return f"{line} -c {int(work.context)}"


LINES: Mapping[str, Callable[[Model, Placement, Machine, Workload], str]] = {
    "strata": _strata,
    "polystrata": _poly,
    "maya": _maya,
    "moe4all": _moe4all,
    "colibri-tiers": _colibri,
    "freetoken": _freetoken,
    "crow": _crow,
}
"""Start lines by engine: Strata docs/DETAILS.md at 0173fc46, PolyStrata releases to 0.2.19-poly.1,
Maya README at 001c639, MoE4All README_EN at 0846219, colibri README at 01a537b, FreeToken README at
1cb698d, Crow 0.5.1."""
