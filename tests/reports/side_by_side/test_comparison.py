"""Headings of reports side by side."""

import pytest

from advisor.reports.comparison import distinct


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (
            ("8B, Q4_K_M, on RTX 3090, 64 GiB", "8B, Q4_K_M, on RTX 4090, 64 GiB"),
            ("RTX 3090", "RTX 4090"),
        ),
        (("mine, Q4_K_M", "mine, Q8_0", "mine, AWQ"), ("Q4_K_M", "Q8_0", "AWQ")),
        (("office", "office, with a card"), ("office", "office, with a card")),
        (("at home", "in the office"), ("at home", "in the office")),
    ],
)
def test_headings_leave_out_what_all_names_share(names, labels) -> None:
    assert distinct(names) == labels
