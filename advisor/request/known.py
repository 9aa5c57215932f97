"""Known speeds of a request, each with the prediction for it on the machine that it names."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, InputError
from advisor.machine.machine import KnownRun, Machine
from advisor.model import catalog, resolve
from advisor.model.model import Model
from advisor.request.known_speed import KnownSpeed
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes import runtime as runtime_named


@dataclass(frozen=True, kw_only=True)
class Known:
    """Known speed with its run, and the prediction that was made without known speeds."""

    speed: KnownSpeed  # what was typed
    estimate: Estimate  # prediction
    run: KnownRun  # both beside each other
    notes: tuple[str, ...]  # what the model's name was taken for


@dataclass(frozen=True, kw_only=True)
class QuestionRun:
    """Settings of a request's own run, which a known speed of the same model shares."""

    model: Model | None = None  # model of the question; None where none is asked for
    settings: Settings = field(default_factory=Settings)
    strategy: PlacementStrategy | None = None  # placement; None for any
    runtime: Runtime | None = None  # runtime; None for any


def known(speed: KnownSpeed, machine: Machine, question: QuestionRun) -> Known:
    """Known speed of a machine with the prediction for it.

    Raises:
        InputError: a model or runtime that is not known, or that cannot have run on the machine.
    """
    try:
        hash((machine, question))
    except TypeError:  # numbers along a sweep
        return _known(speed, machine, question)
    return _kept(speed, machine, question)


def _known(speed: KnownSpeed, machine: Machine, question: QuestionRun) -> Known:
    where = f"The known speed {speed.text!r}"
    try:
        resolved = resolve.from_name(speed.model)
        predicted = _predicted(speed, resolved.model, machine, question)
    except AdvisorError as error:
        raise InputError(f"{where}: {error}") from error
    run = predicted.known_run(speed.speed, _words(speed, predicted), prompt=speed.prompt)
    taken = f"{where} is taken as of {resolved.taken_as}." if resolved.taken_as else ""
    return Known(
        speed=speed,
        estimate=predicted,
        run=run,
        notes=tuple(filter(None, (taken, *resolved.notes))),
    )


_kept = lru_cache(maxsize=256)(_known)
"""Known speeds that the next answer on the same machine asks for again."""


def _predicted(
    speed: KnownSpeed, model: Model, machine: Machine, question: QuestionRun
) -> Estimate:
    """Prediction in the first placement that holds the model, the fastest ones first."""
    runtime = runtime_named(speed.runtime) if speed.runtime else question.runtime or LLAMA_CPP
    loaded = runtime.loaded_format(model.format, machine)
    if loaded.format != model.format:
        model = catalog.in_format(model.architecture, loaded.format)
    settings, wanted = _placed(speed, model, runtime, question)
    reasons = []
    for strategy in runtime.strategies:
        if wanted not in (None, strategy):
            continue
        tried = estimate(model, machine, _work(speed), runtime, strategy, None, settings)
        if not tried.refusal and bool(tried.fits):
            return tried
        reasons.append(tried.refusal or f"{model.name} in {model.format} does not fit.")
    raise InputError(
        f"{' '.join(dict.fromkeys(reasons))} So it cannot have run in {runtime.name} on "
        f"{machine.name}."
    )


def _placed(
    speed: KnownSpeed, model: Model, runtime: Runtime, question: QuestionRun
) -> tuple[Settings, PlacementStrategy | None]:
    """Split and placement of a known speed: as stated, as the question's of the same model, or the
    runtime's choice.
    """
    if speed.gpu_layers is not None or speed.cpu_moe is not None:
        stated = Settings(
            gpu_layers=speed.gpu_layers,
            cpu_moe=speed.cpu_moe,
            head_first=speed.gpu_layers is None,
        )
        every = speed.gpu_layers is None or speed.gpu_layers >= model.layers
        inside = every and not speed.cpu_moe
        return stated, None if inside else PlacementStrategy.CPU_OFFLOAD
    if question.model is None or not _same(question.model, model):
        return Settings(), None
    return question.settings if runtime.takes_layers else Settings(), question.strategy


def _same(first: Model, second: Model) -> bool:
    return first.name == second.name and first.format == second.format


def _work(speed: KnownSpeed) -> Workload:
    """Request that was timed."""
    before = Workload.prompt if speed.context is None else speed.context
    work = Workload(prompt=before, users=speed.users)
    if speed.prompt:
        length = float(Workload.prompt if speed.length is None else speed.length)
        cached = speed.context or 0.0
        work = replace(work, prompt=cached + length, cached=cached)
    longest = float(work.prompt) + float(work.output)
    return replace(work, context=max(float(work.context), longest))


def _words(speed: KnownSpeed, predicted: Estimate) -> str:
    """Model, format and speed in words."""
    tokens = "prompt tokens" if speed.prompt else "tokens"
    name = f"{predicted.model.name}, {predicted.model.format}"
    return f"{name}: {speed.speed:.4g} {tokens} a second"
