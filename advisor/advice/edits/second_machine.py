"""A second machine of the same kind by cable: whether the model then fits, or runs faster."""

from dataclasses import dataclass

from advisor.advice.speeds import Speed, speed_of
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import compared
from advisor.runtimes.compare import compare, decode_tps
from advisor.units import number, seconds, tokens_per_second

HELPS = 1.1
"""Gain from which a second machine is said to help, within which runs of one setting differ."""


@dataclass(frozen=True, kw_only=True)
class SecondMachine:
    """Speeds of the present machines and of twice as many, each in its fastest runtime."""

    network: str  # network between them
    before: Speed | None  # speed now; None where the model does not run
    after: Speed | None  # speed with as many machines again; None where the model does not run

    @property
    def gain(self) -> float | None:
        """Factor of the decode speed; None where it does not run before or after."""
        if self.before is None or self.after is None:
            return None
        return self.after.decode / self.before.decode

    @property
    def helps(self) -> bool:
        """Whether the model runs on the further machines alone, or notably faster on them."""
        gain = self.gain
        return self.after is not None and (gain is None or gain >= HELPS)

    @property
    def words(self) -> str:
        """Sentence on the gain of the further machines."""
        if self.after is None:
            return f"As many machines again by {self.network}: the model does not run there either."
        speed = tokens_per_second(self.after.decode)
        then = f"{speed} in {self.after.runtime}, first token {seconds(self.after.first_token)}"
        if self.before is None:
            return f"As many machines again by {self.network}: it runs, {then}."
        now = f"{number(self.gain or 0.0, 2)} times {tokens_per_second(self.before.decode)} in "
        if self.helps:
            verdict = "helps"
        else:
            verdict = "does not help"
        return (
            f"As many machines again by {self.network} {verdict}: {then}, {now}"
            f"{self.before.runtime}."
        )


def second_machine(model: Model, machine: Machine, work: Workload) -> SecondMachine:
    """Speed with twice as many machines, over their network or the one that they are built with."""
    twice = machine.joined(2 * machine.nodes)
    # MLX, on the chips that it is made for, is in common use.
    runtimes = [each for each in compared(machine) if each.mainstream or each.name == "MLX"]
    speeds: list[Speed | None] = []
    for machines in (machine, twice):
        estimates = compare(model, machines, work, runtimes=runtimes)
        fitting = (estimate for estimate in estimates if bool(estimate.fits))
        best = max(fitting, key=decode_tps, default=None)
        speeds.append(speed_of(best) if best else None)
    if machine.network is None:
        name = twice.network.name if twice.network else ""
    else:
        name = "the same network"
    return SecondMachine(network=name, before=speeds[0], after=speeds[1])
