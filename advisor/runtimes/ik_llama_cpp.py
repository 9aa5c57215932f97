"""ik_llama.cpp, a fork of llama.cpp for processors: same placement, other kernels.

Its matrix kernels and its attention on the CPU are several times faster, so experts in RAM are
computed there in prompts too, where llama.cpp copies them to the GPU.
"""

from dataclasses import replace

from advisor.machine import Machine
from advisor.model import Model
from advisor.placement import Placement
from advisor.runtimes.llama_cpp import LLAMA_CPP, phases
from advisor.schedule import Phases
from advisor.workload import Workload

VERSION = "ik_llama.cpp of August 2026 (8337e4cd3)"


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """As llama.cpp, but experts in RAM stay there: the processor computes them."""
    return phases(model, placement, machine, work, copies_experts=False)


IK_LLAMA_CPP = replace(
    LLAMA_CPP,
    name="ik_llama.cpp",
    key="llama.cpp",
    build="ik",
    version=VERSION,
    schedule=schedule,
)
