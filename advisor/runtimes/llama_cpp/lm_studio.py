"""LM Studio: llama.cpp behind sliders for layers and for layers whose experts stay in RAM.

`lms load --gpu R` puts that share of the layers on the GPU; without it, LM Studio decides. The
command line sets the share, the context and the time to stay loaded; expert layers on the CPU
(since 0.4.0), the cache's type, drafting and the number of parallel requests are set in the app or
by its SDKs, and kept for each model (lmstudio-ai/docs at c6854fb, 2026-04-29:
3_cli/0_local-models/load.md, 0_app/5_advanced/parallel-requests.md; lmstudio-ai/lmstudio-js,
packages/lms-shared-types/src/llm/LLMLoadModelConfig.ts at 6e0695a: `gpu.numCpuExpertLayersRatio`,
1 for all of them; lms-cli: `speculativeDraftMtp` and kin).
Models larger than RAM are not read from the drive: guardrails refuse to load them.
"""

import shlex
from dataclasses import replace

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import variant
from advisor.cost_model.workload import Draft, Workload
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes.format_support import check_takes, loaded_format_of
from advisor.runtimes.llama_cpp import splits
from advisor.runtimes.llama_cpp.splits import LLAMA_CPP

DRAFTING = {
    "mtp": "speculativeDraftMtp",
    "dflash": "speculativeDraftDflash",
    Draft.MODEL: "speculativeDraftSimple",
}
"""Settings of its load configuration, by way of drafting."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement of llama.cpp; as many whole layers as fit for a model without experts."""
    check_takes("lm-studio", machine, strategy, model, work)
    if not model.has_experts and settings.gpu_layers is None and machine.gpus:
        settings = replace(settings, gpu_layers=splits.whole_layers(model, machine, work))
    return splits.place(model, machine, work, strategy, settings)


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line of lms, after the settings that are made in the app."""
    settings = []
    experts = int(placement.cpu_moe)
    if experts and int(placement.gpu_layers) and model.has_experts:
        ratio = f"numCpuExpertLayersRatio {experts / model.layers:.4g}"
        settings.append(f"{experts} of {model.layers} expert layers on the CPU ({ratio})")
    if work.draft:
        most = f"speculativeDraftMaxTokens {int(work.drafted)}"
        settings.append(f"speculative decoding ({DRAFTING[work.draft]}, {most})")
    if int(work.users) > 1:
        settings.append(f"Max Concurrent Predictions {int(work.users)}")
    keys, values = Model.cache_types(work.kv_type)
    if keys == values != "f16":
        settings.append(f"K and V Cache Quantization Type {keys}")
    elif keys != values:
        settings.append(f"K Cache Quantization Type {keys}, V Cache Quantization Type {values}")
    share = float(placement.gpu_layers) / model.layers
    if share >= 1:
        gpu = "max"
    elif share > 0:
        gpu = f"{share:.3g}"
    else:
        gpu = "off"
    line = (
        f"lms load {key(model)} --gpu {gpu} --context-length {int(work.context) * int(work.users)}"
    )
    comments = (f"# first, in the app: {setting}" for setting in settings)
    return "\n".join([*comments, *filter(None, [get_line(model)]), line])


def plain_lines(model: Model, context: int) -> str:
    """Lines of lms that download and start a model; empty where no repository is known.

    Where several models have its key, lms asks which one.
    """
    get = get_line(model)
    if not get:
        return ""
    return f"{get}\nlms load {key(model)} --context-length {context}\nlms server start"


def get_line(model: Model) -> str:
    """Command line that downloads a model; empty where no repository is known
    (lmstudio-ai/docs, 3_cli/0_local-models/get.md at 421dd43).
    """
    source = catalog.Download.of_gguf(model)
    if not source:
        return ""
    repository, _, form = source.partition(":")
    chosen = f"@{form}" if form else ""
    return f"lms get {catalog.Download.HUB}/{repository}{chosen}"


def key(model: Model) -> str:
    """Name under which `lms` lists a downloaded model: that of its repository, or of its file where
    no repository is known.
    """
    repository = catalog.Download.of_gguf(model).partition(":")[0]
    if repository:
        return repository.rpartition("/")[2].removesuffix("-GGUF").lower()
    return shlex.quote(f"{model.file_stem}-{model.format}".lower())


LM_STUDIO = variant(
    LLAMA_CPP,
    name="LM Studio",
    key="lm-studio",
    version="LM Studio 0.4, lms of April 2026 (docs at c6854fb)",
    strategies=(PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD),
    loaded_format=loaded_format_of("lm-studio"),
    place=place,
    command=command,
    drafts=True,
    mainstream=True,
    alone=True,
)
