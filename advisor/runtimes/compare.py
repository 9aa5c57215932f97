"""Estimates of a model on a machine, in every runtime and placement."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import numpy as np

from advisor.cost_model.arrangement import Arrangement, fewer, side_by_side
from advisor.cost_model.estimate import Estimate, estimate, together
from advisor.cost_model.placement import PlacementStrategy, Settings, whole_bytes
from advisor.cost_model.runtime import LoadedFormat, Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.formats import Format
from advisor.model.model import Model
from advisor.runtimes import RUNTIMES
from advisor.runtimes.format_support import with_experts


def compare(
    model: Model,
    machine: Machine,
    work: Workload,
    *,
    settings: Settings | None = None,
    runtimes: Iterable[Runtime] = RUNTIMES,
) -> tuple[Estimate, ...]:
    """Estimates for all runtimes and placements, each in the nearest format and the best
    arrangement of the GPUs.

    An impossible combination has a `refusal`.
    """
    fixed = settings or Settings()
    by_runtime = (_in_runtime(model, machine, work, runtime, fixed) for runtime in runtimes)
    return tuple(chain.from_iterable(by_runtime))


def _in_runtime(
    stored: Model, machine: Machine, work: Workload, runtime: Runtime, settings: Settings
) -> Iterable[Estimate]:
    """Estimates of a runtime in each placement, in the best arrangement of the GPUs."""
    whole = _as_one(stored, machine, work, runtime, settings, runtime.strategies)
    options = settings_for(runtime, settings)
    stated = options.states_layers or options.expert_parallel or options.attention_by_user
    if stated or len(machine.gpus) < 2 or any(map(_is_sweep, whole)):
        return whole
    copies = list(_copies(stored, machine, work, runtime, settings))
    copied = {answer.arrangement.groups[0] for answer in copies if answer.arrangement}
    parts = [*copies]
    resident = [answer for answer in whole if _in_gpus(answer)]
    outside = [answer.strategy for answer in whole if not _in_gpus(answer)]
    held_by_all = any(bool(answer.fits) for answer in resident)
    for arrangement in fewer(machine):
        part = arrangement.part
        tried = [answer.strategy for answer in resident if _may_hold(answer, part)]
        if arrangement.groups[0] in copied:
            tried = []
        estimates = _as_one(stored, part, work, runtime, settings, tried)
        if not held_by_all or any(map(_nearly_held, estimates)):
            estimates += _as_one(stored, part, work, runtime, settings, outside)
        parts += [replace(answer, arrangement=arrangement) for answer in estimates]
    return [
        best_arranged(answer, (part for part in parts if part.strategy is answer.strategy))
        for answer in whole
    ]


def _in_gpus(estimate: Estimate) -> bool:
    return estimate.strategy is PlacementStrategy.GPU_RESIDENT


def _may_hold(estimate: Estimate, part: Machine) -> bool:
    """Whether fewer GPUs could hold the model of an estimate."""
    return estimate.strategy.could_hold(estimate.model, part)


def _nearly_held(estimate: Estimate) -> bool:
    """Whether GPUs with room for the weights have none for the rest.

    The little that lies outside them can cost less than further GPUs: vLLM shares the layers of
    four cards, while five take turns, for they do not divide the heads.
    """
    return not estimate.refusal and not bool(estimate.fits)


def _is_sweep(estimate: Estimate) -> bool:
    """Whether an estimate has arrays: of several machines or requests."""
    numbers = (estimate.missing, estimate.work.users, estimate.work.prompt, estimate.work.output)
    return any(map(np.ndim, numbers))


def _copies(
    stored: Model, machine: Machine, work: Workload, runtime: Runtime, settings: Settings
) -> Iterator[Estimate]:
    """Estimates of copies side by side in the GPUs; each copy is the whole model and serves its
    share of the users.
    """
    resident = PlacementStrategy.GPU_RESIDENT
    if resident not in runtime.strategies or runtime.alone or work.draft:
        return
    users = np.asarray(work.users, dtype=float)
    for arrangement in side_by_side(machine, float(users)):
        if resident.could_hold(stored, arrangement.part):
            share = arrangement.share(work)
            (single,) = _as_one(stored, arrangement.part, share, runtime, settings, [resident])
            if bool(single.fits):
                yield together(single, arrangement, work)


def best_arranged(whole: Estimate, parts: Iterable[Estimate]) -> Estimate:
    """Estimate of the arrangement that answers most requests, with a note on the arrangement.

    Where all GPUs as one hold the model, the format loses no more than that of all GPUs as one.
    """
    best = whole
    most = Arrangement.WORTH * answers_per_second(whole)
    for part in parts:
        done = answers_per_second(part)
        if done > most and _as_good(part, whole):
            most = done
            best = part
    if best is whole:
        return whole
    return replace(best, format_note=_with_words(whole, best))


def _as_good(part: Estimate, whole: Estimate) -> bool:
    """Whether the format of an arrangement is no worse than that of all GPUs as one."""
    return not bool(whole.fits) or Format.no_worse(part.model.format, whole.model.format)


def answers_per_second(estimate: Estimate) -> float:
    """Answers per second of all users who run, with the speed of one stream; 0 where the model does
    not fit [1/s].

    U / (t_first + n / S)
    """
    if estimate.placement is None or not bool(estimate.fits):
        return 0.0
    return float(estimate.work.users) / float(estimate.reply)


def _with_words(whole: Estimate, best: Estimate) -> str:
    """Note of an estimate on its arrangement of the GPUs, and on the speed of all GPUs as one."""
    arrangement = best.arrangement
    if arrangement is None:
        return best.format_note
    if whole.refusal:
        words = f"On {arrangement.words}. With all of them: {whole.refusal}"
    elif bool(whole.fits):
        gain = answers_per_second(best) / answers_per_second(whole)
        words = f"On {arrangement.words}: {gain:.2f} times the answers of all GPUs as one."
    else:
        words = f"On {arrangement.words}; divided over all of them it does not fit."
    before = best.format_note.removesuffix(".")
    if before:
        return f"{before}. {words}"
    return words


def _as_one(
    stored: Model,
    machine: Machine,
    work: Workload,
    runtime: Runtime,
    settings: Settings,
    strategies: Sequence[PlacementStrategy],
) -> list[Estimate]:
    """Estimates of a runtime in each placement, with all GPUs of a machine as one."""
    try:
        model, reason = _loaded(stored, runtime, machine)
    except Refusal as refusal:
        return [
            Estimate(
                runtime=runtime,
                strategy=strategy,
                model=stored,
                machine=machine,
                work=work,
                refusal=str(refusal),
                missing=whole_bytes(stored, work),
            )
            for strategy in strategies
        ]
    options = settings_for(runtime, settings)
    results = [
        estimate(model, machine, work, runtime, strategy, None, options, reason)
        for strategy in strategies
    ]
    chosen = as_chosen(stored)
    if chosen is None or model.format != stored.native:
        return results
    return [_or_smaller(result, chosen, machine, work, options) for result in results]


def as_chosen(stored: Model) -> Model | None:
    """Model in the format that is chosen by default, where the maker's weights are far larger; None
    for other models.

    People without room for the maker's weights, in the GPUs or in RAM, load smaller ones.
    """
    if not stored.native or stored.native == stored.format:
        return None
    makers = catalog.in_format(stored.architecture, stored.native)
    smaller = stored.file_bytes < FAR_SMALLER * makers.file_bytes
    if smaller:
        return replace(stored, native="")
    return None


FAR_SMALLER = 0.8  # size below which weights take the place of larger ones, as a share of those


def _or_smaller(
    result: Estimate, chosen: Model, machine: Machine, work: Workload, settings: Settings
) -> Estimate:
    """Estimate of smaller weights where only they fit in the GPUs or the RAM; the given estimate
    where its own weights fit.
    """
    if result.strategy is PlacementStrategy.NVME_OFFLOAD or bool(result.fits):
        return result
    try:
        model, reason = _loaded(chosen, result.runtime, machine)
    except Refusal:
        return result
    reason = f"The maker's own weights, {result.model.format}, do not fit. {reason}".strip()
    smaller = estimate(
        model, machine, work, result.runtime, result.strategy, None, settings, reason
    )
    if bool(smaller.fits):
        return smaller
    return result


def settings_for(runtime: Runtime, settings: Settings | None) -> Settings:
    """Settings that a runtime has options for."""
    if settings is None or runtime.takes_layers:
        return settings or Settings()
    if not runtime.divides_experts:
        return Settings()
    return Settings(
        expert_parallel=settings.expert_parallel, attention_by_user=settings.attention_by_user
    )


def as_run(stored: Model, runtime: Runtime, machine: Machine) -> Model:
    """Model in the format that a runtime loads.

    Raises: Refusal where the runtime cannot run the model on the machine.
    """
    return _loaded(stored, runtime, machine)[0]


def _loaded(stored: Model, runtime: Runtime, machine: Machine) -> tuple[Model, str]:
    """Model of `as_run`, and the reason for another format."""
    loaded = taken_format(stored, runtime, machine)
    if loaded.format != stored.format:
        stored = catalog.in_format(stored.architecture, loaded.format)
    if runtime.own_files is not None:
        stored = runtime.own_files(stored)
    return stored, loaded.reason


def taken_format(stored: Model, runtime: Runtime, machine: Machine) -> LoadedFormat:
    """Format that a runtime loads.

    It is the publisher's own format where no other was chosen and the runtime can load it. Raises
    what `as_run` raises.
    """
    if stored.native and stored.native != stored.format:
        with suppress(Refusal):
            makers = runtime.loaded_format(stored.native, machine)
            if makers.format == stored.native:
                return LoadedFormat(
                    format=makers.format, reason=f"The maker's own weights, {makers.format}."
                )
    loaded = runtime.loaded_format(stored.format, machine)
    if loaded.format != stored.format and stored.architecture.expert_type:
        # Another engine's checkpoint has the experts of the GGUF file as trained, too.
        loaded = runtime.loaded_format(stored.architecture.expert_type, machine)
    if stored.has_experts:
        return with_experts(runtime.key, loaded, machine)
    return loaded


def usable(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Estimates that fit, runtimes in common use first; each group begins with its fastest."""
    fitting = [
        answer for answer in estimates if bool(answer.fits) and answer.decode_tps is not None
    ]
    return sorted(
        fitting, key=lambda answer: (answer.runtime.mainstream, decode_tps(answer)), reverse=True
    )


def decode_tps(estimate: Estimate) -> float:
    """Decode speed of a single estimate; 0 for an impossible one [tokens/s]."""
    if estimate.decode_tps is not None:
        return float(estimate.decode_tps)
    return 0.0
