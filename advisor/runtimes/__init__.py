"""Runtimes: placement, schedule and command of each, one file per runtime."""

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
from advisor.runtimes.llama_cpp.layer_split import LLAMA_CPP
from advisor.runtimes.llama_cpp.lm_studio import LM_STUDIO
from advisor.runtimes.llama_cpp.ollama import OLLAMA
from advisor.runtimes.llama_cpp.split_mode_tensor import LLAMA_CPP_TENSOR
from advisor.runtimes.mlx import MLX, OLLAMA_MLX
from advisor.runtimes.names import row_of
from advisor.runtimes.sglang import SGLANG
from advisor.runtimes.tensorrt_llm import TENSORRT_LLM
from advisor.runtimes.tiered.offered import in_tiers as in_tiers
from advisor.runtimes.tiered.runtimes import tiered_runtime, tiered_runtimes
from advisor.runtimes.vllm import VLLM

RUNTIMES = (
    LLAMA_CPP, OLLAMA, LM_STUDIO, IK_LLAMA_CPP, KTRANSFORMERS, VLLM, SGLANG, TENSORRT_LLM,
    ACCELERATE, DEEPSPEED, FLEXGEN,
)  # fmt: skip
"""Runtimes of a comparison, in the order of pages and tables."""
ASIDE = (LLAMA_CPP_TENSOR, MLX, OLLAMA_MLX, EXLLAMAV3, LLAMAFILE)
"""Further modes and engines, mentioned beside the others and available by name."""
TIERED = tiered_runtimes()
"""Engines that keep experts in VRAM, RAM and on the drive, available by name; see `in_tiers`."""
NAMED = (*RUNTIMES, *ASIDE, *TIERED)  # every runtime that can be asked for by its name


def compared(machine: Machine, model: Model | None = None) -> tuple[Runtime, ...]:
    """Runtimes of a comparison on a machine, with engines made for it; for a model, engines that
    keep its experts in tiers, too.
    """
    made_for = (MLX,) if machine.only_of("Apple") else ()
    tiers = () if model is None else in_tiers(model, machine)
    return (*RUNTIMES, *made_for, *tiers)


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
