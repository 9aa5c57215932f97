"""Does a second machine help? Published pairs of runs, and what is predicted for each.

    python -m benchmarks.second_machine_pairs

Rows of data/measurements/second_machine_pairs.csv: one runtime, model and number of users on one
machine and on two of its kind by a network. Aim: at least 95 % of the signs right, and gains within
a fifth at the median.
"""

import sys
from dataclasses import dataclass

import numpy as np

from advisor.advice.compare import compare
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model.model import Floats
from advisor.runtimes import runtime
from advisor.scripting import find_model

FILE = DATA / "measurements/second_machine_pairs.csv"
AIM = 0.95
WITHIN = 1.2
"""Aim of the median factor between predicted and measured gains."""


def prompts_counted(row: "PairRow") -> int:
    """Prompts read within the time of a published rate.

    llama-benchy divides the tokens of all by the time from the first user's first token to the last
    one's end (results.py of eugr/llama-benchy at 2e3e74d), so it counts all prompts but the first.
    """
    return {"decoding": 0, "from the first token": row.users - 1, "whole requests": row.users}[
        row.counts
    ]


@dataclass(frozen=True, kw_only=True)
class PairRow:
    """One row of the table; data/measurements/README.md describes its columns."""

    id: str
    publisher: str
    gpu: str
    ram_gb: float
    runtime: str
    model: str
    quant: str
    users: int
    prompt: int
    reply: int
    counts: str
    network: str
    network_gbs: float | None
    one_tps: float
    two_tps: float
    source_url: str
    source_date: str
    note: str

    @property
    def measured(self) -> float:
        """Rate of two machines over that of one."""
        return self.two_tps / self.one_tps


def rows() -> tuple[PairRow, ...]:
    """All published pairs."""
    return read(FILE, PairRow)


def gain(row: PairRow) -> float:
    """Predicted rate of two machines over that of one."""
    single, joined = (rate(row, machines) for machines in (1, 2))
    return joined / single


def rate(row: PairRow, machines: int) -> float:
    """Predicted rate of all users as the row counts it, in the fastest placement [tokens/s].

    n reply / ( p / n t_prompts + reply t_token ), with p of the n users' prompts in that time.
    """
    where = machine(MachineSpec(
        gpu=row.gpu, ram_gb=row.ram_gb, machines=machines,
        network=row.network if machines > 1 else None,
        network_gbs=row.network_gbs if machines > 1 else None,
    ))  # fmt: skip
    context = row.prompt + row.reply
    work = Workload(prompt=row.prompt, output=row.reply, context=context, users=row.users)
    model, engine = find_model(row.model, row.quant), runtime(row.runtime)
    share = prompts_counted(row) / row.users
    rates = [0.0]
    for outcome in compare(model, where, work, runtimes=(engine,)):
        if bool(outcome.fits) and outcome.step and outcome.prompt:
            seconds = share * outcome.prompt.total + row.reply * outcome.step.total
            rates.append(float(row.users * row.reply / seconds))
    return max(rates)


def met(measured: Floats, predicted: Floats) -> bool:
    """Whether gains meet the aims, shape (pairs,) each; prints how near they are."""
    right = (predicted > 1.0) == (measured > 1.0)
    off = np.exp(np.median(np.abs(np.log(predicted / measured))))
    print(f"signs right: {right.sum()} of {len(right)}")
    print(f"median of predicted over measured: {np.median(predicted / measured):.2f}")
    print(f"median factor between them: {off:.2f}")
    return bool(right.mean() >= AIM and off <= WITHIN)


def main() -> int:
    """Print the table; returns the exit code: 0 where the aim is met."""
    known = rows()
    predicted = np.array([gain(row) for row in known])
    measured = np.array([row.measured for row in known])
    for row, factor in zip(known, predicted, strict=True):
        print(
            f"{row.publisher:8} 2x {row.gpu:13} {row.runtime:9} {row.model:27} {row.quant:7} "
            f"{row.users:3} users {row.measured:5.2f} {factor:5.2f}"
        )
    return 0 if met(measured, predicted) else 1


if __name__ == "__main__":
    sys.exit(main())
