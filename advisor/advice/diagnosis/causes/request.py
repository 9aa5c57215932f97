"""Causes in the request: other prompt, file, build or method of measuring."""

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
from advisor.machine.software import KERNELS, OLDEST_BUILD, USUAL_FLASH_ATTENTION, month_words
from advisor.model import catalog
from advisor.model.model import Model
from advisor.units import Array

MOST_CONTEXT = (BY_NAME["context"].limits or (0.0, 0.0))[1]
"""Largest context of a request [tokens]."""

FORMATS = ("IQ2_XXS", "Q2_K", "Q3_K_M", "IQ4_XS", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "BF16")
"""Formats that GGUF repositories usually offer together, smallest first."""
BENCH_TOKENS = 128
"""Tokens that llama-bench generates, from an empty cache (`-n`, tools/llama-bench/README.md)."""
DRAFTED = (1.5, 2.0)
"""Tokens per step with a draft model or multi-token prediction: about 2 on Qwen 3.6
(https://hexdocs.pm/llama_cpp_ex/LlamaCppEx.MTP.html, 2026), less on other text."""
CACHED = (0.5, 0.9)
"""Shares of a prompt that may be cached from an earlier request; assumed."""


def whole_reply(situation: Situation) -> Trials:
    """Speed measured over the whole reply, with the time of the prompt."""
    decode, prompt = rates(situation.estimate)
    if float(situation.work.fresh) > 0:
        rate = situation.work.output / situation.estimate.reply
        counted = times(decode, rate / decode.value)
        yield Trial(detail="generation and prompt together", decode=counted, prompt=prompt)


def deeper_context(situation: Situation) -> Trials:
    """More tokens in the cache than assumed."""
    work = situation.work
    for share in (0.25, 0.5, 1.0):
        prompt = float(work.context) * share - float(work.output)
        if prompt > 1.5 * float(work.prompt):
            filled = replace(situation.estimate, work=replace(work, prompt=prompt))
            yield trial(f"{prompt:,.0f} tokens in the cache", filled)


def more_context(situation: Situation) -> Trials:
    """A larger context allocated, which leaves VRAM for fewer layers."""
    if not situation.in_llama_cpp or not situation.machine.gpus:
        return
    for factor in (2, 4, 8, 16):
        context = float(situation.work.context) * factor
        if context > MOST_CONTEXT:
            return
        larger = _fitted(situation, context=context)
        if larger is not None and fits(larger) and _less_on_gpu(situation, larger):
            yield trial(f"a context of {context:,.0f} tokens", larger)


def _less_on_gpu(situation: Situation, estimate: Estimate) -> bool:
    """Whether fewer layers, or experts of fewer layers, are on the GPU."""
    if estimate.placement is None:
        return False
    layers, moe = float(estimate.placement.gpu_layers), float(estimate.placement.cpu_moe)
    return layers < float(situation.placement.gpu_layers) or moe > float(
        situation.placement.cpu_moe
    )


def _fitted(situation: Situation, context: float, model: Model | None = None) -> Estimate | None:
    """Estimate with llama.cpp's automatic placement; None if the same model fits VRAM whole."""
    work = replace(situation.work, context=context)
    whole = situation.placed(
        Settings(), strategy=PlacementStrategy.GPU_RESIDENT, work=work, model=model
    )
    if fits(whole):
        return whole if model is not None else None
    on_drive = situation.estimate.strategy is PlacementStrategy.NVME_OFFLOAD
    rest = PlacementStrategy.NVME_OFFLOAD if on_drive else PlacementStrategy.CPU_OFFLOAD
    return situation.placed(Settings(), strategy=rest, work=work, model=model)


def larger_file(situation: Situation) -> Trials:
    """A larger format of the same model."""
    for form, model in _formats(situation):
        if model.file_bytes > 1.05 * situation.model.file_bytes:
            yield from _in_format(situation, form, model)


def smaller_file(situation: Situation) -> Trials:
    """A smaller format of the same model."""
    for form, model in _formats(situation):
        if model.file_bytes < 0.95 * situation.model.file_bytes:
            yield from _in_format(situation, form, model)


def _formats(situation: Situation) -> list[tuple[str, Model]]:
    models = []
    if situation.in_llama_cpp:
        for form in FORMATS:
            with suppress(Refusal):
                models.append((form, catalog.in_format(situation.model.architecture, form)))
    return models


def _in_format(situation: Situation, form: str, model: Model) -> Trials:
    alike = situation.placed(situation.kept, model=model)
    estimate = alike if fits(alike) else _fitted(situation, float(situation.work.context), model)
    if estimate is not None and fits(estimate):
        yield trial(f"{form}, {memory(model.file_bytes)}", estimate)


def old_build(situation: Situation) -> Trials:
    """A build of llama.cpp from before its kernels of today.

    Before flash attention and CUDA graphs were usual; on AMD's cards also before prompts used
    integer dot products and matrix units.
    """
    scope = situation.constants.scope
    if not situation.in_llama_cpp or scope.build:
        return
    ages = {OLDEST_BUILD: USUAL_FLASH_ATTENTION}
    if scope.backend in KERNELS and situation.machine.gpus[0].vendor == "AMD":
        ages["2025"] = KERNELS[scope.backend]
    for build, month in ages.items():
        aged = situation.constants.bound(replace(scope, build=build))
        detail = f"from before {month_words(month)}"
        yield trial(detail, replace(situation.estimate, constants=aged))


def no_flash_attention(situation: Situation) -> Trials:
    """No flash attention: the cache is read as fast as in old builds, all else as today."""
    scope, gpus = situation.constants.scope, situation.machine.gpus
    if not situation.in_llama_cpp or not gpus or scope.build:
        return
    name, family = "gpu_kv_share", gpus[0].family
    old = situation.constants.bound(replace(scope, build=OLDEST_BUILD)).value(name, family)
    share = old / situation.constants.bound(scope).value(name, family)
    yield trial("", situation.scaled({name: share}, "builds without flash attention"))


def no_repacking(situation: Situation) -> Trials:
    """Weights in the file's layout on the processor; with a GPU this is always the case."""
    quantized = situation.model.decode_class not in ("f16", "f32")
    in_ram = situation.estimate.strategy is PlacementStrategy.CPU_OFFLOAD
    mainline = situation.in_llama_cpp and not situation.constants.scope.build
    if mainline and not situation.machine.gpus and in_ram and quantized:
        yield trial("", situation.rescheduled(_plain))


def _plain(schedule: Schedule) -> Schedule:
    return replace(
        schedule,
        stages=tuple(Stage(flows=tuple(map(_unpacked, stage.flows))) for stage in schedule.stages),
    )


def _unpacked(flow: Flow) -> Flow:
    return replace(flow, repacked=False)


def all_users(situation: Situation) -> Trials:
    """Speed measured over all users together."""
    decode, prompt = rates(situation.estimate)
    users = float(situation.work.users)
    if users > 1:
        together = times(decode, users)
        yield Trial(detail=f"{users:.0f} users together", decode=together, prompt=prompt)


def empty_context(situation: Situation) -> Trials:
    """Speed measured from an empty cache, as by llama-bench."""
    bench = replace(situation.work, prompt=0, cached=0, output=BENCH_TOKENS)
    decode, _ = rates(replace(situation.estimate, work=bench))
    _, prompt = rates(situation.estimate)
    yield Trial(detail=f"{BENCH_TOKENS} tokens from an empty cache", decode=decode, prompt=prompt)


def drafted_tokens(situation: Situation) -> Trials:
    """Several tokens per step, by drafting."""
    decode, prompt = rates(situation.estimate)
    for accepted in DRAFTED:
        faster = times(decode, accepted)
        yield Trial(detail=f"{accepted:g} tokens a step", decode=faster, prompt=prompt)


def kept_prompt(situation: Situation) -> Trials:
    """A part of the prompt in the cache already, but counted in its speed."""
    decode, _ = rates(situation.estimate)
    for share in CACHED:
        kept = np.floor(situation.work.prompt * share)
        shorter = replace(situation.estimate, work=replace(situation.work, cached=kept))
        if float(kept) > float(situation.work.cached) and shorter.prompt is not None:
            _, prompt = rates(shorter)
            counted = times(prompt, _over(situation, shorter))
            yield Trial(detail=f"{share:.0%} of the prompt kept", decode=decode, prompt=counted)


def _over(situation: Situation, shorter: Estimate) -> Array:
    """Ratio of counted prompt tokens to computed ones."""
    return situation.work.fresh / np.maximum(shorter.work.fresh, 1.0)
