"""GPUs of a published row, alike or mixed."""

import re

from advisor.errors import AdvisorError, UnknownName
from advisor.evidence.published.noted import Noted
from advisor.evidence.published.row import PublishedRow
from advisor.machine.catalog import cpu_named, gpu_named, machine_named
from advisor.machine.names.gpu_names import GpuName
from advisor.machine.names.preset_names import MachineName
from advisor.machine.names.spelling import plain, size_gib
from advisor.machine.spec import MIXED, NO_GPU

BETWEEN = re.compile(r"\s*(?:\+|,|&|;|\band\b)\s*")
"""Separators between cards of different kinds."""
BRACKET = re.compile(r"\(([^()]*)\)")


def stated_gpus(row: PublishedRow) -> Noted[tuple[str, int]]:
    """GPUs of a row and their number, as `MachineSpec` takes them.

    A cell with a single name means `gpu_count` cards of it. Other cells list cards in order:
    "2x A + B" are three. Brackets and parts that are not cards are ignored, unless the first part
    is not a card. Where names and `gpu_count` disagree, the names count. A cell that names no card
    may name a whole machine.

    Args:
        row: published row.

    Raises:
        UnknownName: neither a card of the catalogue comes first, nor is it a machine with cards.
    """
    stated, stated_count = row.gpu, row.gpu_count
    alike = max(stated_count or 1, 1)
    if not stated or stated.casefold() == NO_GPU:
        return Noted((NO_GPU, alike))
    card = _one_card(stated)
    if card is None and (own := _own_graphics(row)):
        note = f"GPU {stated!r} is taken as {own}, the graphics of {row.cpu}"
        return Noted((own, alike), (note,))
    whole = named_machine(stated) if card is None else None
    if whole is not None:
        note = f"GPU {stated!r} is taken as {whole.name}"
        count = max(whole.spec.gpu_count, alike)
        return Noted((whole.spec.gpu or NO_GPU, count), (note,))
    if card is None or _lists_cards(stated, card):
        cards = _cards(stated)  # one name for all of them leaves some out
    elif card.count == 1:
        return Noted((card.row.name, alike), tuple(card.notes))
    else:
        cards = Noted([(card.count, card.row.name)], tuple(card.notes))
    words = MIXED.join(f"{count}x {name}" if count > 1 else name for count, name in cards.value)
    total = sum(count for count, _ in cards.value)
    if total == 1:
        note = f"GPU {stated!r} is taken as {words}"
        return Noted((words, alike), (*cards.notes, note))
    if stated_count in (None, total):
        return Noted((words, 1), cards.notes)
    note = f"{stated!r} names {total} GPUs where gpu_count is {stated_count}: {words}"
    return Noted((words, 1), (*cards.notes, note))


WITHOUT_A_MODEL = re.compile(
    r"(?:amd )?radeon(?:\(tm\))? graphics|intel(?:\(r\))? (?:\w+(?:\(r\))? )?graphics"
    r"|(?:its |the )?(?:igpu|own graphics|integrated (?:gpu|graphics))"
)
"""Names of a processor's own graphics that do not say which they are."""


def _own_graphics(row: PublishedRow) -> str:
    """Graphics of a row's processor, where the GPU's cell says no more; empty for other cells."""
    if not row.cpu or WITHOUT_A_MODEL.fullmatch(row.gpu.casefold()) is None:
        return ""
    try:
        return gpu_named(cpu_named(row.cpu).gpu).row.name
    except UnknownName:
        return ""


def _one_card(stated: str) -> GpuName | None:
    try:
        return gpu_named(stated)
    except UnknownName:
        return None


def _lists_cards(stated: str, card: GpuName) -> bool:
    """Whether a cell has several parts, not a card beside its own processor ("Max+ 395, Radeon").

    A reading that left words out has notes.
    """
    first, *others = _parts(stated)
    return bool(others) and (bool(card.notes) or _one_card(first) is not None)


def named_machine(stated: str) -> MachineName | None:
    """Machine with GPUs that a GPU cell names; None where it names cards or nothing known.

    A list of different cards is no machine here, since it is read card by card.
    """
    try:
        machine = machine_named(stated)
    except AdvisorError:
        return None
    gpu = machine.spec.gpu
    return machine if gpu not in (None, NO_GPU) and MIXED not in str(gpu) else None


def stated_memory(stated: str, gpu: str) -> float | None:
    """Memory of each card as its name states it; None where it does not [GiB].

    Args:
        stated: cell of the row.
        gpu: card of the catalogue, or several kinds.
    """
    row = None if MIXED in gpu else gpu_named(gpu).row
    if row is None or row.unified or not size_gib(plain(stated)):
        return None
    return row.memory_gib


def _cards(stated: str) -> Noted[list[tuple[int, str]]]:
    """Number and name of each kind of card, in order.

    Raises:
        UnknownName: the first is no card of the catalogue.
    """
    cards: list[tuple[int, str]] = []
    unknown: list[str] = []
    for part in _parts(stated):
        try:
            card = gpu_named(part)
            cards.append((card.count, card.row.name))
        except UnknownName:
            unknown.append(part)
            if not cards:
                raise
    if not unknown:
        return Noted(cards)
    note = f"{', '.join(unknown)} in {stated!r} is no GPU of the catalogue: left out"
    return Noted(cards, (note,))


def _parts(stated: str) -> list[str]:
    """Names in a cell, card by card, each with the memory that brackets after it state."""
    parts = BETWEEN.split(BRACKET.sub(_size_in, stated))
    return [part.strip() for part in parts if part.strip()]


def _size_in(bracket: re.Match[str]) -> str:
    size = size_gib(plain(bracket[1]))
    return f" {size:g}GB" if size else ""
