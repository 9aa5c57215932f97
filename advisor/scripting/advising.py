"""Complete advice for programs; a file of its own because `answers` loads in half the time."""

from typing import Any

from advisor.advice import advise as whole_answer
from advisor.advice.advise import Advice
from advisor.advice.answer import answer
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.request.money import MoneyInputs
from advisor.request.request import Request
from advisor.runtimes import runtime as runtime_named
from advisor.scripting.answers import as_model, given_machine, split_of


def advise(
    model: Model | str | Request,
    machine: Machine | None = None,
    workload: Workload | None = None,
    *,
    money: MoneyInputs | None = None,
    runtime: str | None = None,
    **split: Any,
) -> Advice:
    """Complete advice: every estimate, bigger GPUs, cheap changes, and the verdict in words.

    Args:
        model: model of `find_model`, text that `find_model` takes, or a whole `Request`.
        machine: machine of `describe_machine` or `named_machine`; None with a `Request`.
        workload: request, as in `estimate`.
        money: value of time, price of power and other money inputs; None for the defaults.
        runtime: name of the runtime for upgrades and changes; None for the best.
        split: options of the placement, as in `split_of`.

    Raises:
        AdvisorError: an unknown name, or a number outside its limits.
    """
    if isinstance(model, Request):
        return answer(model.nouns()).advice
    return whole_answer.advise(
        as_model(model),
        given_machine(machine),
        workload or Workload(),
        money=money,
        settings=split_of(**split),
        chosen=None if runtime is None else runtime_named(runtime),
    )
