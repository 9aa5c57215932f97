"""Properties of serving engines on any card: bytes, better cards, defaults."""

from functools import cache
from itertools import permutations

import pytest

from advisor.advice.advise import advise
from advisor.advice.table.option import OptionKind
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.catalog import GPUS
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog, resolve
from advisor.runtimes import SGLANG, TENSORRT_LLM, VLLM
from advisor.runtimes.compare import as_run, decode_tps

ENGINES = (VLLM, SGLANG, TENSORRT_LLM)
CARDS = {
    name: row
    for name, row in GPUS.rows().items()
    if row.vendor == "NVIDIA" and not row.unified and "Laptop" not in name
}
MODELS = ("Llama-3.1-8B", "Qwen3-30B-A3B")
USERS = (1, 32)
FORMATS = ("BF16-hf", "FP8", "NVFP4")
"""From most bytes to fewest; engines that lack kernels of a format are not asked for it."""


@cache
def with_room(card: str) -> Machine:
    """A machine whose card holds any of the models: memory is no part of the comparison."""
    return machine(MachineSpec(gpu=card, vram_gb=400, ram_gb=512))


@cache
def speed(name: str, form: str, card: str, engine: Runtime, users: int) -> float | None:
    """Tokens a second for each user; None where the engine does not run the format as it is."""
    where = with_room(card)
    try:
        model = as_run(catalog.model(name, form), engine, where)
    except Refusal:
        return None
    if model.format != form:
        return None
    work = Workload(users=users, context=2048)
    return decode_tps(
        estimate(model, where, work, engine, PlacementStrategy.GPU_RESIDENT, Constants.fitted())
    )


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.key)
def test_more_bytes_are_never_faster(engine: Runtime) -> None:
    compared = 0
    for card in list(CARDS)[:: 2 if engine is VLLM else 5]:
        for name in MODELS:
            for users in USERS:
                numbers = [speed(name, form, card, engine, users) for form in FORMATS]
                known = [tps for tps in numbers if tps is not None]
                assert known == sorted(known), (card, name, users, known)
                compared += len(known) > 1
    assert compared > 20


def test_a_card_that_is_no_worse_is_never_slower() -> None:
    compared = 0
    for better, worse in permutations(CARDS, 2):
        if not no_worse(better, worse):
            continue
        for name in MODELS:
            for form in FORMATS:
                fast, slow = (speed(name, form, card, VLLM, 32) for card in (better, worse))
                if slow is not None and fast is not None:
                    assert fast >= 0.999 * slow, (better, worse, name, form, fast, slow)
                    compared += 1
    assert compared > 1000


def no_worse(better: str, worse: str) -> bool:
    """Every figure of a card's datasheet that another has, it has no less of."""
    mine = with_room(better).gpus[0]
    other = with_room(worse).gpus[0]
    pairs = [
        (mine.bandwidth.value, other.bandwidth.value),
        *((mine.tensor_flops.get(kind, 0.0), peak) for kind, peak in other.tensor_flops.items()),
    ]
    return all(own >= theirs for own, theirs in pairs)


def test_a_machine_is_worth_the_same_from_every_starting_point() -> None:
    model = resolve.find("Llama-3.3-70B", "Q4_K_M").model
    worth = []
    for gpu, count in (("RTX 4060", 1), ("RTX 3090", 2)):  # llama.cpp, vLLM
        start = machine(MachineSpec(gpu=gpu, gpu_count=count, ram_gb=64))
        options = advise(model, start, Workload()).options
        worth.append(
            {
                (option.kind, option.name): (option.speed.decode, option.speed.runtime)
                for option in options
                if option.kind in (OptionKind.RENT, OptionKind.MACHINE, OptionKind.REPLACE)
                and option.speed
            }
        )
    shared = worth[0].keys() & worth[1].keys()
    assert len(shared) > 20
    assert {name: worth[0][name] for name in shared} == {name: worth[1][name] for name in shared}
