"""Cases of data/measurements/simulated_engines.csv: the answers of a simulator, row by row.

Rows with expert parallel (`ep`) are kept aside: no constant is fitted to them.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.evidence.fitting.engines.cases import GRID, SIMULATED, EngineCase, computed_only
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import SGLANG, VLLM, Runtime
from advisor.runtimes.tensorrt_llm import TENSORRT_LLM

FORMATS = {
    "BF16": "BF16-hf", "MXFP4": "MXFP4-hf", "FP8 blocks": "FP8", "INT4 experts": "MXFP4-hf",
}  # fmt: skip
"""Formats of the catalogue by the grid's names, where they differ. Of 4-bit integers in the experts
alone the catalogue has none: MXFP4's layout is theirs within 2 % of the bytes."""
INTEGERS = {"INT4 experts": "GPTQ"}
"""Format whose kernels compute a layout of `FORMATS`, where they are not those of the layout."""
ENGINES: Mapping[str, Runtime] = {
    "vLLM": VLLM, "SGLang": SGLANG, "TensorRT-LLM": TENSORRT_LLM,
}  # fmt: skip
RAM_GB = 2048.0


def simulated() -> Iterator[EngineCase]:
    """A case for the prompt and one for a token of each row."""
    with GRID.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["ep"] == "1":
                yield from _cases(row)


def _cases(row: Mapping[str, str]) -> Iterator[EngineCase]:
    runtime = ENGINES[row["runtime"].split()[0]]
    where = _machine(row["gpu"], int(row["gpu_count"]))
    model = _model(row["model"], row["quant"])
    prompt, output = float(row["prompt_len"]), float(row["gen_len"])
    work = Workload(
        prompt=prompt, output=output, context=prompt + output, users=float(row["batch"])
    )
    placement = runtime.place(model, where, work, PlacementStrategy.GPU_RESIDENT, Settings())
    phases = runtime.schedule(model, placement, where, work)
    for part, column in ((1.0, "ttft_s"), (0.0, "seconds_per_token")):
        yield EngineCase(
            id=f"{row['id']} {column}",
            group=f"{row['model']} {row['gpu']}",
            evidence=SIMULATED,
            engine=runtime.key,
            release="",
            machine=where,
            phases=computed_only(phases),
            prompts=part,
            steps=1.0 - part,
            seconds=float(row[column]),
            tokens=1.0 if part else float(row["batch"]),
        )


@lru_cache(maxsize=256)
def _machine(gpu: str, count: int) -> Machine:
    return machine(MachineSpec(gpu=gpu, gpu_count=count, ram_gb=RAM_GB))


@lru_cache(maxsize=256)
def _model(name: str, form: str) -> Model:
    model = catalog.model(name, FORMATS.get(form, form))
    return replace(model, format=INTEGERS.get(form, model.format))
