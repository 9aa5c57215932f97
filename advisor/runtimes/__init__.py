"""Runtimes: placement, schedule and command of each runtime, one file for each, and their names."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.runtime import Runtime
from advisor.errors import InputError, UnknownName
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.accelerate import ACCELERATE
from advisor.runtimes.deepspeed import DEEPSPEED
from advisor.runtimes.exllamav3 import EXLLAMAV3
from advisor.runtimes.flexgen import FLEXGEN
from advisor.runtimes.ktransformers import KTRANSFORMERS
from advisor.runtimes.llama_cpp.forks import IK_LLAMA_CPP, LLAMAFILE
from advisor.runtimes.llama_cpp.lm_studio import LM_STUDIO
from advisor.runtimes.llama_cpp.ollama import OLLAMA
from advisor.runtimes.llama_cpp.splits import LLAMA_CPP, LLAMA_CPP_TENSOR
from advisor.runtimes.mlx import MLX, OLLAMA_MLX
from advisor.runtimes.sglang import SGLANG
from advisor.runtimes.tensorrt_llm import TENSORRT_LLM
from advisor.runtimes.vllm import VLLM

RUNTIMES = (
    LLAMA_CPP, OLLAMA, LM_STUDIO, IK_LLAMA_CPP, KTRANSFORMERS, VLLM, SGLANG, TENSORRT_LLM,
    ACCELERATE, DEEPSPEED, FLEXGEN,
)  # fmt: skip
"""Runtimes of a comparison, in the order of pages and tables."""
ASIDE = (LLAMA_CPP_TENSOR, MLX, OLLAMA_MLX, EXLLAMAV3, LLAMAFILE)
"""Further modes and engines, mentioned beside the others and available by name."""


@cache
def named() -> tuple[Runtime, ...]:
    """Runtimes that can be asked for by their names, those that keep experts in tiers last."""
    from advisor.runtimes.tiered import tiered_runtimes  # a table of engines that few ask for

    return (*RUNTIMES, *ASIDE, *tiered_runtimes())


def compared(machine: Machine, model: Model | None = None) -> tuple[Runtime, ...]:
    """Runtimes that are compared on a machine; with a model, also the engines that keep its experts
    in tiers.
    """
    made_for = (MLX,) if machine.only_of("Apple") else ()
    if model is None or not model.has_experts:
        return (*RUNTIMES, *made_for)
    from advisor.runtimes.tiered import in_tiers

    return (*RUNTIMES, *made_for, *in_tiers(model, machine))


def runtime(name: str) -> Runtime:
    """Runtime by name or key, ignoring case, or the one that a named app runs.

    Raises:
        UnknownName: no such runtime; the error has similar names.
        InputError: an engine that is known and not described, with the reason.
    """
    folded = name.strip().casefold()
    for known in (*RUNTIMES, *ASIDE):
        if folded in (known.name.casefold(), known.key):
            return known
    from advisor.runtimes.tiered import tiered_runtime

    engine = tiered_runtime(folded)
    if engine is not None:
        return engine
    row = row_of(name)
    if row is not None and row.runtime:
        return next(known for known in named() if known.name == row.runtime)
    if row is not None:
        raise InputError(row.refusal)
    names = [known.name for known in named()]
    raise UnknownName("runtime", name, names, "See docs/runtimes.md for the list.")


@dataclass(frozen=True, kw_only=True, slots=True)
class RuntimeNameRow:
    """One row of data/runtimes/runtime_names.csv."""

    name: str  # as its makers write it
    spellings: str  # other spellings, separated by semicolons
    runtime: str  # name of the runtime that it is or runs; empty for one that is not described
    note: str  # for an app, what to know besides; for an engine that is not described, why
    source: str  # its own page; empty for a spelling of a runtime
    retrieved: str  # date when that was read

    @property
    def refusal(self) -> str:
        """Reason why a name has no answer; empty for a name that has one."""
        if self.runtime:
            return ""
        return f"{self.name} is known and not modelled. {self.note}"

    @property
    def taken_as(self) -> str:
        """Sentence on the runtime that answers for an app; empty for the name of a runtime."""
        if not self.source or not self.runtime:
            return ""
        more = f" {self.note[0].upper()}{self.note[1:]}." if self.note else ""
        return f"{self.name} is answered as {self.runtime}.{more}"


def row_of(name: str) -> RuntimeNameRow | None:
    """Row of a runtime's name, with or without what people write around it; None for an unknown
    name.
    """
    rows = _rows()
    return next((rows[bare] for bare in _readings(name) if bare in rows), None)


@cache
def _rows() -> Mapping[str, RuntimeNameRow]:
    rows: dict[str, RuntimeNameRow] = {}
    for row in read(DATA / "runtimes/runtime_names.csv", RuntimeNameRow):
        for spelling in (row.name, *filter(None, row.spellings.split("; "))):
            rows.setdefault(_bare(spelling), row)
    return rows


AROUND = re.compile(
    r"^\S+/(?=[^/]+$)|"  # registry and owner of an image or repository
    r"[:@][^\s/]*$|"  # tag of an image
    r"\.(?:exe|app|appimage|msi|dmg|zip)$|"  # file of a program
    r"\s*\[[^\]]*\]$|\s*\([^)]*\)$|"  # parts to install; remark
    r"(?:[\s=~<>_-]+v?|[-_ ]b)\d[\w.+]*$|"  # version, number of a build
    r"[\s_.-]+(?:docker|server|serve|service|portable|nightly|latest|stable|desktop|app|gui|"
    r"bench|cli|chat|generate|api|cpu|gpu|cuda|cu\d+|rocm|hip|vulkan|metal|sycl|windows|win|"
    r"linux|mac|macos|bin|x64)$"  # what it is started as, or on
)
"""Text around the name of a program: `vllm[flashinfer]`, `koboldcpp_cu12.exe`."""


def _readings(name: str) -> Iterator[str]:
    """Letters and digits of a name, then of what is left of it without what stands around it."""
    folded = name.strip().casefold()[:LONGEST]
    while folded:
        yield _bare(folded)
        shorter = AROUND.sub("", folded, count=1).strip()
        if shorter == folded:
            return
        folded = shorter


LONGEST = 100  # letters of a name that are read


def _bare(name: str) -> str:
    """Letters and digits of a name in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())
