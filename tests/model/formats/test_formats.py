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


def test_formats_of_about_the_same_loss_are_as_good() -> None:
    """AWQ's table 4: Llama-2 7B to 70B have 5.60, 4.97 and 3.41 in AWQ, 5.63, 4.99 and 3.43 in
    GPTQ: 0.005, 0.004 and 0.006 nats more, a point of a score being 0.0104.
    """
    assert Format.no_worse("GPTQ", "AWQ")
    assert Format.no_worse("AWQ", "GPTQ")
    # Llama-3-8B: 0.028152 and 0.084358 nats; 0.001355 in Q8_0
    assert not Format.no_worse("Q3_K_M", "Q4_K_M")
    assert Format.no_worse("Q4_K_M", "Q3_K_M")
    assert Format.no_worse("Q8_0", "BF16")


def test_a_format_that_loses_notably_or_that_nobody_measured_is_not() -> None:
    # ln(5.60 / 5.47) = 0.0235 in Llama-2-7B
    assert not Format.no_worse("AWQ", "BF16-hf")
    assert Format.no_worse("BF16-hf", "AWQ")
    # ln(7.2799 / 7.2285) = 0.0071 in Llama-3.2-11B
    assert Format.no_worse("FP8", "BF16-hf")
    assert not Format.no_worse("NVFP4", "AWQ")
    assert Format.no_worse("NVFP4", "NVFP4")
