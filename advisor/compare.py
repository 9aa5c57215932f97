"""The same model and machine in every runtime and placement, side by side."""

from collections.abc import Iterable

from advisor import catalog
from advisor.architecture import Architecture
from advisor.errors import Refusal
from advisor.estimate import Estimate, estimate
from advisor.machine import Machine
from advisor.model import Model
from advisor.placement import Settings
from advisor.runtimes import LLAMA_CPP, RUNTIMES, Runtime
from advisor.workload import Workload


def compare(
    architecture: Architecture,
    form: str,
    machine: Machine,
    work: Workload,
    *,
    settings: Settings | None = None,
    runtimes: Iterable[Runtime] = RUNTIMES,
) -> tuple[Estimate, ...]:
    """One estimate for each runtime and placement, refused pairs with their reason.

    Args:
        architecture: the model.
        form: the format asked for; each runtime takes the nearest that it runs.
        machine: where.
        work: what is asked.
        settings: layers and page cache that the person fixed; they hold for llama.cpp alone, whose
            options they are.
        runtimes: which.

    Raises:
        UnknownName: the format.
    """
    asked = catalog.in_format(architecture, form)
    return tuple(
        one
        for runtime in runtimes
        for one in _in_runtime(asked, machine, work, runtime, settings or Settings())
    )


def _in_runtime(
    asked: Model, machine: Machine, work: Workload, runtime: Runtime, settings: Settings
) -> Iterable[Estimate]:
    try:
        becomes = runtime.becomes(asked.format, machine)
        model = (
            asked
            if becomes.format == asked.format
            else catalog.in_format(asked.architecture, becomes.format)
        )
    except Refusal as refusal:
        return [
            Estimate(how=runtime, strategy=strategy, model=asked, work=work, refusal=str(refusal))
            for strategy in runtime.strategies
        ]
    own = settings if runtime is LLAMA_CPP else Settings()
    return [
        estimate(model, machine, work, runtime, strategy, catalog.efficiency(), own, becomes.reason)
        for strategy in runtime.strategies
    ]


def usable(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Those that fit, fastest first."""
    fitting = [one for one in estimates if one.decode is not None and bool(one.fits)]
    return sorted(fitting, key=decode_tps, reverse=True)


def decode_tps(one: Estimate) -> float:
    """Tokens per second of a single estimate; 0 where it was refused [tokens/s]."""
    return float(one.decode.value) if one.decode is not None else 0.0
