"""Speeds of others with the same card, beside the prediction."""

import csv

import pytest

from advisor.catalog.csv_tables import DATA
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.workload import Workload
from advisor.evidence.accuracy.brought_runs import measured_by_others
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import compare, usable


def resident(name: str, gpu: str, form: str = "Q4_K_M") -> Estimate:
    there = machine(MachineSpec(gpu=gpu, ram_gb=64))
    tried = compare(catalog.model(name, form), there, Workload(), runtimes=[LLAMA_CPP])
    return usable(tried)[0]


def test_they_are_the_published_figures_of_the_card() -> None:
    with (DATA / "generated/accuracy_points.csv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["gpu"] in ("RTX 4090", "RTX 4090 24GB")
            and row["model"] == "Llama-3-8B"
            and row["format"] == "Q4_K_M"
            and row["regime"] == "resident, dense"
            and row["scored"] == "True"
        ]
    speeds = [float(row["measured"]) for row in rows]
    others = measured_by_others(resident("Llama-3-8B", "RTX 4090"))
    assert others is not None
    assert (others.runs, others.low, others.high) == (len(rows), min(speeds), max(speeds))
    assert others.publishers == len({row["group"].partition(" on ")[0] for row in rows})
    assert others.years[:4] == min(row["date"][:4] for row in rows if row["date"])


@pytest.mark.parametrize("gpu", ["2x RTX 4090", "Radeon Pro W5500X"])
def test_several_cards_and_cards_that_nobody_measured_have_none(gpu: str) -> None:
    assert measured_by_others(resident("Llama-3.2-3B", gpu)) is None
