"""Formats as data/models/recipes.csv has them, and tables that are broken."""

from dataclasses import replace

import pytest

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import DataError, UnknownName
from advisor.model.formats import Format, Place, RecipeRow, formats, more_bits

RECIPES = read(DATA / "models/recipes.csv", RecipeRow)


def test_more_bits_of_32_layers_worked_by_hand() -> None:
    # First 4, last 4, and every third from layer 6: (6 - 4) % 3 == 2.
    def place(layer: int) -> Place:
        return Place(position=layer, count=32, layers=32, gqa=4, experts=0)

    chosen = [layer for layer in range(32) if more_bits(place(layer))]
    assert chosen == [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31]


def test_formats_are_found_without_case_and_unknown_ones_named() -> None:
    assert Format.named(" q4_k_m ").name == "Q4_K_M"
    with pytest.raises(UnknownName, match="Q4_K_M"):
        Format.named("Q4_KM")


def test_broken_recipe_tables_are_data_errors() -> None:
    row = RECIPES[0]
    other = replace(row, format="other")
    with pytest.raises(DataError, match="condition"):
        formats([replace(row, when="always&sometimes")])
    with pytest.raises(DataError, match="split"):
        formats([row, other, row])
    with pytest.raises(DataError, match="disagree"):
        formats([row, replace(row, runtimes="vllm")])
