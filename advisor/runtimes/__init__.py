"""Runtimes, one file each: placement, schedule and command."""

from advisor.cost_model.runtime import Becomes, Runtime
from advisor.errors import UnknownName
from advisor.runtimes.accelerate import ACCELERATE
from advisor.runtimes.deepspeed import DEEPSPEED
from advisor.runtimes.flexgen import FLEXGEN
from advisor.runtimes.ktransformers import KTRANSFORMERS
from advisor.runtimes.llama_cpp.ik_fork import IK_LLAMA_CPP
from advisor.runtimes.llama_cpp.layer_split import LLAMA_CPP
from advisor.runtimes.llama_cpp.lm_studio import LM_STUDIO
from advisor.runtimes.llama_cpp.ollama import OLLAMA
from advisor.runtimes.llama_cpp.split_mode_tensor import LLAMA_CPP_TENSOR
from advisor.runtimes.sglang import SGLANG
from advisor.runtimes.tensorrt_llm import TENSORRT_LLM
from advisor.runtimes.vllm import VLLM

RUNTIMES = (
    LLAMA_CPP, OLLAMA, LM_STUDIO, IK_LLAMA_CPP, KTRANSFORMERS, VLLM, SGLANG, TENSORRT_LLM,
    ACCELERATE, DEEPSPEED, FLEXGEN,
)  # fmt: skip
"""In the order pages and tables show them."""
VALUED = (LLAMA_CPP, VLLM, SGLANG)
"""Those of which every machine is valued in its fastest. Others in common use are not faster:
Ollama and LM Studio run llama.cpp with less of a choice, Accelerate streams what does not fit."""
ASIDE = (LLAMA_CPP_TENSOR,)
"""Further ways of theirs, which are said beside them and can be asked for by name."""


def runtime(name: str) -> Runtime:
    """The runtime of a name, compared without case.

    Raises:
        UnknownName: with close names.
    """
    folded = name.strip().casefold()
    for known in (*RUNTIMES, *ASIDE):
        if folded in (known.name.casefold(), known.key):
            return known
    raise UnknownName(
        "runtime", name, [known.name for known in RUNTIMES], "See docs/runtimes.md for the list."
    )


__all__ = [
    "ACCELERATE",
    "ASIDE",
    "DEEPSPEED",
    "FLEXGEN",
    "IK_LLAMA_CPP",
    "KTRANSFORMERS",
    "LLAMA_CPP",
    "LLAMA_CPP_TENSOR",
    "LM_STUDIO",
    "OLLAMA",
    "RUNTIMES",
    "SGLANG",
    "TENSORRT_LLM",
    "VALUED",
    "VLLM",
    "Becomes",
    "Runtime",
    "runtime",
]
