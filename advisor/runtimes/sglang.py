"""SGLang: all on the GPUs, or weights in pinned RAM, copied just before each layer computes.

`--cpu-offload-gb` moves weights to RAM in the order of the layers, up to that size. Each layer's
weights are copied back on the computing stream, unused experts included, so that the times of
copying and computing add (OffloaderV1 in sglang/srt/utils/offloader.py of 0.5.23). Its prefetching
offloader (`--offload-group-size`) supports only the experts of DeepSeek's architecture and is not
modelled. The hierarchical cache keeps prefixes in RAM and makes no room for weights.
"""

import math
import shlex
from collections.abc import Iterable
from functools import partial, reduce

import numpy as np

from advisor.cost_model.drafting import drafter_memory
from advisor.cost_model.placement import Location, Placement, PlacementStrategy
from advisor.cost_model.workload import Draft, Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import serving, vllm
from advisor.runtimes.parallelism import Parallel, parallel, partitioned, several
from advisor.units import GIB, MIB, Array

VERSION = "SGLang 0.5.23"
BUFFERED = 1  # layers in VRAM at a time for streaming
CHUNKS = ((20, 2048), (60, 4096), (160, 8192), (math.inf, 16384))
"""Tokens of a prompt computed together (`--chunked-prefill-size`) by VRAM below so many GiB, where
it is not given (sglang/srt/arg_groups/memory_hook.py of 0.5.23) [GiB, tokens]."""
META = 512 * MIB
PER_TOKEN = 1.5 * MIB
"""VRAM set aside for metadata, and for each token of a chunk (memory_hook.py) [B]."""


def static_share(machine: Machine) -> Array:
    """Value of `--mem-fraction-static`: share of VRAM for weights and cache, beside a chunk of the
    prompt.
    """
    share = 1.0 - (META + PER_TOKEN * chunk_size(machine)) / _smallest(machine)
    return np.asarray(np.maximum(np.floor(1000 * share) / 1000, 0.1))


def chunk_size(machine: Machine) -> Array:
    """Tokens of a prompt computed together [tokens]."""
    limits, tokens = np.transpose(CHUNKS)
    return np.asarray(tokens[np.searchsorted(limits * GIB, _smallest(machine), side="right")])


def _smallest(machine: Machine) -> Array:
    """VRAM of the smallest GPU [B]."""
    sizes = (gpu.memory.value for gpu in machine.gpus)
    return np.asarray(reduce(np.minimum, sizes), dtype=float)


def _room(model: Model, machine: Machine, work: Workload) -> serving.Room:
    request = serving.served(serving.paged(work))
    room = serving.Room(
        usable=static_share(machine),
        buffered=BUFFERED,
        cache=model.kv_bytes(request.context, request.kv_type),
        working=0.0,
        drafter=drafter_memory(model, request),
    )
    return serving.with_tables(model, machine, room, request.users, aside=False)


def command(
    model: Model, placement: Placement, machine: Machine, work: Workload, source: str = ""
) -> str:
    """Launch line of each machine; `source` is the repository, where it is another one than
    `checkpoint` names.
    """
    division = parallel(model, machine)
    parts = [
        "python -m sglang.launch_server",
        f"--model-path {source or shlex.quote(serving.checkpoint(model))}",
        f"--context-length {int(work.context)}",
        f"--max-running-requests {int(work.users)}",
        f"--mem-fraction-static {static_share(machine):g}",
    ]
    if serving.served(work).kv_type == "fp8":
        parts.append("--kv-cache-dtype fp8_e4m3")
    parts += several(division, "--tp-size", "--pp-size")
    if placement.expert_parallel:
        parts.append(f"--ep-size {division.tensor}")
    if placement.attention_by_user:
        parts.append(f"--dp-size {division.tensor} --enable-dp-attention")
    parts += _drafting(work)
    parts += _offload(model, placement, division)
    line = partitioned(" ".join(parts), division, "SGLANG_PP_LAYER_PARTITION")
    return serving.on_each(line, machine, "--dist-init-addr HOST1:5000")


ALGORITHMS = {
    "mtp": "EAGLE", "eagle": "EAGLE3", "dflash": "DFLASH", "ngram": "NGRAM",
    Draft.MODEL: "STANDALONE",
}  # fmt: skip
"""`--speculative-algorithm` by drafting method (docs.sglang.io, speculative_decoding, 2026-11)."""


def _drafting(work: Workload) -> Iterable[str]:
    """Options of drafting: a chain of drafted tokens, verified in one step with the last token
    before them.
    """
    if work.drafter is None:
        return
    drafted = int(work.drafted)
    yield f"--speculative-algorithm {ALGORITHMS[work.draft]}"
    if work.drafter.file or work.draft_model is not None:
        yield f"--speculative-draft-model-path {shlex.quote(serving.drafter(work))}"
    if work.draft != Draft.NGRAM and not work.drafter.at_once:
        yield f"--speculative-num-steps {drafted} --speculative-eagle-topk 1"
    yield f"--speculative-num-draft-tokens {drafted + 1}"


def _offload(model: Model, placement: Placement, division: Parallel) -> Iterable[str]:
    in_file = np.any(placement.embedding_share(Location.DISK))
    if in_file or np.any(placement.embedding_share(Location.RAM)):
        yield "--ple-offload-embedding"  # pull request 39928
    if in_file:
        yield "--ple-offload-backend file --ple-offload-dir FOLDER"
    outside: Array = serving.moved_bytes(model, placement)
    if float(outside) > 0:
        yield f"--cpu-offload-gb {math.ceil(float(outside) / division.gpus / GIB)}"


SGLANG = serving.engine(
    "sglang",
    _room,
    name="SGLang",
    version=VERSION,
    strategies=(PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD),
    schedule=partial(vllm.schedule, ahead=False),
    command=command,
    chunk=chunk_size,
    drafts=True,
    takes_several_counts=True,
    port=30000,
    install=(  # https://docs.sglang.io/docs/, read 2026-11-21
        f"uv pip install sglang=={VERSION.rpartition(' ')[2]} --prerelease=allow",
    ),
)
