"""Causes in the software below the runtime: an older driver, another backend than assumed."""

from dataclasses import replace

from advisor.advice.diagnosis.causes.counterfactual import Situation, Trials, trial
from advisor.cost_model.conditions import conditioned
from advisor.machine import backends
from advisor.machine.software import DRIVER_LABELS, SYSTEMS, GraphicsDriver, drivers_of
from advisor.machine.stated_software import NOTABLE


def old_driver(situation: Situation) -> Trials:
    """A driver that published comparisons call slower than today's; none where it is stated."""
    machine = situation.machine
    if not situation.in_llama_cpp or not machine.gpus or machine.driver:
        return
    if situation.system not in ("", *SYSTEMS.values()) or situation.system == "Windows":
        return
    card, backend = machine.gpus[0], situation.constants.scope.backend
    for row in drivers_of(card.vendor, card.family, backend):
        if min(row.token, row.prompt) > NOTABLE:
            continue
        aged = replace(machine, driver=str(GraphicsDriver(row.value, row.last_version)))
        constants = conditioned(situation.constants, aged, situation.estimate.how, situation.model)
        label = DRIVER_LABELS[row.value]
        detail = f"{label} before {row.before}" if row.before else label
        yield trial(detail, replace(situation.estimate, machine=aged, constants=constants))


def other_backend(situation: Situation) -> Trials:
    """Another backend than the usual one of the card; none where it is stated.

    NVIDIA's cards have CUDA in every usual build.
    """
    machine, scope = situation.machine, situation.constants.scope
    if not situation.in_llama_cpp or not machine.gpus or machine.backend:
        return
    vendor = machine.gpus[0].vendor
    if vendor not in backends.ON_WINDOWS:
        return
    for name in backends.of_vendor(vendor, machine.system):
        if name != scope.backend:
            constants = situation.constants.bound(replace(scope, backend=name))
            yield trial(
                f"{backends.LABELS[name]} in place of {backends.LABELS[scope.backend]}",
                replace(situation.estimate, constants=constants),
            )
