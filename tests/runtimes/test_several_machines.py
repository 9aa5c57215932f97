"""Published speeds of several machines by cable, none of which is fitted."""

import math
from statistics import median

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, MLX, VLLM
from advisor.runtimes.compare import as_run

GEERLING = "Jeff Geerling, December 2025, as snackonai.com quotes him (2026-04-19)"
GLM = "https://github.com/exo-explore/exo/issues/1468"
SPARKS = "https://github.com/unslothai/unsloth/pull/10280"
PUBLISHED = (
    # runtime, model, format, chip, machines, tokens/s, source
    (MLX, "GLM-5", "Q8_0", "M3 Ultra 512GB", 2, 18.3, GLM),
    (MLX, "GLM-5", "Q8_0", "M3 Ultra 512GB", 4, 23.7, GLM),
    (MLX, "Qwen3-235B-A22B", "Q8_0", "M3 Ultra 512GB", 4, 31.9, GEERLING),
    (MLX, "DeepSeek-V3.1", "Q8_0", "M3 Ultra 512GB", 4, 32.5, GEERLING),
    (MLX, "Kimi-K2-Thinking", "Q4_0", "M3 Ultra 512GB", 4, 28.3, GEERLING),
    (LLAMA_CPP, "Qwen3-235B-A22B", "Q4_K_M", "GB10", 2, 12.98,
     "https://github.com/ggml-org/llama.cpp/pull/15405, before graphs were reused"),
    (VLLM, "Qwen3-32B", "BF16", "GB10", 2, 1000 / 162.4, SPARKS),
    (VLLM, "Qwen3-32B", "BF16", "GB10", 1, 1000 / 332.7, SPARKS),
)  # fmt: skip


def test_published_speeds_of_several_machines_are_met() -> None:
    errors = {}
    for runtime, name, form, chip, count, measured, source in PUBLISHED:
        where = machine(MachineSpec(gpu=chip, machines=count))
        model = as_run(catalog.model(name, form), runtime, where)
        answer = estimate(
            model,
            where,
            Workload(prompt=64),
            runtime,
            PlacementStrategy.GPU_RESIDENT,
            Constants.fitted(),
        )
        assert answer.decode is not None, (name, count, answer.refusal)
        errors[name, count, source] = math.log(float(answer.decode.value) / measured)
    assert median(map(abs, errors.values())) < math.log(1.2), errors
    assert max(map(abs, errors.values())) < math.log(1.6), errors
