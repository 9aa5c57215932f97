"""Estimate: speed of a model on a machine, in one runtime and placement."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import ConstantRow, Constants
from advisor.cost_model import measured_constants as measured
from advisor.cost_model import uncertainty
from advisor.cost_model.additions import (
    CacheKernelRow,
    further_seconds,
    launch_cost,
    slow_kernel,
    slowed_prompt,
    slowed_step,
    with_images,
    with_launches,
)
from advisor.cost_model.arrangement import Arrangement
from advisor.cost_model.drafting import DRAFTING, weights_read, with_drafting, with_drafts
from advisor.cost_model.known_runs import Lesson, TimedRun, family_of, learnt, lesson
from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    Tier,
    check_whole,
    held_by_gpu,
    is_tight,
    missing_bytes,
    repeated,
    whole_bytes,
)
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Phases, Route, Schedule
from advisor.cost_model.timing import FixedTime, StepTime, centred, schedule_seconds
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, Refusal
from advisor.lazy import lazy
from advisor.machine.machine import KnownRun, Machine
from advisor.model.architecture import operators
from advisor.model.model import Floats, Model, visits_of
from advisor.units import GIB, Array, Provenance, Quantity

# Assumptions of an estimate: bandwidths of the machine and constants of the cost model.


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """Input of an estimate with its origin."""

    what: str  # description of the input
    figure: Quantity  # value with kind, source and date
    unit: str  # unit of the value


def assumptions(
    machine: Machine, placement: Placement, constants: Iterable[tuple[ConstantRow, ...]]
) -> Iterable[Assumption]:
    """Bandwidths and constants that an estimate uses, without the constants of its range.

    Each constant is its row, followed by its factors.
    """
    for what, figure in _rates(machine, placement):
        yield Assumption(what=what, figure=figure, unit="B/s")
    for first, *factors in constants:
        if first.constant.startswith("spread"):
            continue
        sure = f", give or take {100 * first.spread:.0f} %" if first.spread else ""
        count = f" ({first.rows} rows{sure})" if first.rows else ""
        figure = Quantity(
            value=math.prod([first.value, *(row.value for row in factors)]),
            kind=Provenance(first.kind),
            source=f"{first.source}{count}",
            date=first.date,
        )
        yield Assumption(what=first.note or first.constant, figure=figure, unit=first.unit)


def _rates(machine: Machine, placement: Placement) -> Iterator[tuple[str, Quantity]]:
    """Bandwidths of the memories that a placement uses, each with its description [B/s]."""
    tiers = {location.tier for location in placement.locations}
    if Tier.VRAM in tiers:
        cards = {gpu.name: gpu for gpu in machine.gpus}
        for name, gpu in cards.items():
            yield f"{name} memory bandwidth", gpu.bandwidth
    if Tier.RAM in tiers:
        yield "RAM, sustained read", machine.host.bandwidth
        for gpu in machine.gpus[:1]:
            yield f"link, {gpu.link.name}", gpu.link.pinned
    if Tier.DISK in tiers and machine.disk:
        yield "drive, sequential read", machine.disk.sequential
        if machine.disk.mapped is not None:
            yield "drive, cold memory map", machine.disk.mapped


BOUND_BY: Mapping[str, str] = {
    **{route: route.limit for route in Route},
    FixedTime.LAYERS: "fixed cost per layer",
    FixedTime.CROSSINGS: "hand-overs between processors",
    FixedTime.TOKEN: "fixed cost per token",
}
"""Bottleneck in words, by the part with most of a step's time."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Result for one runtime and placement, with times that are computed at first use."""

    runtime: Runtime
    strategy: PlacementStrategy
    model: Model  # model in the format that the runtime loads
    machine: Machine  # as the runtime uses it
    work: Workload  # request, with the users decoded together
    settings: Settings = field(default_factory=Settings)  # fixed choices of the placement
    waiting: Array = 0.0  # users waiting in the queue
    format_note: str = ""  # why it is in another format than was asked for, and what was left out
    refusal: str = ""  # why it is impossible, with nothing below set; else empty
    placement: Placement | None = None  # location of every part of the model
    fits: bool | npt.NDArray[np.bool_] = False  # every memory is large enough
    missing: Array = 0.0  # missing memory, summed over all locations [B]
    constants: Constants | None = None  # those of the cost model in the scope of the estimate
    planned: Phases | None = None  # schedules that are known already; None to make them
    slow_cache: CacheKernelRow | None = None  # why its cache is slow; None for a usual one
    cached_on_gpus: Array = 1.0  # share of the cache in the memory of GPUs
    unfitted: float = 0.0  # half width for what is not fitted: of the runtime, of guessed layers
    started: Array = 0.0  # layers that the processor starts on GPUs in a step, each visit
    arrangement: Arrangement | None = None  # GPUs in use; None for all of them as one
    single: "Estimate | None" = None  # one of several copies side by side; None for one alone

    def __repr__(self) -> str:
        named = f"{self.model.name} {self.model.format} in {self.runtime.name}, {self.strategy}"
        return f"<Estimate {named}: {self._in_short()}>"

    def _in_short(self) -> str:
        """Speed in a few words, or the reason why there is none."""
        if self.refusal:
            return self.refusal
        if self.decode is None or not np.all(self.fits):
            return f"{np.max(self.missing) / GIB:.1f} GB short"
        if np.size(self.decode.value) > 1:
            return f"{np.size(self.decode.value)} speeds"
        value, low, high = map(float, (self.decode.value, self.decode.low, self.decode.high))
        return f"{value:.3g} tokens/s ({low:.3g} to {high:.3g})"

    def again(self, **changes: Any) -> "Estimate":
        """Estimate with some fields changed, placed and timed anew; the fields may be arrays."""
        after = replace(self, **changes)
        how = (after.runtime, after.strategy, changes.get("constants"), after.settings)
        arrangement = after.arrangement and after.arrangement.on(after.machine)
        if arrangement is None or arrangement.copies == 1:
            placed = estimate(after.model, after.machine, after.work, *how)
            return replace(placed, arrangement=arrangement)
        share = arrangement.share(after.work)
        single = estimate(after.model, arrangement.part, share, *how)
        return together(single, arrangement, after.work)

    def constants_with(self, machine: Machine) -> Constants | None:
        """Constants of the estimate under the software that a machine states; None for an
        impossible combination.
        """
        if self.constants is None:
            return None
        software = measured.software_of(self.model, machine, self.runtime)
        return measured.conditioned(self.constants, software)

    @lazy
    def phases(self) -> Phases | None:
        """Schedules of prompt and token; None for an impossible combination."""
        if self.planned is not None or self.placement is None:
            return self.planned
        single = self.single
        if self.arrangement is not None and single is not None and single.placement is not None:
            share = self.arrangement.share(self.work)
            return single.runtime.schedule(single.model, single.placement, single.machine, share)
        return self.runtime.schedule(self.model, self.placement, self.machine, self.work)

    @lazy
    def step(self) -> StepTime | None:
        """Time of a token by its parts; None for an impossible combination."""
        return learnt(self._step, self.token_lesson)

    @lazy
    def _step(self) -> StepTime | None:
        """Time of a token without the correction by known runs."""
        if self.phases is None or self.constants is None:
            return None
        plain = schedule_seconds(self.phases.decode, self.machine, self.constants)
        time = self._with_launches(self._with_slow_cache(centred(plain, self.constants)))
        if time is None or not self.work.draft:
            return time
        if self.runtime.schedules_drafts:
            return time
        several = self.machine.counts is not None
        reads = weights_read(self.phases.decode, self.model, self.work, by_gpu=several)
        return with_drafting(time, self.model, self.work, reads)

    def _with_launches(self, time: StepTime | None) -> StepTime | None:
        """Time of a token, with the further time of a slow processor that starts the GPU's
        kernels.
        """
        if not self.runtime.of_llama_cpp:
            return time
        return with_launches(time, self.started, launch_cost(self.machine))

    def _with_slow_cache(self, time: StepTime | None) -> StepTime | None:
        """Time of a token, with the further time of a cache type without a fast kernel."""
        slow = self.slow_cache
        constants = self.constants
        if time is None or slow is None or constants is None:
            return time
        copy = self.single or self
        further = further_seconds(slow, self.model, copy.machine, copy.work, constants)
        further = further * self.cached_on_gpus
        return slowed_step(time, slow, further, drafted=bool(self.work.draft))

    @lazy
    def prompt(self) -> StepTime | None:
        """Time of the prompt by its parts; None for an impossible combination."""
        return learnt(self._prompt, self.prompt_lesson)

    @lazy
    def _prompt(self) -> StepTime | None:
        """Time of the prompt without the correction by known runs."""
        if self.phases:
            copy = self.single or self
            time = slowed_prompt(self._timed(self.phases.prefill), copy.work, self.slow_cache)
            if self.constants is not None and copy.work.image_patches:
                return with_images(time, self.model, copy.work, copy.machine, self.constants)
            return time
        return None

    @lazy
    def token_lesson(self) -> Lesson | None:
        """Correction of a token's time by known runs of the machine; None without one."""
        return self._lesson(self._step, prompt=False)

    @lazy
    def prompt_lesson(self) -> Lesson | None:
        """Correction of the prompt's time by known runs of the machine; None without one."""
        return self._lesson(self._prompt, prompt=True)

    def _lesson(self, time: StepTime | None, *, prompt: bool) -> Lesson | None:
        if time is None or not self.machine.known:
            return None
        return lesson(self.chance(time, prompt=prompt), self.machine)

    def chance(self, time: StepTime, *, prompt: bool) -> TimedRun:
        """Timed part of a token or of the prompt, as `covariance` compares it.

        Without a GPU, fixed costs count as the processor's.
        """
        return TimedRun(
            shares=uncertainty.shares_by_part(time, on_gpu=bool(self.machine.gpus)),
            prompt=prompt,
            family=family_of(self.runtime),
            engine=self.runtime.program,
            format=self.model.format,
            experts=self.model.has_experts,
            model=self.model.name,
            users=(self.single or self).work.users,
            length=self.work.fresh if prompt else self.work.decode_depth,
        )

    def known_run(self, measured: float, words: str, *, prompt: bool) -> KnownRun:
        """Known run made of a measured speed and this prediction.

        The speed is that of each user's tokens, or of the prompt [tokens/s]. Raises InputError for
        an impossible combination.
        """
        time = self._prompt if prompt else self._step
        if time is None:
            raise InputError(f"{self.refusal} There is no prediction to compare with.")
        tokens = self._fresh if prompt else self.work.tokens_per_step
        run = self.chance(time, prompt=prompt)
        predicted = float(tokens / time.total)
        return run.known(self.machine, words, measured=measured, predicted=predicted)

    def _timed(self, schedule: Schedule) -> StepTime | None:
        if self.constants is None:
            return None
        return schedule_seconds(schedule, self.machine, self.constants)

    @lazy
    def decode_tps(self) -> Array | None:
        """Decoding speed of each user, without its range [tokens/s]."""
        if self.step:
            return self.work.tokens_per_step / self.step.total
        return None

    @property
    def known_factor(self) -> Array | None:
        """Decoding speed with known runs of the machine, divided by the speed without them; None
        where none is known.
        """
        if self.token_lesson is None:
            return None
        return np.asarray(np.exp(-self.token_lesson.log_ratio))

    @lazy
    def decode(self) -> uncertainty.Range | None:
        """Decoding speed of each user [tokens/s]."""
        return self._rate(self.work.tokens_per_step, self.step, uncertainty.Margins.IN_DECODE)

    @lazy
    def prefill(self) -> uncertainty.Range | None:
        """Speed of the prompt, all users together [tokens/s]."""
        return self._rate(self._fresh, self.prompt, uncertainty.Margins.IN_PROMPT)

    @property
    def _fresh(self) -> Array:
        """Tokens of the prompt that are computed, for all users together."""
        return np.maximum(self.work.fresh, 1) * self.work.users

    def _rate(
        self, amount: Array, time: StepTime | None, constant: str
    ) -> uncertainty.Range | None:
        if time is None or self.constants is None:
            return None
        fitted = self._margins(time, self.constants, constant)
        unfitted: Array = self.unfitted
        fitted_drafts = self.runtime.schedules_drafts
        if constant == uncertainty.Margins.IN_DECODE and self.work.draft and not fitted_drafts:
            unfitted = np.hypot(unfitted, DRAFTING)
        return fitted.wider(unfitted).around(amount / time.total)

    def _margins(self, time: StepTime, constants: Constants, constant: str) -> uncertainty.Margins:
        """Margins of a speed that follow from its constants, not from the runtime or a guessed
        shape.
        """
        prompt = constant == uncertainty.Margins.IN_PROMPT
        copy = self.single or self
        run = uncertainty.circumstances(
            copy.machine,
            constants,
            users=copy.work.users,
            kinds=operators(self.model.architecture),
            fresh=self.work.fresh if prompt else np.inf,
            served=prompt and not self.work.bench,
        )
        fitted = uncertainty.margins(time, run, constants, constant)
        taught = self.prompt_lesson if prompt else self.token_lesson
        if taught is not None:
            fitted = fitted.informed(taught.information)
        of_gpu, of_host = measured.doubt(self._software, prompt=prompt)
        if not of_gpu and not of_host:
            return fitted
        gpu = uncertainty.on_gpu(time, run)
        return fitted.wider(of_gpu * gpu + of_host * (1.0 - gpu))

    @lazy
    def _software(self) -> measured.Software:
        """Stated software of the machine, of each copy where there are several."""
        machine = (self.single or self).machine
        return measured.software_of(self.model, machine, self.runtime)

    @lazy
    def unmeasured(self) -> tuple[str, ...]:
        """Kinds of the model's layers that few publishers timed on the backend; they widen the
        ranges.
        """
        if self.constants is None or not self.machine.gpus:
            return ()
        return uncertainty.unmeasured_kinds(operators(self.model.architecture), self.constants)

    @property
    def first_token_seconds(self) -> Array | None:
        """Time to the first token, without its range; None for an impossible combination [s]."""
        if self.prompt:
            return self.prompt.total
        return None

    @lazy
    def first_token(self) -> uncertainty.Range | None:
        """Time to the first token [s]."""
        rate = self._rate(1.0, self.prompt, uncertainty.Margins.IN_PROMPT)
        return rate and rate.inverse

    @property
    def first_tokens(self) -> Floats:
        """Time to the first token of each user, in the order of service, shape (users,) [s].

        t_i = floor(i / R) t_reply + (i mod R + 1) / R t_prompts

        R users whose cache fits run together: their prompts, t_prompts for all, are read one after
        another, then all get tokens. The others wait until a whole reply, t_reply, is complete and
        take its place. NaN for an impossible combination.
        """
        if self.first_token is None:
            return np.array([np.nan])
        running = max(round(float(self.work.users)), 1)
        users = running + round(float(self.waiting))
        order = np.arange(users)
        prompts = float(self.first_token.value)
        turns = order // running * float(self.reply)
        return np.asarray(turns + (order % running + 1) / running * prompts, dtype=float)

    def first_token_within(self, share: float) -> float:
        """Time within which a share of the users have their first token [s]."""
        return float(np.quantile(self.first_tokens, share, method="inverted_cdf"))

    @property
    def reply(self) -> Array:
        """Time of a whole reply; NaN for an impossible combination [s]."""
        if self.step is None or self.prompt is None:
            return np.nan
        steps = self.work.output / self.work.tokens_per_step
        return self.prompt.total + steps * self.step.total

    @property
    def load(self) -> Array | None:
        """Time to read the file from the drive; None where the drive is unknown [s]."""
        if self.refusal:
            disk = None
        else:
            disk = self.machine.disk
        if disk:
            return self.model.file_bytes / disk.sequential.value
        return None

    @lazy
    def held(self) -> Mapping[Tier, tuple[Array, ...]]:
        """Memory in use by tier, with a number for each device [B]."""
        if self.placement:
            return self.placement.held_bytes(self.model, self.work)
        return {}

    @property
    def tight(self) -> bool:
        """Whether the estimate fills a memory that other programs use too.

        It is the RAM, or memory that the GPU shares with it; pages of the file count where the
        speed needs them there.
        """
        if self.placement is None:
            return False
        return is_tight(self.placement, self.held, self.machine)

    @lazy
    def command(self) -> str:
        """Command that starts the runtime; empty for an impossible combination."""
        if self.placement is None:
            return ""
        if self.arrangement is not None:
            single = self.single or replace(self, arrangement=None)
            return self.arrangement.started(single.command)
        return self.runtime.command(self.model, self.placement, self.machine, self.work)

    @lazy
    def assumptions(self) -> tuple[Assumption, ...]:
        """Bandwidths and constants that the estimate uses, each with its origin."""
        if self.placement is None:
            return ()
        used: tuple[tuple[ConstantRow, ...], ...] = ()
        if self.phases is not None and self.constants is not None:
            recorded = self.constants.recorded()
            phases = (
                (self.phases.decode, uncertainty.Margins.IN_DECODE),
                (self.phases.prefill, uncertainty.Margins.IN_PROMPT),
            )
            for schedule, constant in phases:
                time = schedule_seconds(schedule, self.machine, recorded)
                self._margins(time, recorded, constant)
            used = recorded.used
        return tuple(assumptions(self.machine, self.placement, used))

    @property
    def about_cache(self) -> str:
        """Reason in words why the cache is slow; empty for a cache of usual speed."""
        if self.slow_cache is None:
            return ""
        return self.slow_cache.told_of(self.work)

    @property
    def routes(self) -> tuple[Route, ...]:
        """Routes that take time in a step."""
        parts = self.step.parts if self.step else {}
        return tuple(route for route in Route if np.any(np.asarray(parts.get(route, 0.0)) > 0))

    @property
    def bottleneck(self) -> str:
        """Bottleneck of decoding in words; for arrays, the bottleneck of the first point."""
        if self.step is None:
            return ""
        parts = self.step.parts
        largest = max(parts, key=lambda name: float(np.ravel(parts[name])[0]))
        return BOUND_BY.get(largest, largest)


def estimate(
    model: Model,
    machine: Machine,
    work: Workload,
    runtime: Runtime,
    strategy: PlacementStrategy,
    constants: Constants | None = None,
    settings: Settings | None = None,
    format_note: str = "",
    *,
    backend: str = "",
    build: str = "",
) -> Estimate:
    """Estimate of one runtime in one placement; an impossible combination has a `refusal`.

    The model is in the format that the runtime loads. Numbers of machine, request and settings may
    be arrays. `constants` are the fitted ones where they are not given, `backend` is the GPU
    interface of the runtime where it is not the machine's, `build` as `Scope.build` where it is not
    the runtime's current one.
    """
    work, drafting = with_drafts(model, work, runtime)
    notes = [format_note, drafting, _cache_note(work, runtime)]
    if machine.host.numa and runtime.takes_layers and not runtime.binds_nodes:
        notes.append("It has no --numa.")
    machine = runtime.bound(machine)
    if runtime.as_built is not None:
        model = runtime.as_built(model, machine.build)
    software = measured.software_of(model, machine, runtime, backend)
    notes.append(measured.kernel_note(software, machine))
    settings = settings or Settings()
    if settings.expert_cache is not None and not runtime.caches_experts:
        settings = replace(settings, expert_cache=None)
        notes.append("It has no cache of experts.")
    if settings.cpu_ffn is not None and not runtime.parts_layers:
        settings = replace(settings, cpu_ffn=None)
        notes.append("It leaves whole layers in RAM alone.")
    outcome = Estimate(
        runtime=runtime,
        strategy=strategy,
        model=model,
        machine=machine,
        work=work,
        settings=settings,
        format_note=_joined(notes),
    )
    if strategy is PlacementStrategy.GPU_RESIDENT and machine.gpus:
        outcome = _queued(outcome)
        work = outcome.work
    try:
        check_whole(model, machine, strategy, settings)
        undivided = held_by_gpu(model, machine, work, strategy, settings)
        placement = runtime.place(model, machine, work, strategy, settings)
    except Refusal as refusal:
        return replace(outcome, refusal=str(refusal), missing=whole_bytes(model, work))
    scope = measured.scope_of(model, runtime, software, build)
    bound = (constants or Constants.fitted()).bound(scope)
    slow = slow_kernel(runtime.name, scope.interface, work, machine.build)
    there = measured.constants_on(machine.host, model, bound)
    missing = missing_bytes(model, placement, machine, work)
    if np.any(undivided):
        missing = np.where(undivided, whole_bytes(model, work), missing)
    visits = np.mean(visits_of(model.architecture))
    guessed = model.architecture.layer_uncertainty
    notes.append(uncertainty.few_note(runtime.name, bound))
    return replace(
        outcome,
        placement=placement,
        fits=np.asarray(missing) <= 0,
        missing=missing,
        constants=measured.conditioned(there, software),
        slow_cache=slow,
        cached_on_gpus=_cached_on_gpus(placement),
        unfitted=np.hypot(runtime.extra_uncertainty, guessed),
        started=np.minimum(placement.gpu_layers, model.layers) * visits,
        format_note=_joined([*notes, slow.told_of(work) if slow else ""]),
    )


PLAIN_CACHES = ("f16", "bf16", "f32")


def _cache_note(work: Workload, runtime: Runtime) -> str:
    """Sentence on a cache that a runtime keeps in 8-bit floats in place of the type asked for."""
    cache_type = runtime.quantized_kv_type
    if cache_type != "fp8" or work.kv_type in (*PLAIN_CACHES, cache_type):
        return ""
    return f"It has no cache in {work.kv_type}: one in 8-bit floats (fp8) is counted."


def together(single: Estimate, arrangement: Arrangement, work: Workload) -> Estimate:
    """Estimate of copies side by side, made of the estimate of one copy with its share of the
    users.
    """
    copies = arrangement.copies
    users = np.asarray(work.users, dtype=float)
    running = np.minimum(users, single.work.users * copies)
    several = replace(
        single,
        machine=arrangement.used,
        work=single.work.with_numbers(users=running),
        waiting=users - running,
        arrangement=arrangement,
        single=single,
    )
    if single.placement is None:
        return several
    return replace(
        several, placement=repeated(single.placement, len(arrangement.groups[0]), copies)
    )


def _cached_on_gpus(placement: Placement) -> Array:
    """Share of the cache in the memory of GPUs, over all layers."""
    in_ram: Array = np.mean(np.atleast_1d(placement.kv.get(Location.RAM, 0.0)), axis=-1)
    return 1.0 - in_ram


def _joined(notes: Iterable[str]) -> str:
    """Notes in one text; each note but the last ends with a full stop."""
    *first, last = list(filter(None, notes)) or [""]
    return " ".join([*(f"{note.removesuffix('.')}." for note in first), last])


def _queued(outcome: Estimate) -> Estimate:
    """Estimate in which users beyond `Runtime.at_once` wait in a queue; a single user never
    waits.
    """
    users = np.asarray(outcome.work.users, dtype=float)
    if outcome.runtime.at_once is None or np.all(users <= 1.0):
        return outcome
    at_once = outcome.runtime.at_once(
        outcome.model, outcome.machine, outcome.work, outcome.settings
    )
    running = np.where(at_once >= 1, np.minimum(users, at_once), users)
    if np.all(running == users):
        return outcome
    return replace(outcome, work=outcome.work.with_numbers(users=running), waiting=users - running)
