"""llama.cpp itself, on the CPU: the sizes that it logs for a model file."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from advisor.units import MIB

needs_engine = pytest.mark.skipif(
    find_spec("xllamacpp") is None or sys.platform != "linux",
    reason="xllamacpp, llama.cpp for the CPU, is not installed (requirements-dev.txt; Linux only)",
)

LOAD = """
import ctypes, json, os, sys
import xllamacpp as engine
from xllamacpp import xllamacpp as native

asked = json.loads(sys.argv[2])
params = engine.CommonParams()
params.model.path = sys.argv[1]
params.verbosity = 4
params.warmup = params.fit_params = False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # several wait in a loop
kv_type = getattr(engine.ggml_type, "GGML_TYPE_" + asked.pop("kv_type", "f16").upper())
params.cache_type_k = params.cache_type_v = kv_type
if not asked.pop("flash_attention", True):
    params.flash_attn_type = engine.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
for name, value in asked.items():
    setattr(params, name, value)
server = engine.Server(params)
library = ctypes.CDLL(native.__file__)
library._Z15common_log_mainv.restype = ctypes.c_void_p
log = ctypes.c_void_p(library._Z15common_log_mainv())
library._Z16common_log_pauseP10common_log(log)  # a thread of its own writes the log: wait for it
os._exit(0)  # taking the server down while it starts to listen can hang
"""

BUFFER = re.compile(
    r"(load_tensors|llama_kv_cache|llama_memory_recurrent|sched_reserve|llama_context): +"
    r"(\w+) +(?:(?:model|KV|RS|compute|output) )?buffer size = +([\d.]+) MiB"
)


@dataclass(frozen=True, kw_only=True)
class Allocated:
    """Sizes from the engine's log, which rounds to 0.01 MiB [B].

    Attributes:
        mapped: weights in the mapped file, or read where nothing is mapped.
        repacked: weights copied into an order that suits the processor.
        cache: keys, values and recurrent states.
        compute: the compute buffer.
        output: logits for the sampler.
    """

    mapped: float
    repacked: float
    cache: float
    compute: float
    output: float


def load(path: Path, **options: object) -> Allocated:
    """Start a server on a model file and read its log.

    Args:
        path: path of the GGUF file.
        options: `kv_type`, `flash_attention`, and fields of llama.cpp's `common_params`.
    """
    done = _run(LOAD, str(path), json.dumps({"n_parallel": 1, **options}))
    items = [
        (stage, place, float(size) * MIB) for stage, place, size in BUFFER.findall(done.stderr)
    ]
    assert done.returncode == 0, done.stderr[-2000:]
    assert items, done.stderr[-2000:]

    def total(*stages: str, repacked: bool = False) -> float:
        return sum(
            size
            for stage, place, size in items
            if stage in stages and (place == "CPU_REPACK") is repacked
        )

    return Allocated(
        mapped=total("load_tensors"),
        repacked=total("load_tensors", repacked=True),
        cache=total("llama_kv_cache", "llama_memory_recurrent"),
        compute=total("sched_reserve"),
        output=total("llama_context"),
    )


SERVER = """
import ctypes, json, os, sys
import xllamacpp as engine
from xllamacpp import xllamacpp as native

symbol = "_Z19common_params_parseiPPcR13common_params13llama_examplePFviS0_E"
parse = ctypes.CDLL(native.__file__)[symbol]
parse.restype = ctypes.c_bool
params = engine.CommonParams()
own = id(params) + 2 * ctypes.sizeof(ctypes.c_void_p)  # the struct lies behind the object's header
sizes = (ctypes.c_int32 * 4).from_address(own)
assert list(sizes) == [params.n_predict, params.n_ctx, params.n_batch, params.n_ubatch]
words = [word.encode() for word in ["llama-server", *sys.argv[1:]]]
values = (ctypes.c_char_p * (len(words) + 1))(*words, None)
LLAMA_EXAMPLE_SERVER = 12
if not parse(len(words), values, ctypes.c_void_p(own), LLAMA_EXAMPLE_SERVER, None):
    sys.exit("refused")
kept = ("n_ctx", "n_parallel", "n_batch", "n_ubatch", "n_gpu_layers", "no_kv_offload", "swa_full",
        "no_extra_bufts", "fit_params", "tensor_buft_overrides", "moe_cache_size")
understood = {name: getattr(params, name) for name in kept}
understood["load_mode"] = params.load_mode.name.removeprefix("LLAMA_LOAD_MODE_").lower()
understood["cache"] = [kind.name for kind in (params.cache_type_k, params.cache_type_v)]
understood["tensor_split"] = [share for share in params.tensor_split if share]
params.warmup = False
params.moe_cache_size = 0  # it takes a GPU
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # several wait in a loop
server = engine.Server(params)
print("\\nunderstood " + json.dumps(understood), flush=True)
os._exit(0)  # taking the server down while it starts to listen can hang
"""
"""llama-server's own parser of its command line, then its loading of the model."""


def understood(arguments: Sequence[str]) -> dict[str, Any]:
    """llama-server's reading of its arguments, after it has loaded the model."""
    done = _run(SERVER, *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    match = re.search(r"^understood (.*)$", done.stdout, re.MULTILINE)
    assert match, done.stdout[-2000:]
    answer: dict[str, Any] = json.loads(match[1])
    return answer


def options() -> frozenset[str]:
    """All options in llama-server's `--help`."""
    done = _run(SERVER, "--help")
    listed = re.findall(r"^-.{,39}", done.stdout, re.MULTILINE)  # explained from column 40 on
    return frozenset(re.findall(r"(?<![\w-])--?[a-z][\w-]*", " ".join(listed)))


def _run(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},
    )
