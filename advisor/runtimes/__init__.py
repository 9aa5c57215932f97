"""Runtimes: placement, schedule and command of each, one file per runtime."""

from dataclasses import dataclass

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.runtime import Runtime
from advisor.errors import InputError, UnknownName
from advisor.machine.machine import Machine
from advisor.runtimes.accelerate import ACCELERATE
from advisor.runtimes.deepspeed import DEEPSPEED
from advisor.runtimes.exllamav3 import EXLLAMAV3
from advisor.runtimes.flexgen import FLEXGEN
from advisor.runtimes.ktransformers import KTRANSFORMERS
from advisor.runtimes.llama_cpp.forks import IK_LLAMA_CPP, LLAMAFILE
from advisor.runtimes.llama_cpp.layer_split import LLAMA_CPP
from advisor.runtimes.llama_cpp.lm_studio import LM_STUDIO
from advisor.runtimes.llama_cpp.ollama import OLLAMA
from advisor.runtimes.llama_cpp.split_mode_tensor import LLAMA_CPP_TENSOR
from advisor.runtimes.mlx import MLX, OLLAMA_MLX
from advisor.runtimes.names import row_of
from advisor.runtimes.sglang import SGLANG
from advisor.runtimes.tensorrt_llm import TENSORRT_LLM
from advisor.runtimes.tiered.engines import engine_called
from advisor.runtimes.tiered.offered import in_tiers as in_tiers
from advisor.runtimes.tiered.reports import sentences
from advisor.runtimes.tiered.runtimes import tiered_runtime, tiered_runtimes
from advisor.runtimes.vllm import VLLM

RUNTIMES = (
    LLAMA_CPP, OLLAMA, LM_STUDIO, IK_LLAMA_CPP, KTRANSFORMERS, VLLM, SGLANG, TENSORRT_LLM,
    ACCELERATE, DEEPSPEED, FLEXGEN,
)  # fmt: skip
"""Runtimes of a comparison, in the order of pages and tables."""
VALUED = (LLAMA_CPP, VLLM, SGLANG)
"""Runtimes for the value of a machine, which is that of the fastest. Others in common use are not
faster: Ollama and LM Studio run llama.cpp with fewer options, Accelerate streams the rest."""
ASIDE = (LLAMA_CPP_TENSOR, MLX, OLLAMA_MLX, EXLLAMAV3, LLAMAFILE)
"""Further modes and engines, mentioned beside the others and available by name."""
TIERED = tiered_runtimes()
"""Engines that keep experts in VRAM, RAM and on the drive, available by name; see `in_tiers`."""
NAMED = (*RUNTIMES, *ASIDE, *TIERED)  # every runtime that can be asked for by its name


def beside(machine: Machine) -> tuple[Runtime, ...]:
    """Further engines for a comparison on a machine that they are made for."""
    if machine.only_of("Apple"):
        return (MLX,)
    return ()


def runtime(name: str) -> Runtime:
    """Runtime by name or key, ignoring case, or the one that a named app runs.

    Raises:
        UnknownName: no such runtime; the error has similar names.
        InputError: an engine that is known and not described, with the reason.
    """
    folded = name.strip().casefold()
    for known in NAMED:
        if folded in (known.name.casefold(), known.key):
            return known
    engine = tiered_runtime(folded)
    if engine is not None:
        return engine
    row = row_of(name)
    if row is not None and row.runtime:
        return next(known for known in NAMED if known.name == row.runtime)
    if row is not None:
        raise InputError(row.refusal)
    names = [known.name for known in NAMED]
    raise UnknownName("runtime", name, names, "See docs/runtimes.md for the list.")


@dataclass(frozen=True, kw_only=True, slots=True)
class RemarkRow:
    """One row of data/runtimes/remarks.csv."""

    runtime: str  # name of the runtime
    words: str  # what to know beside its command, a sentence or two
    source: str
    retrieved: str


def remarks_of(runtime: Runtime) -> tuple[str, ...]:
    """Remarks shown beside a runtime's command."""
    engine = engine_called(runtime.key)
    if engine is not None and runtime in TIERED:
        return sentences(engine)
    rows = read(DATA / "runtimes/remarks.csv", RemarkRow)
    return tuple(row.words for row in rows if row.runtime == runtime.name)
