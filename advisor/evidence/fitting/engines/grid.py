"""Cases of data/measurements/simulated_engines.csv, the answers of a simulator.

Rows with expert parallelism (`ep`) are not used: no constant is fitted to them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.evidence.fitting.engines.cases import (
    SIMULATED,
    EngineCase,
    computed_only,
    run_traits,
)
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import SGLANG, VLLM, Runtime
from advisor.runtimes.tensorrt_llm import TENSORRT_LLM

GRID = DATA / "measurements" / "simulated_engines.csv"
FORMATS = {
    "BF16": "BF16-hf", "MXFP4": "MXFP4-hf", "FP8 blocks": "FP8", "INT4 experts": "MXFP4-hf",
}  # fmt: skip
"""Formats of the catalogue by the simulator's names, where they differ. The catalogue has no format
with 4-bit integers in the experts alone; MXFP4 has the same bytes within 2 %."""
INTEGERS = {"INT4 experts": "GPTQ"}
"""Formats with the kernels of a simulated format, where `FORMATS` gives only its bytes."""
ENGINES: Mapping[str, Runtime] = {
    "vLLM": VLLM, "SGLang": SGLANG, "TensorRT-LLM": TENSORRT_LLM,
}  # fmt: skip
RAM_GB = 2048.0


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedRow:
    """One row of data/measurements/simulated_engines.csv; its README describes the columns."""

    id: str
    runtime: str
    gpu: str
    gpu_count: int
    ep: int
    model: str
    quant: str
    prompt_len: float
    gen_len: float
    batch: float
    ttft_s: float
    seconds_per_token: float


@cache
def simulated_rows() -> tuple[SimulatedRow, ...]:
    """All rows, in the order of the file."""
    return read(GRID, SimulatedRow)


def simulated() -> Iterator[EngineCase]:
    """Cases of all rows: one for the prompt, one for a token."""
    for row in simulated_rows():
        if row.ep == 1:
            yield from _cases(row)


def _cases(row: SimulatedRow) -> Iterator[EngineCase]:
    runtime = ENGINES[row.runtime.split()[0]]
    where = _machine(row.gpu, row.gpu_count)
    model = _model(row.model, row.quant)
    context = row.prompt_len + row.gen_len
    work = Workload(prompt=row.prompt_len, output=row.gen_len, context=context, users=row.batch)
    placement = runtime.place(model, where, work, PlacementStrategy.GPU_RESIDENT, Settings())
    phases = runtime.schedule(model, placement, where, work)
    times = ((1.0, "ttft_s", row.ttft_s), (0.0, "seconds_per_token", row.seconds_per_token))
    for part, column, seconds in times:
        yield EngineCase(
            id=f"{row.id} {column}",
            group=f"{row.model} {row.gpu}",
            evidence=SIMULATED,
            engine=runtime.key,
            release="",
            machine=where,
            phases=computed_only(phases),
            prompts=part,
            steps=1.0 - part,
            seconds=seconds,
            tokens=1.0 if part else row.batch,
            publisher=SIMULATED,
            traits=run_traits(model, where, work, prompt=bool(part)),
        )


@lru_cache(maxsize=256)
def _machine(gpu: str, count: int) -> Machine:
    return machine(MachineSpec(gpu=gpu, gpu_count=count, ram_gb=RAM_GB))


@lru_cache(maxsize=256)
def _model(name: str, form: str) -> Model:
    model = catalog.model(name, FORMATS.get(form, form))
    return replace(model, format=INTEGERS.get(form, model.format))
