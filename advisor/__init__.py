"""Offload Advisor: how fast a language model runs on a machine, and whether a bigger GPU pays."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from advisor.calibration.imported_store import named_machine
    from advisor.cost_model.workload import Workload
    from advisor.errors import AdvisorError
    from advisor.request.money import MoneyInputs
    from advisor.request.request import Request
    from advisor.scripting import (
        advise,
        compare,
        describe_machine,
        estimate,
        find_model,
        sweep,
        task,
        with_known,
    )

__version__ = "0.1.0"
__all__ = [
    "AdvisorError",
    "MoneyInputs",
    "Request",
    "Workload",
    "advise",
    "compare",
    "describe_machine",
    "estimate",
    "find_model",
    "named_machine",
    "sweep",
    "task",
    "with_known",
]

_MODULES = {
    "AdvisorError": "advisor.errors",
    "MoneyInputs": "advisor.request.money",
    "Request": "advisor.request.request",
    "Workload": "advisor.cost_model.workload",
    "named_machine": "advisor.calibration.imported_store",
}
"""Modules of the names that `advisor.scripting` does not define."""


def __getattr__(name: str) -> Any:
    """Name of the Python interface (docs/python.md), loaded when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(_MODULES.get(name, "advisor.scripting"))
    except ModuleNotFoundError as error:
        raise AttributeError(
            f"{name!r} is part of the package offload-advisor; offload-advisor-core alone is "
            f"installed, or {error.name} is missing."
        ) from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
