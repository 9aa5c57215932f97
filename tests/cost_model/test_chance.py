"""Covariance of runs of one machine, worked by hand."""

from dataclasses import replace

import pytest

from advisor.cost_model import known_runs
from advisor.cost_model.known_runs import Component, TimedRun, covariance, noise, variance
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import FixedTime
from advisor.runtimes import runtime

HALF = {Route.RESIDENT: 0.5, FixedTime.LAYERS: 0.5}
ALL = {Route.RESIDENT: 1.0}


def component(part: str, same: str, sd: float, family: str = known_runs.OF_LLAMA_CPP) -> Component:
    """A component of a table."""
    return Component(family=family, part=part, same=same, sd=sd, groups=9, source="by hand")


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small table in place of the fitted one."""
    tables = {
        known_runs.OF_LLAMA_CPP: (
            component("gpu", "", 0.3),
            component("fixed", "phase", 0.4),
            component("", "phase+engine", 0.2),
            component("", "run", 0.1),
        ),
        known_runs.OF_OTHERS: (component("gpu", "", 0.5, known_runs.OF_OTHERS),),
    }
    monkeypatch.setattr(known_runs, "components", tables.__getitem__)


def test_variance_of_a_run() -> None:
    # The GPU takes all of it, half as fixed costs: 0.3^2 + (0.4 / 2)^2 + 0.2^2 + 0.1^2.
    run = TimedRun(shares=HALF, prompt=False)
    assert float(variance(run)) == pytest.approx(0.09 + 0.04 + 0.04 + 0.01)
    assert float(noise(run)) == pytest.approx(0.01)


def test_runs_share_what_they_have_in_common() -> None:
    run = TimedRun(shares=HALF, prompt=False, engine="a")
    # The GPU, 0.3^2, the fixed costs of nothing, and the engine, 0.2^2.
    assert covariance(run, TimedRun(shares=ALL, prompt=False, engine="a")) == pytest.approx(0.13)
    assert covariance(run, TimedRun(shares=ALL, prompt=False, engine="b")) == pytest.approx(0.09)
    assert covariance(run, TimedRun(shares=HALF, prompt=True, engine="a")) == pytest.approx(0.09)


def test_another_family_of_engines_shares_the_machine() -> None:
    run = TimedRun(shares=ALL, prompt=False)
    other = TimedRun(shares=ALL, prompt=False, family=known_runs.OF_OTHERS)
    assert covariance(run, other) == pytest.approx(0.3 * 0.5)
    assert covariance(other, run) == pytest.approx(0.3 * 0.5)


def test_a_wider_run_keeps_its_correlation() -> None:
    run = TimedRun(shares=ALL, prompt=False)
    wide = TimedRun(shares=ALL, prompt=False, scale=2.0)
    plain = float(covariance(run, run)) / float(variance(run))
    wider = float(covariance(wide, run)) / float((variance(wide) * variance(run)) ** 0.5)
    assert wider == pytest.approx(plain)


def test_noise_may_be_of_a_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (replace(component("", "run", 0.1), phase="token"),)
    monkeypatch.setattr(known_runs, "components", lambda _: rows)
    assert float(variance(TimedRun(shares=ALL, prompt=False))) == pytest.approx(0.01)
    assert float(variance(TimedRun(shares=ALL, prompt=True))) == 0.0


@pytest.mark.parametrize(
    ("name", "first", "second", "shared"),
    [("users", 4.0, 4.0, 1.0), ("users", 1.0, 8.0, 1 / 8), ("length", 0.0, 7000.0, 1 / 8)],
)
def test_numbers_are_alike_by_their_ratio(
    name: str, first: float, second: float, shared: float
) -> None:
    # exp(-|ln(a / b)|) is the smaller over the larger one; lengths have 1,000 tokens more.
    assert float(known_runs.likeness(name, first, second)) == pytest.approx(shared)
    assert float(known_runs.likeness(name, second, first)) == pytest.approx(shared)


def test_runs_of_other_users_share_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_runs, "components", lambda _: (component("", "phase+users", 0.4),))
    alone = TimedRun(shares=ALL, prompt=False)
    crowd = TimedRun(shares=ALL, prompt=False, users=4.0)
    prompt = TimedRun(shares=ALL, prompt=True, users=4.0)
    # 0.4^2, times 1 / 4 between one user and four; another phase shares nothing.
    assert float(covariance(alone, crowd)) == pytest.approx(0.16 / 4)
    assert float(covariance(crowd, crowd)) == pytest.approx(0.16)
    assert float(covariance(crowd, prompt)) == 0.0


@pytest.mark.parametrize(
    ("name", "family", "program"),
    [
        ("llama.cpp", known_runs.OF_LLAMA_CPP, "llama.cpp"),
        ("ik_llama.cpp", known_runs.OF_LLAMA_CPP, "ik"),
        ("KTransformers", known_runs.OF_LLAMA_CPP, "ktransformers"),
        ("vLLM", known_runs.OF_SERVING, "vllm"),
        ("SGLang", known_runs.OF_SERVING, "sglang"),
        ("TensorRT-LLM", known_runs.OF_SERVING, "tensorrt-llm"),
        ("DeepSpeed", known_runs.OF_OTHERS, "deepspeed"),
        ("FlexGen", known_runs.OF_OTHERS, "flexgen"),
        ("Strata", known_runs.OF_TIERS, "strata"),
        ("MoE4All", known_runs.OF_TIERS, "moe4all"),
    ],
)
def test_families_of_engines(name: str, family: str, program: str) -> None:
    named = runtime(name)
    assert known_runs.family_of(named) == family
    assert named.program == program


def test_every_family_has_every_component(monkeypatch: pytest.MonkeyPatch) -> None:
    # What one family's runs have in common with another's is looked up by part and attributes.
    monkeypatch.undo()
    kinds = [
        [(row.part, row.same, row.phase) for row in known_runs.components(family)]
        for family in known_runs.FAMILIES
    ]
    assert all(kind and kind == kinds[0] for kind in kinds)


def test_hardware_is_the_same_in_every_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for part in (known_runs.GPU, known_runs.CPU, known_runs.DRIVE):
        differ = {
            row.sd
            for family in known_runs.FAMILIES
            for row in known_runs.components(family)
            if row.part == part and not row.same
        }
        assert len(differ) == 1
