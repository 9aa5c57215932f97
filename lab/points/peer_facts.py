"""Facts of a published run, as public formulas take them."""

from functools import lru_cache
from typing import Any

from advisor.cost_model.loads import ForwardPass, step_load
from advisor.cost_model.placement import RAM, Placement, vram, weight_bytes
from advisor.evidence.published.predict import Case
from advisor.machine.machine import Machine
from advisor.model.architecture import Architecture, Group
from advisor.model.model import Model
from lab.peers import PEERS, Facts, Where

WHERE = {
    "resident": Where.GPU,
    "cpu": Where.RAM,
    "partial": Where.SPLIT,
    "moe_offload": Where.EXPERTS,
}
"""Location of the weights, by the category of a row."""
SHARED = (Group.ATTENTION, Group.SHARED_EXPERTS, Group.ROUTER)


def answers(facts: Facts) -> dict[str, float]:
    """Predictions of public advisors by name; absent where one has no formula [tokens/s]."""
    speeds = ((peer.name, peer.answer(facts)) for peer in PEERS)
    return {name: speed for name, speed in speeds if speed is not None}


def facts_of(case: Case, category: str, *, ram_peak: float, prompt: bool = False) -> Facts:
    """Facts of one run with a timed prompt or generation; the peak of its RAM is theoretical or the
    source's [B/s].
    """
    work, machine = (case.prompt if prompt else case.work), case.machine
    placement = case.prompt_placement if prompt else case.placement
    fresh = float(work.fresh) if prompt else 0.0
    depth = float((work.prompt + work.cached) / 2 if prompt else work.decode_depth)
    step = ForwardPass(tokens=max(fresh, 1.0), sequences=1.0, depth=depth, kv_type="f16")
    devices = range(len(machine.gpus))
    on_gpu = [step_load(case.model, placement, vram(device), step) for device in devices]
    in_ram = step_load(case.model, placement, RAM, step)
    flops = sum(float(load.flops + load.expert_flops) for load in (*on_gpu, in_ram))
    return Facts(
        where=WHERE[category],
        gpu_read=sum(float(load.weights) for load in on_gpu),
        ram_read=float(in_ram.weights),
        cache_read=sum(float(load.kv) for load in (*on_gpu, in_ram)),
        depth=depth,
        gpu_share=_gpu_share(case.model, placement, machine),
        gpu_layers=_gpu_layers(case.model, placement, machine),
        ram_peak=ram_peak,
        prompt=fresh,
        prompt_flops=flops if prompt else 0.0,
        format=case.model.format,
        file_bytes=case.model.file_bytes,
        **_of_architecture(case.model.architecture),
        **_of_machine(machine),
    )


@lru_cache(maxsize=256)
def _of_architecture(arch: Architecture) -> dict[str, Any]:
    experts = arch.experts
    used = experts.used / experts.total if experts else 0.0
    widths = (tensor.width for tensor in arch.tensors if tensor.role == "ffn_down")
    return {
        "params": float(arch.params),
        "active_params": float(arch.active_params),
        "experts": experts.total if experts else 0,
        "experts_used": experts.used if experts else 0,
        "expert_params": used * _params(arch, (Group.ROUTED_EXPERTS,)),
        "shared_params": _params(arch, SHARED),
        "layers": arch.layers,
        "hidden": arch.hidden,
        "intermediate": next(widths, 0),
        "vocab": arch.vocab,
    }


def _of_machine(machine: Machine) -> dict[str, Any]:
    gpu, host = (machine.gpus[0] if machine.gpus else None), machine.host
    peaks = gpu.tensor_flops if gpu else {}
    return {
        "gpus": len(machine.gpus),
        "gpu_vendor": gpu.vendor if gpu else "",
        "gpu_unified": machine.unified,
        "gpu_memory": float(gpu.memory.value) if gpu else 0.0,
        "gpu_bandwidth": float(gpu.bandwidth.value) if gpu else 0.0,
        "gpu_fp16": max(peaks.get("fp16", 0.0), peaks.get("fp32", 0.0)),
        "gpu_fp32": peaks.get("fp32", 0.0),
        "ram": float(host.bandwidth.value),
        "cores": host.cores,
        "arm": not host.instruction_sets.isdisjoint({"neon", "asimd"}),
    }


def _params(arch: Architecture, groups: tuple[Group, ...]) -> float:
    return float(sum(tensor.params for tensor in arch.tensors if tensor.group in groups))


def _gpu_share(model: Model, placement: Placement, machine: Machine) -> float:
    """Share of the file in VRAM; 1 where only the token table is in RAM."""
    devices = range(len(machine.gpus))
    held = sum(float(weight_bytes(model, placement, vram(device))) for device in devices)
    return min(held / model.bytes_without_table, 1.0)


def _gpu_layers(model: Model, placement: Placement, machine: Machine) -> float:
    """Share of the layers on GPUs, with the output head counted as a layer."""
    if not machine.gpus:
        return 0.0
    layers = float(placement.gpu_layers)
    return (layers + (layers >= model.layers)) / (model.layers + 1)
