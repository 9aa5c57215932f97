"""Answers to rows of published runs, from their cells as text."""

from advisor.evidence.published import predict, reading
from advisor.evidence.published.case import Case
from advisor.evidence.published.row import PublishedRow


def answer(cells: dict[str, str]) -> dict[str, object]:
    return predict.answer(PublishedRow(cells))


def understood(cells: dict[str, str]) -> Case:
    return reading.understood(PublishedRow(cells))
