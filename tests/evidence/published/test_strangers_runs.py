"""Runs as strangers published them, with their own names for card, model and format."""

import re

from hardware_names import sample

from advisor.evidence.published.machine import stated_gpus
from advisor.evidence.published.predict import answer
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import PublishedRow
from advisor.model.by_name.named import named


def test_cards_models_and_formats_are_those_that_the_publisher_meant() -> None:
    """An empty card is one of several with the same name."""
    wrong = []
    for cells in sample("published_runs.csv"):
        row = PublishedRow({**cells, "category": "resident", "ngl": "999"})
        case = understood(row)
        words, factor = stated_gpus(row)
        counted = re.fullmatch(r"(\d+)x (.+)", words)
        card, cards = (counted[2], factor * int(counted[1])) if counted else (words, factor)
        exact = named(cells["meant"]).architecture
        if (cells["card"] or card, int(cells["cards"])) != (card, cards):
            wrong.append((cells["gpu"], card, cards))
        if case.model.architecture.params != exact.params:
            wrong.append((cells["model"], case.model.architecture.name))
        if case.model.format != cells["format"]:
            wrong.append((cells["model"], cells["quant"], case.model.format))
    assert wrong == []


def test_each_has_a_speed() -> None:
    for cells in sample("published_runs.csv"):
        assert answer(PublishedRow({**cells, "category": "resident", "ngl": "999"}))["tg_tps"]
