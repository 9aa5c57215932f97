"""Ollama: a server that starts llama-server with a context and lets it place the layers.

Since 2026 it runs llama-server (llm/llama_server.go). Without `num_gpu` it passes no number of
layers, so that llama.cpp's automatic placement decides, experts in RAM included. With `num_gpu` N
it passes `-ngl N`, which counts the output head. It has no option for experts, but hands its whole
environment to llama-server, which reads `LLAMA_ARG_N_CPU_MOE` and `LLAMA_ARG_CPU_MOE` there. It
uses one GPU where the model fits into one, else all; it allocates the context once for each
parallel request, and raises the micro-batch with the context where there is room. It does not read
from the drive: a model larger than RAM is refused.

Reference: ollama/ollama at fb30760, 2026-08-21: llm/llama_server.go (SetupLlamaServerCommandEnv),
server/sched.go, server/routes.go, envconfig/config.go, docs/faq.mdx; issue 11772; docs/import.mdx
at 1885941.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import ServerSetup, WeightFiles, variant
from advisor.cost_model.schedule import Phases
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes.format_support import check_takes, loaded_format_of
from advisor.runtimes.llama_cpp import passes, splits
from advisor.runtimes.llama_cpp.buffers import kv_cache_bytes
from advisor.runtimes.llama_cpp.command import repository_tag
from advisor.runtimes.llama_cpp.splits import LLAMA_CPP
from advisor.units import GIB, MIB, Array

VERSION = "Ollama of August 2026 (fb30760)"
CONTEXTS = ((47.0, 262_144), (23.0, 32_768), (0.0, 4096))
"""Default context, by the least total VRAM (server/routes.go) [GiB, tokens]."""
BATCHES = ((32_768, 2048, 0.60, 2 * GIB), (4096, 1024, 0.75, 768 * MIB))
"""Micro-batch above a total context, where there is room: the model takes at most this share of
VRAM,
and with this many more bytes at most 80 % of it (server/sched.go) [tokens, tokens, share, B]."""
BATCH = 512  # micro-batch in all other cases [tokens]
FILLED = 0.80


def default_context(machine: Machine) -> int:
    """Default context of Ollama [tokens]."""
    total = sum(float(np.max(gpu.memory.value)) for gpu in machine.gpus)
    return next(tokens for least, tokens in CONTEXTS if total >= least * GIB)


def served(model: Model, machine: Machine, work: Workload) -> Workload:
    """Request with Ollama's micro-batch, unless one is set; it grows with the context where there
    is room.
    """
    if np.any(np.asarray(work.ubatch) != BATCH):
        return work
    context = np.asarray(work.context, dtype=float) * work.users
    needed = predicted(model, work)
    vram = machine.gpu_memory
    tokens: Array = np.asarray(float(BATCH))
    for least, batch, share, more in reversed(BATCHES):
        room = (needed <= share * vram) & (needed + more <= FILLED * vram)
        tokens = np.where((context > least) & room, float(batch), tokens)
    return work.with_numbers(ubatch=tokens)


def predicted(model: Model, work: Workload) -> Array:
    """Memory that Ollama expects a model to need before it starts: file and KV cache [B]."""
    cache = np.sum(kv_cache_bytes(model, work), axis=-1) * work.users
    return np.asarray(model.file_bytes + cache)


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement of llama.cpp: its automatic one, or one with a stated number of layers and
    experts.
    """
    check_takes("ollama", machine, strategy, model, work)
    running = served(model, machine, work)
    return splits.place(model, chosen(model, machine, running), running, strategy, settings)


def chosen(model: Model, machine: Machine, work: Workload) -> Machine:
    """Machine with only its first GPU, where the whole model fits into that (server/sched.go);
    unchanged for other models.
    """
    if len(machine.gpus) > 1 and np.all(in_first(model, machine, work)):
        return replace(machine, gpus=machine.gpus[:1])
    return machine


def in_first(model: Model, machine: Machine, work: Workload) -> npt.NDArray[np.bool_]:
    """Whether the whole model fits into the first GPU."""
    if machine.gpus:
        room = machine.gpus[0].memory.value
    else:
        room = 0.0
    return np.asarray(predicted(model, served(model, machine, work)) <= room)


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """Schedule of llama.cpp, in the micro-batches of Ollama."""
    running = served(model, machine, work)
    return passes.schedule(model, placement, chosen(model, machine, running), running)


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Environment of the server, a model with the predicted settings, and its start."""
    options = _options(placement, machine, work)
    modelfile = shlex.quote(modelfile_text(source_of(model), options))
    return f"""# quit a running Ollama first
{_serve(model, placement, work)}
# in another terminal
{create_line(model, modelfile)}
ollama run {shlex.quote(tag_of(model))}"""


def source_of(model: Model) -> str:
    """Source in a Modelfile: a name that Ollama downloads, or a file where no such name is
    known.
    """
    name = catalog.Download.of_ollama(model)
    if name:
        return name
    return f"./{model.gguf_file}"


def start(
    model: Model, placement: Placement, machine: Machine, work: Workload, repository: str
) -> tuple[str, ...]:
    """Shell lines: start of the server in the background, download of the model, and a wait."""
    source = f"hf.co/{repository}:{repository_tag(model)}"
    unquoted = f"'\"{source}\"'"  # the shell reads the repository's name
    options = _options(placement, machine, work)
    return (
        f"{_serve(model, placement, work)} &",
        "until ollama list; do sleep 1; done",
        f'ollama pull "{source}"',
        create_line(model, f"'{modelfile_text(unquoted, options)}'"),
        "wait",
    )


SETUP = ServerSetup(
    files=WeightFiles.GGUF,
    port=11434,
    install=(  # the installer starts a service of its own (ollama, docs/linux.mdx)
        "curl -fsSL https://ollama.com/install.sh | sh",
        "sudo systemctl disable --now ollama || true",
    ),
    start=start,
)


def tag_of(model: Model) -> str:
    """Name under which the model is created."""
    return f"{model.file_stem}-{model.format}".lower()


def _serve(model: Model, placement: Placement, work: Workload) -> str:
    """Command that starts Ollama's server, with variables that its llama-server reads."""
    layers = int(placement.cpu_moe)
    experts = ""
    if layers and int(placement.gpu_layers) and model.has_experts:
        every = layers >= model.layers
        if every:
            experts = "LLAMA_ARG_CPU_MOE=1 "
        else:
            experts = f"LLAMA_ARG_N_CPU_MOE={layers} "
    return f"{' '.join(environment(work))} {experts}ollama serve"


def _options(placement: Placement, machine: Machine, work: Workload) -> Mapping[str, int]:
    """Options of a model: the context, and whatever llama.cpp must not decide by itself."""
    options = {"num_ctx": int(work.context)}
    if machine.gpus:
        layers = int(placement.gpu_layers)
        options["num_gpu"] = layers + 1 if layers else 0
    if int(work.ubatch) != BATCH:
        options["num_batch"] = int(work.ubatch)
    return options


def modelfile_text(source: str, options: Mapping[str, int]) -> str:
    """Text of a Modelfile, escaped for printf."""
    lines = [f"FROM {source}", *(f"PARAMETER {key} {value}" for key, value in options.items())]
    return "".join(rf"{line}\n" for line in lines)


def create_line(model: Model, modelfile: str) -> str:
    """Shell line that creates a model from a Modelfile, given as quoted shell text."""
    tag = shlex.quote(tag_of(model))
    return f"printf {modelfile} > Modelfile && ollama create {tag} -f Modelfile"


def environment(work: Workload) -> Iterable[str]:
    """Environment variables for the start of the server."""
    yield f"OLLAMA_CONTEXT_LENGTH={int(work.context)}"
    if int(work.users) > 1:
        yield f"OLLAMA_NUM_PARALLEL={int(work.users)}"
    if work.kv_type != "f16":
        yield f"OLLAMA_KV_CACHE_TYPE={work.kv_type}"
        yield "OLLAMA_FLASH_ATTENTION=1"


OLLAMA = variant(
    LLAMA_CPP,
    name="Ollama",
    key="ollama",
    version=VERSION,
    strategies=(PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD),
    loaded_format=loaded_format_of("ollama"),
    place=place,
    schedule=schedule,
    command=command,
    apart=in_first,
    mainstream=True,
    setup=SETUP,
    default_context=default_context,
    drafts=True,
)
