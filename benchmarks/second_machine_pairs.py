"""Does a second machine help? Published pairs of runs, and what is predicted for each.

    python -m benchmarks.second_machine_pairs

Rows of data/measurements/second_machine_pairs.csv: one runtime, model and number of users on one
machine and on two of its kind by a network. Aim: at least 95 % of the signs right.
"""

import sys
from dataclasses import dataclass

import numpy as np

from advisor.advice.compare import compare, decode_tps
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.runtimes import runtime
from advisor.scripting import find_model

FILE = DATA / "measurements/second_machine_pairs.csv"
REPLY = 128
AIM = 0.95


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
    """Predicted rate of decoding of all users, in the best placement that fits [tokens/s]."""
    where = machine(MachineSpec(
        gpu=row.gpu, ram_gb=row.ram_gb, machines=machines,
        network=row.network if machines > 1 else None,
        network_gbs=row.network_gbs if machines > 1 else None,
    ))  # fmt: skip
    work = Workload(prompt=row.prompt, output=REPLY, context=row.prompt + REPLY, users=row.users)
    model, engine = find_model(row.model, row.quant), runtime(row.runtime)
    outcomes = compare(model, where, work, runtimes=(engine,))
    each_user = (decode_tps(outcome) for outcome in outcomes if bool(outcome.fits))
    return row.users * max(each_user, default=np.nan)


def main() -> int:
    """Print the table; returns the exit code: 0 where the aim is met."""
    known = rows()
    predicted = np.array([gain(row) for row in known])
    measured = np.array([row.measured for row in known])
    right = (predicted > 1.0) == (measured > 1.0)
    for row, factor in zip(known, predicted, strict=True):
        print(
            f"{row.publisher:8} 2x {row.gpu:13} {row.runtime:9} {row.model:27} {row.quant:7} "
            f"{row.users:3} users {row.measured:5.2f} {factor:5.2f}"
        )
    print(f"signs right: {right.sum()} of {len(known)}")
    print(f"median of predicted over measured: {np.median(predicted / measured):.2f}")
    return 0 if right.mean() >= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
