"""The llama-server command of a placement, with every choice explicit.

Options that are missing are set by llama-server's automatic fit, so a prediction holds only where
all are given and the fit is off. `-ngl N` counts the output head: 1 is the head alone, 2 the head
and the last layer, since December 2025 (src/llama-model.cpp, `i_gpu_start`).
"""

import re
import shlex
from collections.abc import Iterable

import numpy as np

from advisor.cost_model.placement import Location, Placement, PlacementStrategy
from advisor.cost_model.runtime import ServerSetup, WeightFiles
from advisor.cost_model.workload import Draft, Workload
from advisor.machine.backends import Backend, NumaPolicy
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.model import Model
from advisor.units import MIB

VERSION = "llama.cpp v0.6.0 of October 2026, builds from b11480 on (server README at 00dc8057)"
MICRO_BATCH = 512  # default of `-ub` (server README) [tokens]
BATCH = 2048  # default of `-b` (server README) [tokens]
RPC_PORT = 50052  # default port of rpc-server (tools/rpc/README.md)


def command(
    model: Model, placement: Placement, machine: Machine, work: Workload, source: str = ""
) -> str:
    """Command line of llama-server, and of each further machine.

    `source` is the option that names the weights, where it is not the one of `weights`.
    """
    named = source or weights(model, images=bool(work.images))
    line = " ".join([f"llama-server {named}", *arguments(model, placement, machine, work)])
    return with_workers(bound(line, machine), placement, machine)


def weights(model: Model, *, images: bool = False) -> str:
    """Option that names the weights: a repository that is downloaded once, or a file where none is
    known.

    With a repository llama-server also loads the encoder of images, which counts for prompts with
    images alone, unless it is told not to (server README: `--no-mmproj`); a file's encoder is
    another file (`--mmproj`).
    """
    source = catalog.Download.of_gguf(model)
    file = f"-m {shlex.quote(model.gguf_file)}"
    if source and images:
        return f"-hf {source}"
    if source:
        return f"-hf {source} --no-mmproj"
    if images:
        return f"{file} --mmproj {shlex.quote(f'mmproj-{model.file_stem}.gguf')}"
    return file


def repository_tag(model: Model) -> str:
    """Tag that selects a format among the GGUF files of a repository, for `-hf` and Ollama."""
    return re.sub(r"[^\w.-]", "", model.format)


def start(
    model: Model, placement: Placement, machine: Machine, work: Workload, repository: str
) -> tuple[str, ...]:
    """Shell lines that start llama-server as built by `SETUP`; it downloads the file itself."""
    source = f'-hf "{repository}:{repository_tag(model)}"'
    path = 'export PATH="$PWD/llama.cpp/build/bin:$PATH"'
    return (path, command(model, placement, machine, work, source))


SETUP = ServerSetup(
    files=WeightFiles.GGUF,
    port=9931,
    install=(  # for the CUDA that is there (llama.cpp, docs/build.md)
        "sudo apt-get update && sudo apt-get install -y cmake build-essential libssl-dev",
        "[ -d llama.cpp ] || git clone --depth 1 https://github.com/ggml-org/llama.cpp",
        "cmake -S llama.cpp -B llama.cpp/build -DGGML_CUDA=ON",
        "cmake --build llama.cpp/build --config Release -j --target llama-server",
    ),
    start=start,
)


def with_workers(line: str, placement: Placement, machine: Machine) -> str:
    """Command line of a server, preceded by the command line of each further machine."""
    if machine.nodes == 1 or not np.any(placement.gpu_layers):
        return line
    return f"# on every other machine\nrpc-server -H 0.0.0.0 -p {RPC_PORT} -c\n# here\n{line}"


def arguments(
    model: Model, placement: Placement, machine: Machine, work: Workload
) -> Iterable[str]:
    """Options of llama-server after the file, each with its value in one string."""
    yield from request(work)
    yield from _drafting(work)
    yield from _layers(model, placement, machine)
    yield from devices(model, placement, machine)
    yield from _cache(placement, work)
    yield from threads(machine)
    if machine.backend == Backend.CPU:
        yield "-dev none"
    elif machine.gpus and machine.nodes == 1 and machine.backend in SELECTED:
        name = Backend(machine.interface).label
        yield f"-dev {','.join(f'{name}{place}' for place in range(len(machine.gpus)))}"
    if placement.strategy is PlacementStrategy.NVME_OFFLOAD:
        yield "-lm mmap --no-repack"
    elif placement.load_mode != "auto":
        yield f"-lm {placement.load_mode}"
    yield "--fit off"


SELECTED = ("cuda", "rocm", "sycl", "vulkan")
"""Backends of which one build may have several, so that the command names the device."""


def request(work: Workload) -> Iterable[str]:
    """Options of context, users and micro-batch."""
    yield f"-c {int(work.context) * int(work.users)}"
    if int(work.users) > 1:
        yield f"-np {int(work.users)}"
    if int(work.ubatch) > BATCH:
        yield f"-b {int(work.ubatch)}"
    if int(work.ubatch) != MICRO_BATCH:
        yield f"-ub {int(work.ubatch)}"


SPECULATIVE = {
    "mtp": "draft-mtp", "eagle": "draft-eagle3", "dflash": "draft-dflash", "ngram": "ngram-simple",
    Draft.MODEL: "draft-simple",
}  # fmt: skip
"""`--spec-type` by drafting method (server README)."""


def _drafting(work: Workload) -> Iterable[str]:
    """Options of speculative decoding, which is done by layers of the same file, by another file or
    by n-grams.
    """
    if not work.draft:
        return
    yield f"--spec-type {SPECULATIVE[work.draft]}"
    if work.draft_model is not None:
        yield f"-md {shlex.quote(work.draft_model.gguf_file)}"
    elif work.drafter is not None and work.drafter.file:
        yield f"-md {work.drafter.file}.gguf"
    if work.draft == "ngram":
        count = "--spec-ngram-simple-size-m"
    else:
        count = "--spec-draft-n-max"
    yield f"{count} {int(work.drafted)}"


def _layers(model: Model, placement: Placement, machine: Machine) -> Iterable[str]:
    if not machine.gpus:
        return
    layers = int(placement.gpu_layers)
    experts = int(placement.cpu_moe)
    if layers >= model.layers:
        yield "-ngl all"
    else:
        yield f"-ngl {layers + 1 if layers else 0}"
    if layers and not np.any(placement.output[Location.vram(len(machine.gpus) - 1)]):
        yield r"-ot '^(output|token_embd)\.weight=CPU'"
    if experts and layers and model.has_experts:
        yield "-cmoe" if experts >= model.layers else f"-ncmoe {experts}"
    if layers and np.any(placement.cpu_ffn):
        yield f"-ncffn {int(placement.cpu_ffn)}"
    if placement.expert_cache:
        yield f"--moe-cache-mib {int(placement.expert_cache / MIB)}"


def devices(model: Model, placement: Placement, machine: Machine) -> Iterable[str]:
    """Options for the number of layers of each GPU; the head counts on the last GPU."""
    if len(machine.gpus) < 2 or not np.any(placement.gpu_layers):
        return
    if machine.nodes > 1:
        hosts = (f"HOST{node}:{RPC_PORT}" for node in range(2, machine.nodes + 1))
        yield f"--rpc {','.join(hosts)}"
    counts = [
        int(np.sum(placement.weights[Location.vram(device)][Group.NORMS] > 0))
        for device in range(len(machine.gpus))
    ]
    counts[-1] += 1
    yield f"-sm layer -ts {','.join(map(str, counts))}"


def threads(machine: Machine) -> Iterable[str]:
    """Options for the number of threads and the policy for memory nodes, where these are stated."""
    host = machine.host
    if host.threads is not None:
        yield f"-t {host.threads}"
    elif NumaPolicy.on_one_node(host.numa):
        yield f"-t {host.cores}"
    if host.numa:
        yield f"--numa {host.numa}"


def bound(line: str, machine: Machine) -> str:
    """Command line bound to the first memory node by numactl, where the policy says so."""
    if machine.host.numa != "numactl":
        return line
    return f"numactl --cpunodebind=0 --membind=0 {line}"


def _cache(placement: Placement, work: Workload) -> Iterable[str]:
    if work.kv_type != "f16":
        keys, values = Model.cache_types(work.kv_type)
        # values alone need flash attention to be packed
        attention = "-fa on " if work.flash_attention else "-fa off "
        yield f"{attention}-ctk {keys} -ctv {values}"
    elif not work.flash_attention:
        yield "-fa off"
    if work.swa_full:
        yield "--swa-full"
    if placement.gpu_layers and np.all(placement.kv[Location.RAM] > 0):
        yield "-nkvo"
