"""Experts divided among the GPUs of a group, each whole on one of them."""

import numpy as np
import pytest

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, SGLANG, TENSORRT_LLM, VLLM
from advisor.runtimes.compare import as_run, settings_for
from advisor.runtimes.parallelism import Parallel, busiest_gpu, check_divides_experts
from lab.engines import ENGINES, FORMATS, simulated_rows

RESIDENT = PlacementStrategy.GPU_RESIDENT
DIVIDED = Settings(expert_parallel=True)


def run(
    how: Runtime,
    model: str = "Qwen3-30B-A3B",
    gpu: str = "H100 SXM",
    count: int = 4,
    settings: Settings = DIVIDED,
    form: str = "BF16-hf",
    work: Workload | None = None,
) -> Estimate:
    where = machine(MachineSpec(gpu=gpu, gpu_count=count, ram_gb=512))
    described = as_run(catalog.model(model, form), how, where)
    return estimate(
        described, where, work or Workload(), how, RESIDENT, Constants.fitted(), settings
    )


def test_one_token_reads_more_of_the_busiest_gpu_than_of_the_others():
    # Qwen3-30B-A3B: 8 of 128 experts. One token on 4 GPUs: m = 8/128 * 128/4 = 2 experts each,
    # z = quantile((4 - 3/8) / (4 + 1/4)) = quantile(0.853) = 1.049;
    # (2 + 1.049 sqrt(2 * (1 - 1/16))) / 2 = 1.718; tokens 1 + 1.049 sqrt((3/4) / 2) = 1.642.
    model = catalog.model("Qwen3-30B-A3B", "BF16-hf")
    read, computed = busiest_gpu(model, 4, 1.0)
    assert float(read) == pytest.approx(1.718, abs=0.002)
    assert float(computed) == pytest.approx(1.642, abs=0.002)


def test_with_many_tokens_every_gpu_reads_all_its_experts():
    model = catalog.model("Qwen3-30B-A3B", "BF16-hf")
    read, computed = busiest_gpu(model, 4, np.array([1e4, 1e6]))
    assert np.allclose(read, 1.0, atol=5e-3)
    assert 1.0 < float(computed[1]) < float(computed[0]) < 1.03


@pytest.mark.parametrize("tokens", [1, 3, 17, 256, 5000])
@pytest.mark.parametrize("tensor", [2, 4, 8])
def test_no_gpu_reads_experts_that_it_does_not_hold(tokens: int, tensor: int):
    model = catalog.model("Mixtral-8x7B", "BF16-hf")
    read, computed = busiest_gpu(model, tensor, float(tokens))
    held = 1.0 / float(model.expert_share(float(tokens)))
    assert 1.0 <= float(read) <= held + 1e-9
    assert 1.0 <= float(computed) <= tensor


def test_memory_is_that_of_divided_experts():
    whole = run(VLLM, settings=Settings())
    divided = run(VLLM)
    assert whole.placement is not None
    assert divided.placement is not None
    for device in range(4):
        assert float(whole.placement.weight_bytes(whole.model, Location.vram(device))) == float(
            divided.placement.weight_bytes(divided.model, Location.vram(device))
        )


@pytest.mark.parametrize(
    ("how", "option"),
    [(VLLM, "--enable-expert-parallel"), (SGLANG, "--ep-size 4"), (TENSORRT_LLM, "--ep_size 4")],
)
def test_commands_say_it(how: Runtime, option: str):
    assert option in run(how).command
    assert option.split()[0] not in run(how, settings=Settings()).command


def test_what_has_nothing_to_divide_is_refused():
    with pytest.raises(Refusal, match=r"Llama-3\.1-8B has no experts to divide; leave out"):
        check_divides_experts(
            catalog.model("Llama-3.1-8B", "BF16-hf"), Parallel(tensor=2, pipeline=1)
        )
    assert "add a GPU" in run(VLLM, count=1).refusal


def test_other_runtimes_are_not_told():
    assert settings_for(VLLM, DIVIDED).expert_parallel
    assert settings_for(LLAMA_CPP, DIVIDED) == DIVIDED


def test_simulated_groups_with_whole_experts_are_met():
    """No constant is fitted to these rows; the simulator knows no cost of a step as a whole, and
    draws experts less evenly than users do here: its tokens are a fifth quicker at the median."""
    rows = [row for row in simulated_rows() if row.cells["ep"] != "1"][::9]
    off = []
    for row in rows:
        prompt = row.prompt_len
        output = row.gen_len
        work = Workload(prompt=prompt, output=output, context=prompt + output, users=row.batch)
        answer = run(
            ENGINES[row.runtime.split()[0]],
            row.model,
            row.gpu,
            row.gpu_count,
            form=FORMATS.get(row.quant, row.quant),
            work=work,
        )
        assert answer.decode is not None
        assert answer.first_token is not None
        times = 1.0 / float(answer.decode.value), float(answer.first_token.value)
        off.append(np.log(np.divide(times, [row.seconds_per_token, float(row.cells["ttft_s"])])))
    token, first = np.exp(np.median(np.abs(off), axis=0))
    assert len(rows) > 40
    assert token < 1.32
    assert first < 1.3
