"""ExLlamaV3: models in EXL3, 1 to 8 bits a weight, all on NVIDIA's cards.

TabbyAPI serves them (README of turboderp-org/exllamav3 at 0445820, which lists ROCm as missing);
its options are the fields of theroyallab/tabbyAPI's common/config_models.py at 004e837, with
hyphens (common/args.py).
The constants are those of llama.cpp on CUDA, which twenty kinds of cards meet within a tenth at the
median (`UNFITTED`); nothing is fitted to them.
"""

import math
import shlex
from collections.abc import Iterable

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import variant
from advisor.cost_model.workload import DRAFT_MODEL, Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.format_support import check_takes, in_groups, whole_bits
from advisor.runtimes.llama_cpp import layer_split
from advisor.runtimes.llama_cpp.layer_split import LLAMA_CPP

VERSION = "exllamav3 1.0.0"
PAGE = 256
"""Step of the cache's size (`cache_size`) [tokens]."""
CACHE_BITS = {"q8_0": 8, "q5_1": 5, "q5_0": 5, "q4_1": 4, "q4_0": 4, "iq4_nl": 4}
"""Bits of keys and values by the type of the cache (`cache_mode`)."""
DRAFTING = {"mtp": "mtp", "ngram": "ngram", DRAFT_MODEL: "model"}
"""`draft_mode` by way of drafting."""
UNFITTED = 0.2
"""Further half width of its ranges, as the logarithm of a factor: of 20 cards from RTX 3060 to
5090, with 9 and 27 billion weights in 4 bits, sixteen write 0.88 to 1.14 of what llama.cpp's
constants say, the others 0.45, 0.76, 0.82 (0xSero/local-ai-registry, 2026-08)."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """All weights on the GPUs, divided by layers."""
    check_takes("exllamav3", machine, strategy)
    if work.draft and work.draft not in DRAFTING:
        raise Refusal(
            "TabbyAPI drafts by a model's own layers (mtp), n-grams or a smaller model, not by "
            f"{work.draft}."
        )
    return layer_split.place(model, machine, work, strategy, settings)


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command lines: exllamav3's script quantizes the weights, TabbyAPI serves them."""
    del placement, machine
    served = " ".join((f"--max-seq-len {int(work.context)}", *_cache(work), *_drafting(work)))
    number = whole_bits(model.format)
    folder = shlex.quote(f"{model.name}-exl3-{min(number, 8)}.0bpw")
    return (
        f"# in exllamav3's folder, from the checkpoint of Hugging Face\n"
        f"python convert.py -i {shlex.quote(model.name)} -o {folder} -w work -b {min(number, 8)}\n"
        f"# in TabbyAPI's folder, with {folder} in models/\n"
        f"python main.py --model-name {folder} {served}"
    )


def _cache(work: Workload) -> Iterable[str]:
    """Cache of all users together, in whole pages, and its bits."""
    if int(work.users) > 1:
        size = math.ceil(int(work.context) * int(work.users) / PAGE) * PAGE
        yield f"--cache-size {size} --max-batch-size {int(work.users)}"
    if bits := CACHE_BITS.get(work.kv_type):
        yield f"--cache-mode {bits},{bits}"


def _drafting(work: Workload) -> Iterable[str]:
    if not work.draft:
        return
    yield f"--draft-mode {DRAFTING[work.draft]} --draft-num-tokens {int(work.drafted)}"
    if work.draft_model is not None:
        yield f"--draft-model-name {shlex.quote(work.draft_model.name)}"


EXLLAMAV3 = variant(
    LLAMA_CPP,
    name="ExLlamaV3",
    version=VERSION,
    strategies=(PlacementStrategy.GPU_RESIDENT,),
    loaded_format=in_groups("exllamav3", "EXL3"),
    place=place,
    command=command,
    takes_layers=False,
    drafts=True,
    extra_uncertainty=UNFITTED,
    notes=(
        "Its speed rests on llama.cpp's constants, which one source's 20 cards agree with.",
        "Since exllamav3 1.4 experts can be computed in RAM (cpu_moe_offload_layers, experimental: "
        "TabbyAPI issue 473); no published speed of that is known here.",
    ),
)
