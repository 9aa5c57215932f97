"""A machine in the words of those who own it."""

from dataclasses import replace

import pytest

from advisor.machine import in_words
from advisor.machine.identify import machine_by_name
from advisor.machine.spec import MachineSpec
from advisor.units import GIB, Quantity


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("rtx 5090 64gb", "RTX 5090 32 GB + 64 GB"),  # its driver leaves less of the 32
        ("8x b200", "8x B200 180 GB + 64 GB"),
        ("2x 3090 128gb", "2x RTX 3090 24 GB + 128 GB"),
        ("rtx 3060 12gb 32gb", "RTX 3060 12GB + 32 GB"),
        ("mac studio m4 max 64gb", "Apple M4 Max 40c 64 GB"),
    ],
)
def test_memory_is_what_it_was_sold_with(named: str, words: str) -> None:
    assert in_words.parts(machine_by_name(named, MachineSpec())) == words


def test_a_changed_card_has_what_it_was_changed_to() -> None:
    machine = machine_by_name("rtx 2080 ti 64gb", MachineSpec())
    (card,) = machine.gpus
    assert in_words.cards([card]) == ["RTX 2080 Ti 11 GB"]
    assert in_words.cards([replace(card, memory=Quantity.given(22 * GIB))]) == ["RTX 2080 Ti 22 GB"]
