"""ExLlamaV3: models in EXL3, 1 to 8 bits a weight, all on NVIDIA's cards.

TabbyAPI serves them (README of turboderp-org/exllamav3 at 0445820, which lists ROCm as missing).
The constants are those of llama.cpp on CUDA, which twenty kinds of cards meet within a tenth at the
median (`UNFITTED`); nothing is fitted to them.
"""

import shlex

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import LoadedFormat, variant
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.backends import only_of
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.format_support import in_groups, whole_bits
from advisor.runtimes.llama_cpp import layer_split
from advisor.runtimes.llama_cpp.layer_split import LLAMA_CPP

VERSION = "exllamav3 1.0.0"
UNFITTED = 0.2
"""Further half width of its ranges, as the logarithm of a factor: of 20 cards from RTX 3060 to
5090, with 9 and 27 billion weights in 4 bits, sixteen write 0.88 to 1.14 of what llama.cpp's
constants say, the others 0.45, 0.76, 0.82 (0xSero/local-ai-registry, 2026-08)."""


def check_maker(machine: Machine) -> None:
    """Check that all GPUs are NVIDIA's."""
    if not only_of(machine, "NVIDIA"):
        raise Refusal("ExLlamaV3 needs an NVIDIA GPU, and this machine has none.")


def loaded_format(form: str, machine: Machine) -> LoadedFormat:
    """Format with as many bits per weight."""
    check_maker(machine)
    return in_groups(form, "EXL3")


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """All weights on the GPUs, divided by layers."""
    if strategy is not PlacementStrategy.GPU_RESIDENT:
        raise Refusal("ExLlamaV3 keeps all weights on the GPUs.")
    check_maker(machine)
    if machine.nodes > 1:
        raise Refusal("ExLlamaV3 computes on one machine.")
    return layer_split.place(model, machine, work, strategy, settings)


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command lines: exllamav3's script quantizes the weights, TabbyAPI serves them."""
    del placement, machine
    number = whole_bits(model.format)
    folder = shlex.quote(f"{model.name}-exl3-{min(number, 8)}.0bpw")
    return (
        f"# in exllamav3's folder, from the checkpoint of Hugging Face\n"
        f"python convert.py -i {shlex.quote(model.name)} -o {folder} -w work -b {min(number, 8)}\n"
        f"# in TabbyAPI's folder, with {folder} in models/\n"
        f"python main.py --model-name {folder} --max-seq-len {int(work.context) * int(work.users)}"
    )


EXLLAMAV3 = variant(
    LLAMA_CPP,
    name="ExLlamaV3",
    version=VERSION,
    strategies=(PlacementStrategy.GPU_RESIDENT,),
    loaded_format=loaded_format,
    place=place,
    command=command,
    takes_layers=False,
    extra_uncertainty=UNFITTED,
    notes=("Its speed rests on llama.cpp's constants, which one source's 20 cards agree with.",),
)
