"""Measured constants of llama.cpp in place of fitted ones: samples take their timed seconds."""

from dataclasses import fields, replace

import numpy as np
import pytest

from advisor.catalog.constants import Constants, Scope
from advisor.cost_model.estimate import estimate
from advisor.cost_model.loads import Load
from advisor.cost_model.measured_constants import attending, constants_on, mixed
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.processors import cores_alone, cpu_seconds, smooth_max
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import EngineSpeed, Host
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.probes.host import HostFacts
from advisor.probes.llama_cpp.samples import samples
from advisor.runtimes import LLAMA_CPP
from advisor.units import GIB, Provenance, Quantity

RAM = 40e9


def timed(value: float) -> Quantity:
    return Quantity(
        value=value, kind=Provenance.MEASURED, source="timed in this test", date="2026-11-21"
    )


ENGINE = EngineSpeed(
    cores=4,
    ram=RAM,
    read={"Q4_K": timed(24e9), "Q6_K": timed(20e9), "Q8_0": timed(30e9), "F16": timed(38e9)},
    plain={"Q4_K": timed(18e9)},
    prompt={"Q4_K": timed(200e9), "Q6_K": timed(100e9)},
    layer=timed(200e-6),
    expert_layer=timed(50e-6),
    attention={"128_4": timed(40e9), "128_1": timed(20e9), "64_8": timed(10e9)},
)


def host(engine: EngineSpeed | None = ENGINE, **changes: object) -> Host:
    inputs = MachineSpec(gpu="none", cpu="Ryzen 7 5800X", cores=4, ram_gbs=RAM / 1e9)
    return replace(machine(inputs).host, engine=engine, **changes)


def bound(model: Model, runtime: str = "llama.cpp", build: str = "") -> Constants:
    scope = Scope(runtime=runtime, decode_class=model.decode_class, backend="cpu", build=build)
    return Constants.fitted().bound(scope)


def load(**amounts: float) -> Load:
    zeros = dict.fromkeys((field.name for field in fields(Load)), 0.0)
    return Load(**{**zeros, "tokens": 1.0, **amounts})


def seconds(model: Model, where: Host, *, repacked: bool = True, **amounts: float) -> float:
    constants = constants_on(where, model, bound(model))
    return float(cpu_seconds(load(**amounts), where, constants, repacked=repacked).total)


@pytest.mark.parametrize("kind", ["Q8_0", "F16", "Q6_K"])
def test_bytes_take_as_long_as_they_were_timed(kind: str) -> None:
    model = catalog.model("Llama-3.1-8B", kind)
    rate = float(ENGINE.read[kind].value)
    assert seconds(model, host(), weights=rate) == pytest.approx(1.0, rel=0.001)


def test_timed_cores_are_not_scaled_by_the_clock_of_their_model() -> None:
    model = catalog.model("Llama-3.1-8B", "Q6_K")
    amounts = {"weights": 20e9, "flops": 4e12, "tokens": 128.0}
    usual, fast = (seconds(model, host(clock=clock), **amounts) for clock in (1.0, 1.5))
    assert fast == pytest.approx(usual)


def test_a_mixture_takes_as_long_as_its_parts() -> None:
    # Q4_K_M: with a of its bytes in Q4_K and b in Q6_K, a second reads 1 / (a / 24 + b / 20) GB.
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    a = model.stored["Q4_K"]
    b = model.stored["Q6_K"]
    assert a > 0.6
    assert a + b == pytest.approx(1.0, abs=0.001)
    rate = (a + b) / (a / 24e9 + b / 20e9)
    assert seconds(model, host(), weights=rate) == pytest.approx(1.0, rel=0.001)


def test_a_format_that_was_timed_itself_counts_before_its_types() -> None:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    own = replace(ENGINE, read={**ENGINE.read, "Q4_K_M": timed(27e9)})
    assert mixed(own.read, model) == timed(27e9)
    assert seconds(model, host(own), weights=27e9) == pytest.approx(1.0, rel=0.001)


def test_untimed_constants_stay_fitted() -> None:
    model = catalog.model("Llama-3.1-8B", "IQ2_XS")
    table = bound(model)
    assert mixed(ENGINE.read, model) is None
    assert constants_on(host(), model, table) is table
    assert constants_on(host(None), model, table) is table


@pytest.mark.parametrize(("runtime", "build"), [("vllm", ""), ("llama.cpp", "ik")])
def test_it_holds_for_the_engine_that_was_timed(runtime: str, build: str) -> None:
    model = catalog.model("Llama-3.1-8B", "Q8_0")
    table = bound(model, runtime, build)
    assert constants_on(host(), model, table) is table
    for inside in ("ollama", "lm-studio"):
        inner = bound(model, inside)
        assert constants_on(host(), model, inner) is not inner


def test_layers_and_experts_take_their_timed_costs() -> None:
    model = catalog.model("Llama-3.1-8B", "Q8_0")
    assert seconds(model, host(), layers=10.0) == pytest.approx(10 * 200e-6)
    assert seconds(model, host(), expert_layers=10.0) == pytest.approx(10 * 50e-6)


def test_weights_in_the_files_layout_are_read_as_slowly_as_they_were_timed() -> None:
    # Q6_K, which was not timed so, is not put in another order and reads as fast either way.
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    a = model.stored["Q4_K"]
    b = model.stored["Q6_K"]
    rate = (a + b) / (a / 18e9 + b / 20e9)
    assert seconds(model, host(), repacked=False, weights=rate) == pytest.approx(1.0, rel=0.001)


@pytest.mark.parametrize(
    ("model", "rate"),
    [
        # 128 values: 1 / C = a + b / g with 1 / 40 at g = 4 and 1 / 20 at g = 1; 1 / 30 at g = 2.
        ("Llama-3.1-8B", 40e9), ("Llama-2-7B", 20e9), ("Qwen3-1.7B", 30e9),
        # 64 values, timed with eight heads to a key only.
        ("Llama-3.2-1B", 10e9),
        # Seven heads to a key are timed as four.
        ("Qwen2.5-7B", 40e9),
    ],
)  # fmt: skip
def test_attention_depends_on_heads(model: str, rate: float) -> None:
    quantity = attending(ENGINE.attention, catalog.model(model, "Q8_0"))
    assert quantity is not None
    assert quantity.value == pytest.approx(rate, rel=1e-6)
    took = seconds(catalog.model(model, "Q8_0"), host(), attention_flops=rate)
    assert took == pytest.approx(1.0, rel=1e-6)


def test_names_that_no_probe_writes_count_for_nothing() -> None:
    model = catalog.model("Llama-3.1-8B", "Q8_0")
    odd = {"": timed(1e9), "128": timed(1e9), "0_0": timed(1e9), "x_4": timed(1e9)}
    assert attending(odd, model) is None
    assert attending({**odd, "128_4": timed(40e9)}, model) == timed(40e9)


def test_prompts_are_computed_as_fast_as_they_were_timed() -> None:
    model = catalog.model("Llama-3.1-8B", "Q6_K")
    # Unpacking is a small part of it: 0.82 bytes of a weight to 256 operations. RAM bends it less.
    weights = 100e9 * model.file_bytes / model.architecture.params / (2 * 128)
    took = seconds(model, host(), flops=100e9, tokens=128.0, weights=weights)
    assert took == pytest.approx(1.0, rel=0.001)


def test_faster_ram_is_faster_and_more_cores_are_too() -> None:
    model = catalog.model("Llama-3.1-8B", "F16")
    here = seconds(model, host(), weights=1e9)
    assert seconds(model, host(bandwidth=timed(2 * RAM)), weights=1e9) < here
    assert seconds(model, host(cores=8), weights=1e9) < here


def test_reading_faster_than_ram_was_taken_to_be_is_believed() -> None:
    model = catalog.model("Llama-3.1-8B", "F16")
    slow_ram = replace(ENGINE, ram=20e9)
    where = host(slow_ram, bandwidth=timed(20e9))
    assert seconds(model, where, weights=38e9) == pytest.approx(1.0, rel=0.001)


def test_cores_alone_inverts_the_combined_rate() -> None:
    cores = np.array([5e9, 20e9, 39e9, 100e9])
    assert np.allclose(cores_alone(1.0 / smooth_max(1.0 / 40e9, 1.0 / cores), 40e9), cores)


def test_the_range_is_narrower_where_llama_cpp_was_timed() -> None:
    model = catalog.model("Llama-3.1-8B", "Q8_0")
    here = machine(MachineSpec(gpu="none", cpu="Ryzen 7 5800X", cores=4, ram_gbs=40, ram_gb=64))

    def width(engine: EngineSpeed | None) -> float:
        where = replace(here, host=replace(here.host, engine=engine))
        answer = estimate(
            model, where, Workload(), LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD, Constants.fitted()
        )
        assert answer.decode is not None
        return float(answer.decode.high / answer.decode.low)

    assert width(ENGINE) < width(None)


def test_assumptions_name_the_timed_constants() -> None:
    model = catalog.model("Llama-3.1-8B", "Q8_0")
    here = machine(MachineSpec(gpu="none", cpu="Ryzen 7 5800X", ram_gb=64))
    where = replace(here, host=replace(here.host, engine=ENGINE))
    answer = estimate(
        model, where, Workload(), LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD, Constants.fitted()
    )
    kinds = {each.what: each.figure.kind for each in answer.assumptions}
    assert kinds["weight bytes that one core decodes"] is Provenance.MEASURED
    assert (
        kinds["further cost of a layer on the CPU for each core that takes part"]
        is Provenance.MEASURED
    )


def test_samples_come_out_as_they_were_timed() -> None:
    facts = HostFacts(
        name="",
        cores=4,
        sockets=1,
        instruction_sets=frozenset(),
        memory_total=int(64 * GIB),
        memory_available=int(60 * GIB),
        llc=32 * 2**20,
        os="",
        notes=(),
    )
    here = machine(MachineSpec(gpu="none", cpu="Ryzen 7 5800X", cores=4, ram_gbs=40, ram_gb=64))
    where = replace(here, host=replace(here.host, engine=ENGINE))
    for sample in samples(facts):
        if sample.role not in ("wide", "narrow") or sample.kind not in ENGINE.read:
            continue
        work = Workload(prompt=16, output=1, context=64)
        answer = estimate(
            sample.model, where, work, LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD, Constants.fitted()
        )
        read = sample.model.read_bytes_per_token / float(ENGINE.read[sample.kind].value)
        layers = sample.model.layers * 200e-6
        # Attention to 16 tokens and the cost of a token are the rest.
        assert answer.step is not None
        assert read + layers < float(answer.step.total) < 1.05 * (read + layers) + 0.5e-3
