"""MLX: Apple's library for its own chips, all weights in the memory that CPU and GPU share.

`mlx_lm` stores groups of 64 weights with a scale and an offset of 16 bits each, so 4 bits take 4.5
(mlx_lm.convert, `--q-bits` and `--q-group-size`). It offloads nothing to a drive, and its server
has a 16-bit cache. LM Studio runs it on Macs unless a GGUF file is chosen, and Ollama has an engine
of its own on it (`OLLAMA_MLX`). Constants are those of llama.cpp on Metal; those of tokens are
multiplied by factors fitted to published runs of five chips (M3 Max to M5 Max), those of prompts,
measured on two chips, are not. A prompt's tokens are sorted by their expert, so that little of a
tile stays empty (`gather_qmm_rhs` of mlx's backend/metal/quantized.cpp). Runs without a stated
number of GPU cores count as the larger chip.
"""

import shlex
from dataclasses import replace
from functools import partial

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import variant
from advisor.cost_model.schedule import Phases
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine, over_ethernet
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes.format_support import check_takes, in_groups, own_bits, whole_bits
from advisor.runtimes.llama_cpp import ollama, passes, splits
from advisor.runtimes.llama_cpp.splits import LLAMA_CPP, divided
from advisor.runtimes.parallelism import shares_layers_between

VERSION = "mlx-lm 0.32"
BUILD = "mlx"
PROMPT_STEP = 2048
"""Prompt tokens computed together (`prefill_step_size` of mlx_lm/generate.py) [tokens]."""


def place(
    model: Model,
    machine: Machine,
    work: Workload,
    strategy: PlacementStrategy,
    settings: Settings,
    *,
    server: str = "mlx",
) -> Placement:
    """Placement of all weights and the cache in the memory of the chip, under a server by its
    key.
    """
    for key in dict.fromkeys((server, "mlx")):
        check_takes(key, machine, strategy, model, work)
    whole = splits.place(model, machine, work, strategy, settings)
    whole = replace(whole, embedding_shares={})  # mlx-lm reads all tables in
    if shares_layers_between(model, machine):
        return divided(model, machine, whole)
    return whole


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """Schedule of llama.cpp, with the prompt in steps of `PROMPT_STEP` tokens."""
    shared = shares_layers_between(model, machine)
    if shared:
        through = splits.schedule_divided
    else:
        through = passes.schedule
    return through(model, placement, machine, replace(work, ubatch=PROMPT_STEP, bench=True))


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command lines that quantize and serve the weights; for one prompt, mlx_lm.generate answers.

    Several Macs: `mlx.distributed_config` writes the file of hosts, and `mlx.launch` starts the
    server on each; `--pipeline` passes layers on instead of sharing each. RDMA (jaccl) is for
    Thunderbolt 5 (mlx's documentation, usage/launching_distributed, and its
    _distributed_utils/config.py; options of mlx_lm/server.py).
    """
    if whole_bits(model.format) == 16:
        return _served(model, machine, shlex.quote(catalog.repository(model.published_as)))
    return f"{folder_line(model)}\n{_served(model, machine, shlex.quote(folder_of(model)))}"


def folder_of(model: Model) -> str:
    """Name of the folder with a model's weights."""
    return f"{model.file_stem}-{own_bits(model.format, 'MLX'):g}bit"


def folder_line(model: Model) -> str:
    """Shell line that makes the folder of the weights from the maker's repository."""
    source = shlex.quote(catalog.repository(model.published_as))
    folder = shlex.quote(folder_of(model))
    number = own_bits(model.format, "MLX")
    if number == 16:
        return f"hf download {source} --local-dir {folder}"
    return f"mlx_lm.convert --hf-path {source} -q --q-bits {number:g} --mlx-path {folder}"


def _served(model: Model, machine: Machine, weights: str) -> str:
    """Command line of the server, on one Mac or several."""
    if machine.nodes == 1:
        return f"mlx_lm.server --model {weights}"
    shared = shares_layers_between(model, machine)
    hosts = ",".join(f"HOST{node}" for node in range(1, machine.nodes + 1))
    ethernet = over_ethernet(machine.network)
    if shared and not ethernet:
        way = "jaccl"
    else:
        way = "ring"
    over = "ethernet" if ethernet else "thunderbolt"
    return (
        f"mlx.distributed_config --backend {way} --over {over} --hosts {hosts} "
        f"--auto-setup --output-hostfile hosts.json\n"
        f"mlx.launch --backend {way} --hostfile hosts.json "
        f"mlx_lm.server --model {weights}{'' if shared else ' --pipeline'}"
    )


MLX = variant(
    LLAMA_CPP,
    name="MLX",
    build=BUILD,
    version=VERSION,
    strategies=(PlacementStrategy.GPU_RESIDENT,),
    loaded_format=in_groups("mlx", "MLX"),
    place=place,
    schedule=schedule,
    command=command,
    quantized_kv_type="",
    takes_layers=False,
)


def ollama_command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command lines that make a model of Safetensors files for Ollama's MLX engine
    (docs/import.mdx).
    """
    modelfile = shlex.quote(ollama.modelfile_text(f"./{folder_of(model)}", {}))
    return f"""{" ".join(ollama.environment(work))} ollama serve
# in another terminal
{folder_line(model)}
{ollama.create_line(model, modelfile)}
ollama run {shlex.quote(ollama.tag_of(model))}"""


OLLAMA_MLX = variant(
    MLX,
    name="Ollama MLX",
    version=ollama.VERSION,
    place=partial(place, server="ollama-mlx"),
    command=ollama_command,
)
