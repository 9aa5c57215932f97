"""Another request, file, build or way of measuring than was assumed."""

from contextlib import suppress
from dataclasses import replace

import numpy as np

from advisor.advice.diagnosis.causes.counterfactual import (
    Situation,
    Trial,
    Trials,
    fits,
    rates,
    times,
    trial,
)
from advisor.catalog.inputs import BY_NAME
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.schedule import Flow, Schedule, Stage
from advisor.errors import Refusal
from advisor.formatting import memory
from advisor.model import catalog
from advisor.model.model import Model
from advisor.units import Array

MOST_CONTEXT = (BY_NAME["context"].limits or (0.0, 0.0))[1]
"""Largest context that a request may ask for [tokens]."""

OLD_BUILD = "2024"
"""Builds from before October 2024, as `catalog.constants.Scope` names them."""
FORMATS = ("IQ2_XXS", "Q2_K", "Q3_K_M", "IQ4_XS", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "BF16")
"""Files that repositories offer beside each other, smallest first."""
BENCH_TOKENS = 128
"""Tokens that llama-bench generates, from an empty cache (`-n`, tools/llama-bench/README.md)."""
DRAFTED = (1.5, 2.0)
"""Tokens accepted for each step with a draft model or multi-token prediction: about 2 on Qwen 3.6
(https://hexdocs.pm/llama_cpp_ex/LlamaCppEx.MTP.html, 2026), less on other text."""
CACHED = (0.5, 0.9)
"""Shares of a prompt that may be kept from a request before; assumed."""


def whole_reply(asked: Situation) -> Trials:
    """Tokens over the time of the whole reply, the prompt's included."""
    decode, prompt = rates(asked.one)
    if float(asked.work.fresh) > 0:
        rate = asked.work.output / asked.one.reply
        counted = times(decode, rate / decode.value)
        yield Trial(detail="generation and prompt together", decode=counted, prompt=prompt)


def deeper_context(asked: Situation) -> Trials:
    """More tokens in the cache than was said."""
    work = asked.work
    for share in (0.25, 0.5, 1.0):
        prompt = float(work.context) * share - float(work.output)
        if prompt > 1.5 * float(work.prompt):
            filled = replace(asked.one, work=replace(work, prompt=prompt))
            yield trial(f"{prompt:,.0f} tokens in the cache", filled)


def more_context(asked: Situation) -> Trials:
    """More cache allocated, which leaves VRAM for fewer layers."""
    if not asked.in_llama_cpp or not asked.machine.gpus:
        return
    for factor in (2, 4, 8, 16):
        context = float(asked.work.context) * factor
        if context > MOST_CONTEXT:
            return
        found = _fitted(asked, context=context)
        if found is not None and fits(found) and _less_on_gpu(asked, found):
            yield trial(f"a context of {context:,.0f} tokens", found)


def _less_on_gpu(asked: Situation, found: Estimate) -> bool:
    """Fewer layers, or experts of fewer, lie on the GPU."""
    if found.placement is None:
        return False
    layers, moe = float(found.placement.gpu_layers), float(found.placement.cpu_moe)
    return layers < float(asked.placement.gpu_layers) or moe > float(asked.placement.cpu_moe)


def _fitted(asked: Situation, context: float, model: Model | None = None) -> Estimate | None:
    """As llama.cpp fits it by itself; None where all of it stays in VRAM."""
    work = replace(asked.work, context=context)
    whole = asked.placed(
        Settings(), strategy=PlacementStrategy.GPU_RESIDENT, work=work, model=model
    )
    if fits(whole):
        return whole if model is not None else None
    on_drive = asked.one.strategy is PlacementStrategy.NVME_OFFLOAD
    rest = PlacementStrategy.NVME_OFFLOAD if on_drive else PlacementStrategy.CPU_OFFLOAD
    return asked.placed(Settings(), strategy=rest, work=work, model=model)


def larger_file(asked: Situation) -> Trials:
    """A larger format of the same model."""
    for form, model in _formats(asked):
        if model.file_bytes > 1.05 * asked.model.file_bytes:
            yield from _in_format(asked, form, model)


def smaller_file(asked: Situation) -> Trials:
    """A smaller format of the same model."""
    for form, model in _formats(asked):
        if model.file_bytes < 0.95 * asked.model.file_bytes:
            yield from _in_format(asked, form, model)


def _formats(asked: Situation) -> list[tuple[str, Model]]:
    found = []
    if asked.in_llama_cpp:
        for form in FORMATS:
            with suppress(Refusal):
                found.append((form, catalog.in_format(asked.model.architecture, form)))
    return found


def _in_format(asked: Situation, form: str, model: Model) -> Trials:
    alike = asked.placed(asked.kept, model=model)
    found = alike if fits(alike) else _fitted(asked, float(asked.work.context), model)
    if found is not None and fits(found):
        yield trial(f"{form}, {memory(model.file_bytes)}", found)


def old_build(asked: Situation) -> Trials:
    """llama.cpp from before flash attention and graphs became usual."""
    scope = asked.constants.scope
    if asked.in_llama_cpp and not scope.build:
        aged = asked.constants.bound(replace(scope, build=OLD_BUILD))
        yield trial("from before October 2024", replace(asked.one, constants=aged))


def no_flash_attention(asked: Situation) -> Trials:
    """The cache is read as old builds read it; everything else is as today."""
    scope, gpus = asked.constants.scope, asked.machine.gpus
    if not asked.in_llama_cpp or not gpus or scope.build:
        return
    name, family = "gpu_kv_share", gpus[0].family
    old = asked.constants.bound(replace(scope, build=OLD_BUILD)).value(name, family)
    share = old / asked.constants.bound(scope).value(name, family)
    yield trial("", asked.scaled({name: share}, "builds without flash attention"))


def no_repacking(asked: Situation) -> Trials:
    """The processor reads weights in the file's layout; with a GPU beside it, it always does."""
    quantized = asked.model.decode_class not in ("f16", "f32")
    in_ram = asked.one.strategy is PlacementStrategy.CPU_OFFLOAD
    mainline = asked.in_llama_cpp and not asked.constants.scope.build
    if mainline and not asked.machine.gpus and in_ram and quantized:
        yield trial("", asked.rescheduled(_plain))


def _plain(schedule: Schedule) -> Schedule:
    return replace(
        schedule,
        stages=tuple(Stage(flows=tuple(map(_unpacked, one.flows))) for one in schedule.stages),
    )


def _unpacked(flow: Flow) -> Flow:
    return replace(flow, repacked=False)


def all_users(asked: Situation) -> Trials:
    """Tokens of all users counted together."""
    decode, prompt = rates(asked.one)
    users = float(asked.work.users)
    if users > 1:
        together = times(decode, users)
        yield Trial(detail=f"{users:.0f} users together", decode=together, prompt=prompt)


def empty_context(asked: Situation) -> Trials:
    """Measured from an empty cache, as llama-bench does."""
    bench = replace(asked.work, prompt=0, cached=0, output=BENCH_TOKENS)
    decode, _ = rates(replace(asked.one, work=bench))
    _, prompt = rates(asked.one)
    yield Trial(detail=f"{BENCH_TOKENS} tokens from an empty cache", decode=decode, prompt=prompt)


def drafted_tokens(asked: Situation) -> Trials:
    """Several tokens from one step."""
    decode, prompt = rates(asked.one)
    for accepted in DRAFTED:
        faster = times(decode, accepted)
        yield Trial(detail=f"{accepted:g} tokens a step", decode=faster, prompt=prompt)


def kept_prompt(asked: Situation) -> Trials:
    """A part of the prompt was in the cache already, and was counted as if it had been read."""
    decode, _ = rates(asked.one)
    for share in CACHED:
        kept = np.floor(asked.work.prompt * share)
        shorter = replace(asked.one, work=replace(asked.work, cached=kept))
        if float(kept) > float(asked.work.cached) and shorter.prompt is not None:
            _, prompt = rates(shorter)
            counted = times(prompt, _over(asked, shorter))
            yield Trial(detail=f"{share:.0%} of the prompt kept", decode=decode, prompt=counted)


def _over(asked: Situation, shorter: Estimate) -> Array:
    """Tokens counted for each one read."""
    return asked.work.fresh / np.maximum(shorter.work.fresh, 1.0)
