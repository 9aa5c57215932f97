"""Ask aiconfigurator again for the settings of data/measurements/simulated_engines.csv.

The package carries measured times of kernels (matrix products, experts, attention, all-reduce) of
NVIDIA's data-centre GPUs and Intel's B60 in three engines, and adds them up on any processor. Each
row of the file is one question; this prints the rows with today's answers. Run it with a Python
that has requirements-oracles.txt; a number of rows limits it to a sample:

    python benchmarks/simulated_engines.py 50

Products in FP8 by blocks are asked of SGLang alone: in version 0.12.0 each takes 50 us (H100) to
240 us (B200) in vLLM whatever its size, which is the start of a kernel from Python.
"""

import csv
import logging
import random
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml
from aiconfigurator.cli.api import cli_estimate  # type: ignore[import-not-found]  # a requirement of this file alone

GRID = Path(__file__).parent.parent / "data" / "measurements" / "simulated_engines.csv"
SYSTEMS = {
    "A100 SXM 80GB": "a100_sxm", "H100 SXM": "h100_sxm", "H200 SXM": "h200_sxm", "B200": "b200_sxm",
    "B300": "b300_sxm", "GB200": "gb200", "L40S": "l40s", "Arc Pro B60": "b60",
    "RTX PRO 6000 Blackwell Server": "rtx_pro_6000_server",
}  # fmt: skip
ENGINES = {"vLLM": "vllm", "SGLang": "sglang", "TensorRT-LLM": "trtllm"}
OWNERS = {
    "Qwen": "Qwen", "Meta-Llama": "meta-llama", "Llama-4": "meta-llama", "gpt-oss": "openai",
    "gemma": "google", "NVIDIA": "nvidia", "MiniMax": "MiniMaxAI", "DeepSeek": "deepseek-ai",
    "GLM": "zai-org", "Mixtral": "mistralai",
}  # fmt: skip
"""Organizations on Hugging Face by how the names of their models begin."""
DENSE = ("Qwen3-0.6B", "Qwen3-8B", "Qwen3-32B", "Qwen3.5-27B", "Meta-Llama")
MODES = {
    "BF16": ("bfloat16", "bfloat16"), "FP8": ("fp8", "fp8"), "NVFP4": ("nvfp4", "nvfp4"),
    "MXFP4": ("bfloat16", "w4a16_mxfp4"), "FP8 blocks": ("fp8_block", "fp8_block"),
    "INT4 experts": ("bfloat16", "int4_wo"),
}  # fmt: skip
"""The simulator's names for dense products and for experts, by ours for a format."""


def answer(row: Mapping[str, str]) -> Mapping[str, str]:
    """A row with the simulator's answer to its question."""
    name = row["model"]
    gpus = int(row["gpu_count"])
    owner = next(owner for start, owner in OWNERS.items() if name.startswith(start))
    dense, experts = MODES[row["quant"]]
    whole = int(row["ep"])
    more = {"moe_quant_mode": experts, "moe_tp_size": gpus // whole, "moe_ep_size": whole}
    engine = row["runtime"].split()[0]
    answer = cli_estimate(
        f"{owner}/{name}",
        SYSTEMS[row["gpu"]],
        mode="static",
        backend_name=ENGINES[engine],
        isl=int(row["prompt_len"]),
        osl=int(row["gen_len"]),
        batch_size=int(row["batch"]),
        tp_size=gpus,
        stride=64,
        gemm_quant_mode=dense,
        **({} if name.startswith(DENSE) else more),
    )
    return {
        **row,
        "runtime": f"{engine} {answer.backend_version}",
        "ttft_s": f"{answer.ttft / 1e3:.5g}",
        "seconds_per_token": f"{answer.tpot / 1e3:.5g}",
    }


def main() -> int:
    """Print rows with their answers; returns the exit code."""
    logging.disable(logging.CRITICAL)
    load = cache(yaml.safe_load)  # it reads the same 164 files anew for every answer
    yaml.safe_load = lambda file: load(  # type: ignore[assignment]
        file.read() if hasattr(file, "read") else file
    )
    with GRID.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if len(sys.argv) > 1:
        rows = random.Random(0).sample(rows, int(sys.argv[1]))
    out = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    out.writeheader()
    for row in rows:
        out.writerow(answer(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
