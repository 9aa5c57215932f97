"""llama.cpp itself, on the CPU: what it says it allocates for a model file."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from advisor.units import MIB

needs_engine = pytest.mark.skipif(
    find_spec("xllamacpp") is None or sys.platform != "linux",
    reason="xllamacpp, llama.cpp for the CPU, is not installed (requirements-dev.txt; Linux only)",
)

LOAD = """
import json, os, sys
import xllamacpp as engine

asked = json.loads(sys.argv[2])
params = engine.CommonParams()
params.model.path = sys.argv[1]
params.verbosity = 4
params.warmup = params.fit_params = False
kv_type = getattr(engine.ggml_type, "GGML_TYPE_" + asked.pop("kv_type", "f16").upper())
params.cache_type_k = params.cache_type_v = kv_type
if not asked.pop("flash_attention", True):
    params.flash_attn_type = engine.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
for name, value in asked.items():
    setattr(params, name, value)
server = engine.Server(params)
sys.stderr.flush()
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
    """Starts a server on a model file and reads its log.

    Args:
        path: of the GGUF file.
        options: `kv_type`, `flash_attention`, and fields of llama.cpp's `common_params`.
    """
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(path), json.dumps({"n_parallel": 1, **options})],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},
    )
    found = [
        (stage, place, float(size) * MIB) for stage, place, size in BUFFER.findall(done.stderr)
    ]
    assert done.returncode == 0, done.stderr[-2000:]
    assert found, done.stderr[-2000:]

    def total(*stages: str, repacked: bool = False) -> float:
        return sum(
            size
            for stage, place, size in found
            if stage in stages and (place == "CPU_REPACK") is repacked
        )

    return Allocated(
        mapped=total("load_tensors"),
        repacked=total("load_tensors", repacked=True),
        cache=total("llama_kv_cache", "llama_memory_recurrent"),
        compute=total("sched_reserve"),
        output=total("llama_context"),
    )
