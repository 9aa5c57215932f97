"""ExLlamaV3: models in EXL3, 1 to 8 bits a weight, on NVIDIA's cards; experts may lie in RAM.

TabbyAPI serves them (README of turboderp-org/exllamav3 at 4f8ad01, which lists ROCm as missing);
its options are the fields of theroyallab/tabbyAPI's common/config_models.py at e632af4, with
hyphens (common/args.py).

Since 1.2.0 (July 2026, experimental) the processor computes the routed experts of the first N
layers in RAM, only where layers are not divided; those of a prompt's chunk of 32 tokens and more
that many of its tokens ask for are copied to the GPU, by cores into page-locked memory first
(exllamav3's doc/env_vars.md: `EXL3_MOE_STREAM_T`, `EXL3_MOE_STREAM_MIN_ROWS`).
The constants are those of llama.cpp on CUDA, which twenty kinds of cards meet within a tenth at the
median (`UNFITTED`); nothing is fitted to them.
"""

import math
import shlex
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import variant
from advisor.cost_model.schedule import Phases
from advisor.cost_model.workload import Draft, Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.format_support import check_takes, in_groups, own_bits
from advisor.runtimes.llama_cpp import splits
from advisor.runtimes.llama_cpp.splits import LLAMA_CPP

CHUNK = 2048  # tokens of a prompt computed together (`chunk_size`, default) [tokens]
PAGE = 256  # step of the cache's size (`cache_size`) [tokens]
CACHE_BITS = {"q8_0": 8, "q6_0": 6, "q5_1": 5, "q5_0": 5, "q4_1": 4, "q4_0": 4, "iq4_nl": 4}
"""Bits of keys and values by the type of the cache (`cache_mode`)."""
DRAFTING = {"mtp": "mtp", "ngram": "ngram", Draft.MODEL: "model"}  # `draft_mode` by way of drafting
UNFITTED = 0.2
"""Further half width of its ranges, as the logarithm of a factor: of 20 cards from RTX 3060 to
5090, with 9 and 27 billion weights in 4 bits, sixteen write 0.88 to 1.14 of what llama.cpp's
constants say, the others 0.45, 0.76, 0.82 (0xSero/local-ai-registry, 2026-08)."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement with all weights on the GPUs, divided by layers; the experts of the first layers
    may lie in RAM.
    """
    check_takes("exllamav3", machine, strategy, model, work)
    if strategy is PlacementStrategy.CPU_OFFLOAD:
        experts = settings.cpu_moe
        if experts is None:
            unstated = replace(settings, gpu_layers=None)
            fitting = splits.place(model, machine, work, strategy, unstated)
            whole = np.asarray(fitting.gpu_layers) >= model.layers
            experts = np.where(whole, fitting.cpu_moe, float(model.layers))
        settings = replace(settings, gpu_layers=float(model.layers), cpu_moe=experts)
    return splits.place(model, machine, work, strategy, settings)


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """Schedule of llama.cpp, in which each chunk of a prompt copies the experts that lie in RAM."""
    if placement.strategy is PlacementStrategy.CPU_OFFLOAD:
        work = work.with_numbers(ubatch=float(CHUNK))
    return LLAMA_CPP.schedule(model, placement, machine, work)


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command lines: exllamav3's script quantizes the weights, TabbyAPI serves them."""
    number = min(own_bits(model.format, "EXL3"), 8.0)
    folder = shlex.quote(f"{model.file_stem}-exl3-{number:.1f}bpw")
    return f"""# in exllamav3's folder, from the checkpoint of Hugging Face
python convert.py -i {shlex.quote(model.file_stem)} -o {folder} -w work -b {number:g}
# in TabbyAPI's folder, with {folder} in models/
python main.py --model-name {folder} {" ".join(_options(placement, work))}"""


def _options(placement: Placement, work: Workload) -> Iterable[str]:
    """Options of TabbyAPI: length of a conversation, cache of all users in whole pages, bits of the
    cache, experts, drafting.
    """
    yield f"--max-seq-len {int(work.context)}"
    if int(work.users) > 1:
        size = math.ceil(int(work.context) * int(work.users) / PAGE) * PAGE
        yield f"--cache-size {size} --max-batch-size {int(work.users)}"
    bits = [CACHE_BITS[kind] for kind in Model.cache_types(work.kv_type) if kind in CACHE_BITS]
    if bits:
        yield f"--cache-mode {bits[0]},{bits[-1]}"
    if experts := int(placement.cpu_moe):
        yield f"--cpu-moe-offload-layers {experts}"
    if work.draft:
        yield f"--draft-mode {DRAFTING[work.draft]} --draft-num-tokens {int(work.drafted)}"
    if work.draft_model is not None:
        yield f"--draft-model-name {shlex.quote(work.draft_model.file_stem)}"


EXLLAMAV3 = variant(
    LLAMA_CPP,
    name="ExLlamaV3",
    version="exllamav3 1.4.2, TabbyAPI of August 2026 (e632af4)",
    strategies=(PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD),
    loaded_format=in_groups("exllamav3", "EXL3"),
    place=place,
    schedule=schedule,
    command=command,
    takes_layers=False,
    drafts=True,
    extra_uncertainty=UNFITTED,
)
