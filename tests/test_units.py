"""Sizes as people type them."""

import pytest

from advisor.errors import InputError
from advisor.units import gibibytes, gigabytes_per_second, tokens


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("8192", 8192), ("128k", 131072), ("128 K", 131072), ("1M", 1048576), ("4k", 4096),
        ("100k", 100_000), ("1.5k", 1500), ("32,768", 32768), ("1,5k", 1500), ("131,072", 131072),
    ],
)  # fmt: skip
def test_tokens_by_the_thousand_of_models(typed: str, value: float) -> None:
    assert tokens(typed) == value


@pytest.mark.parametrize(
    ("typed", "gib"),
    [
        ("24", 24),
        ("24GB", 24),
        ("24 GiB", 24),
        ("24g", 24),
        ("512 MB", 0.5),
        ("1.5TB", 1536),
        ("1,5 TB", 1536),
        ("1,024 GB", 1024),
        ("0,5TB", 512),
    ],
)
def test_memory_is_as_sold(typed: str, gib: float) -> None:
    assert gibibytes(typed) == gib


@pytest.mark.parametrize(
    ("typed", "gbs"),
    [
        ("7", 7),
        ("7 GB/s", 7),
        ("7GBps", 7),
        ("3500 MB/s", 3.5),
        ("3.5 TB", 3500),
        ("1.8TB/s", 1800),
    ],
)
def test_rates_are_decimal(typed: str, gbs: float) -> None:
    assert gigabytes_per_second(typed) == pytest.approx(gbs)


@pytest.mark.parametrize("read", [tokens, gibibytes, gigabytes_per_second])
@pytest.mark.parametrize("typed", ["", "lots", "24 cats", "k", "1e3x", "1,5,2", "1.024,5"])
def test_an_invalid_size_is_refused_with_examples(read, typed: str) -> None:
    with pytest.raises(InputError, match="give"):
        read(typed)
