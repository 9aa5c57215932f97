"""Names to choose from, for the inputs that are chosen from a list."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Draft
from advisor.machine import backends
from advisor.machine.catalog import DISKS, GPUS, HOSTS, MACHINES
from advisor.machine.machine import Form
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.formats import Format
from advisor.model.model import Model
from advisor.request.cache_types import cache_type, is_cache_type
from advisor.request.session import shapes
from advisor.request.wants import MAKERS, Condition, Fixed, Texts, Think
from advisor.runtimes import named

CLOUD = "cloud"  # kind of the machines that nobody owns
OTHER_FORMATS = ("AWQ", "GPTQ", "FP8")
"""Formats that llama.cpp does not read, which a person may have."""
CURRENCIES = (
    "USD", "EUR", "GBP", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "HUF", "IDR", "ILS",
    "INR", "JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK", "SGD", "THB",
    "TRY", "TWD", "UAH", "VND", "ZAR",
)  # fmt: skip
"""Currencies of the page; other doors take any."""
DRIVERS = ("Mesa 24.2", "Mesa 25.3", "AMDVLK", "ROCm 6.4")
"""Drivers to choose from; others can be typed."""
CONTEXTS = {f"{2**power // 1024}k": 2**power for power in range(11, 21)}
"""Sizes of the context, as people write them [tokens]."""
CLOSED = ("backend", "system", "numa", "kv_type", "session", "runtime", "placement", "load_mode",
          "form", "think", "texts", "condition", "fixed", "maker")  # fmt: skip
"""Inputs that take no other name than those listed."""


def _formats() -> Iterable[str]:
    forms = Format.by_name().values()
    return (*(form.name for form in forms if form.family == "gguf"), *OTHER_FORMATS)


def _machines() -> Iterable[str]:
    return (row.name for row in sorted(MACHINES.rows().values(), key=lambda row: row.kind == CLOUD))


LISTS: Mapping[str, Callable[[], Iterable[str]]] = {
    "model": catalog.model_rows,
    "format": _formats,
    "machine": _machines,
    "gpu": lambda: (MachineSpec.NO_GPU, *GPUS.rows()),
    "cpu": HOSTS.rows,
    "disk": DISKS.rows,
    "backend": lambda: map(str, backends.Backend),
    "system": lambda: map(str, backends.OperatingSystem),
    "driver": lambda: DRIVERS,
    "build": lambda: ("2024-09", "2025-10"),
    "numa": lambda: map(str, backends.NumaPolicy),
    "context": lambda: CONTEXTS,
    "kv_type": lambda: Model.KV_BYTES_PER_VALUE,
    "session": shapes,
    "draft": lambda: map(str, Draft.by_name()),
    "runtime": lambda: (runtime.name for runtime in named()),
    "placement": lambda: PlacementStrategy,
    "load_mode": lambda: Settings.LOAD_MODES,
    "form": lambda: Form,
    "currency": lambda: CURRENCIES,
    "cards_owned": GPUS.rows,
    "think": lambda: filter(None, Think),
    "texts": lambda: filter(None, Texts),
    "condition": lambda: filter(None, Condition),
    "fixed": lambda: filter(None, Fixed),
    "maker": lambda: MAKERS,
}


PAIRED = "kv_type"
"""Input of the listed ones that takes two names, too: a type of keys and one of values."""


def takes(name: str, value: str) -> bool:
    """Whether an input of a closed list takes a value, in the list's spelling."""
    return value in listed(name) or (name == PAIRED and is_cache_type(value))


@cache
def listed(name: str) -> tuple[str, ...]:
    """Names that an input may have; empty for one without a list."""
    if name in LISTS:
        return tuple(map(str, LISTS[name]()))
    return ()


def respelled(name: str, text: str) -> str:
    """Value in the spelling of the input's list; unchanged where the list lacks it."""
    if name == PAIRED:
        return cache_type(text)
    folded = text.strip().casefold()
    return next((each for each in listed(name) if each.casefold() == folded), text)
