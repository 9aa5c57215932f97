"""The whole answer for programs; apart from `answers`, which loads in half the time."""

from typing import Any

from advisor.advice import advise as whole_answer
from advisor.advice.advise import Advice
from advisor.advice.offers import MoneyInputs
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import runtime as runtime_named
from advisor.scripting.answers import as_model, split_of


def advise(
    model: Model | str,
    machine: Machine,
    workload: Workload | None = None,
    *,
    money: MoneyInputs | None = None,
    runtime: str | None = None,
    **split: Any,
) -> Advice:
    """The whole answer: every estimate, bigger GPUs, cheap changes, and the verdict in words.

    Args:
        model: of `find_model`, or what it takes.
        machine: of `describe_machine` or `named_machine`.
        workload: as in `estimate`.
        money: worth of time, price of power; None for the usual.
        runtime: the name of the one that upgrades and changes are of; None for the best.
        split: of `split_of`.

    Raises:
        AdvisorError: a name that is not known, a number out of its limits.
    """
    return whole_answer.advise(
        as_model(model),
        machine,
        workload or Workload(),
        money=money,
        settings=split_of(**split),
        chosen=None if runtime is None else runtime_named(runtime),
    )
