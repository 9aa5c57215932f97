"""Attention data parallel: each GPU has users of its own, and the experts are divided."""

import re

import numpy as np
import pytest

from advisor.advice.arrivals.server import server
from advisor.catalog.constants import Constants
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.evidence.published.reading import understood
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.runtimes import LLAMA_CPP, SGLANG, TENSORRT_LLM, VLLM
from advisor.runtimes.compare import as_run, settings_for
from advisor.runtimes.parallelism import Parallel, exchanges, share_of_users
from lab.published import published_rows

BY_USER = Settings(attention_by_user=True)
RESIDENT = PlacementStrategy.GPU_RESIDENT


def run(
    how: Runtime = SGLANG,
    settings: Settings | None = BY_USER,
    work: Workload | None = None,
    name: str = "DeepSeek-V3",
    strategy: PlacementStrategy = RESIDENT,
) -> Estimate:
    where = machine(MachineSpec(gpu="H200 SXM", gpu_count=8, ram_gb=2048))
    model = as_run(catalog.model(name, "FP8"), how, where)
    return estimate(model, where, work or Workload(), how, strategy, Constants.fitted(), settings)


def test_users_are_divided_in_whole_numbers() -> None:
    # 10 users on 8 GPUs: two of them have 2; a single user has one GPU; 64 are 8 on each.
    how = Parallel(tensor=8, pipeline=1, by_user=True)
    shares = share_of_users(how, np.array([10.0, 1.0, 64.0]))
    assert shares == pytest.approx([0.2, 1.0, 0.125])
    assert share_of_users(Parallel(tensor=8, pipeline=1), 10.0) == 1.0


def test_each_gpu_holds_all_but_the_experts() -> None:
    answer = run()
    assert answer.placement is not None
    model = answer.model
    experts = float(np.sum(model.bytes_per_layer[Group.ROUTED_EXPERTS]))
    rest = float(np.sum(model.layer_bytes)) - experts
    held = float(answer.placement.weight_bytes(model, Location.vram(5)))
    assert held == pytest.approx(experts / 8 + rest + model.embedding + model.output)
    parted = run(settings=None)
    assert parted.placement is not None
    # DeepSeek-V3: 17 of 671 billion weights are neither experts nor shared among them.
    assert held - float(parted.placement.weight_bytes(model, Location.vram(5))) > 10e9


def test_a_latent_is_kept_once_and_not_on_every_gpu() -> None:
    """Tensor parallel repeats the 576 values of a token and layer on each of eight GPUs."""
    long = Workload(users=4000, prompt=8000, output=500, context=16_384)
    many, few = (run(settings=chosen, work=long) for chosen in (BY_USER, None))
    assert float(many.work.users) > 3.0 * float(few.work.users) > 100
    assert float(np.sum(many.work.users + many.waiting)) == 4000


def test_few_users_are_slower_and_many_faster_together() -> None:
    # SGLang's authors: up to 1.9 times the tokens a second with many users (lmsys.org 2024-12-04).
    def total(users: int, chosen: Settings | None) -> float:
        work = Workload(users=users, prompt=1024, output=1024, context=4096)
        answer = run(settings=chosen, work=work)
        assert answer.decode is not None
        return float(answer.decode.value) * float(answer.work.users)

    assert total(1, BY_USER) < total(1, None)
    assert total(1024, BY_USER) > 1.5 * total(1024, None)


def test_each_layer_of_experts_gathers_and_scatters_once() -> None:
    # 58 layers of experts instead of two sums in each of 61; 7/4 of 7168 values of 2 bytes.
    model = catalog.model("DeepSeek-V3", "FP8")
    where = machine(MachineSpec(gpu="H200 SXM", gpu_count=8, ram_gb=2048))
    (own,) = exchanges(model, where, Parallel(tensor=8, pipeline=1, by_user=True), 1.0)
    (parted,) = exchanges(model, where, Parallel(tensor=8, pipeline=1), 1.0)
    assert (own.times, parted.times) == (58, 122)
    assert own.moved == parted.moved == pytest.approx(7 / 4 * 7168 * 2)


@pytest.mark.parametrize(
    ("how", "parts"),
    [
        (VLLM, ("--data-parallel-size 8 --enable-expert-parallel", "--max-num-seqs 13")),
        (SGLANG, ("--tp-size 8 --ep-size 8 --dp-size 8 --enable-dp-attention",)),
        (TENSORRT_LLM, ("--ep_size 8 --config <(printf 'enable_attention_dp: true\\n')",
                        "--max_batch_size 13")),
    ],
    ids=lambda value: getattr(value, "key", ""),
)  # fmt: skip
def test_commands_ask_for_it(how: Runtime, parts: tuple[str, ...]) -> None:
    command = run(how, work=Workload(users=100)).command
    for part in parts:
        assert part in command
    assert "tensor-parallel" not in command


def test_tensorrt_llm_s_cache_of_8_bits_is_in_its_command() -> None:
    command = run(TENSORRT_LLM, settings=None, work=Workload(kv_type="q8_0")).command
    assert "<(printf 'kv_cache_config: {dtype: fp8, free_gpu_memory_fraction: 0.9}\\n')" in command
    assert "--config" not in run(TENSORRT_LLM, settings=None).command


def test_what_cannot_be_is_refused() -> None:
    dense = run(name="Llama-3.3-70B")
    assert "no experts to divide" in dense.refusal
    assert "--attention-by-user" in dense.refusal
    offloaded = run(strategy=PlacementStrategy.CPU_OFFLOAD)
    assert "nothing lies in RAM" in offloaded.refusal
    assert settings_for(VLLM, BY_USER).attention_by_user
    assert settings_for(LLAMA_CPP, BY_USER) == BY_USER


def test_prompts_of_many_users_are_read_on_all_gpus_under_load() -> None:
    by_user, parted = (server(run(settings=chosen)) for chosen in (BY_USER, None))
    assert by_user is not None
    assert parted is not None
    assert by_user.passes[-1] < 1.5 * parted.passes[-1]
    assert by_user.room > 3 * parted.room


def test_nvidia_s_servers_are_met() -> None:
    """Greatest load of TensorRT-LLM 1.1 and 1.2 with attention data parallel, never fitted.

    As many users as fit, up to 2,048; a reply is a prompt of all and its tokens.
    """
    off = []
    for row in published_rows(DATA / "measurements/frameworks_more.csv"):
        mapping = re.search(r"\bmapping DEP(\d+)(?!,)\b", row.other_metric)
        if not mapping or "maximum-load" not in row.source_note or "," in mapping.string[-8:]:
            continue
        case = understood(row)
        if len(case.machine.gpus) != int(mapping[1]):
            continue
        answer = estimate(
            case.model, case.machine, case.work, case.runtime, RESIDENT, Constants.fitted(), BY_USER
        )
        if answer.decode is None or answer.prompt is None or row.tg_tps_total is None:
            continue
        reply = float(answer.prompt.total) + float(case.work.output) / float(answer.decode.value)
        together = float(answer.work.users) * float(case.work.output) / reply
        off.append(np.log(together / row.tg_tps_total))
    assert len(off) >= 40
    assert float(np.median(np.abs(off))) <= np.log(1.3)
