"""Published speed of llama.cpp or one of its forks: a row, what it timed, and its schedule."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from advisor.cost_model.processors import matrices, vectors
from advisor.cost_model.schedule import Schedule
from advisor.evidence.published.predict import Case
from advisor.evidence.published.row import PublishedRow
from advisor.machine import backends, from_catalog

GENERATED, READ = "generation", "prompt"
"""Timed part of a row: a token, or a prompt."""


@dataclass(frozen=True, kw_only=True)
class TimedRow:
    """A published speed."""

    row: PublishedRow  # row of a measurement file
    case: Case  # machine, model and request of the row
    timed: str  # timed part, `GENERATED` or `READ`
    seconds: float  # time of a step, or of the whole prompt [s]

    @cached_property
    def schedule(self) -> Schedule:
        """Schedule of the timed part."""
        if self.timed == READ:
            return self.case.prompt_phases.prefill
        return self.case.phases.decode

    @cached_property
    def scope(self) -> Mapping[str, str]:
        """Values of the columns that constants may differ by."""
        case, host = self.case, self.case.machine.host
        return {
            "gpu": case.machine.gpus[0].family if case.machine.gpus else "",
            "segment": from_catalog.ram_segment(host.name),
            "vectors": vectors(host),
            "matrices": matrices(host),
            "decode_class": case.model.decode_class,
            "backend": case.backend or backends.of_machine(case.machine),
            "build": case.runtime.build or case.build,
        }
