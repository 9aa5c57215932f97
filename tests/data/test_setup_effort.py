"""data/runtimes/setup_effort.csv and data/prices/skypilot_gpus.csv: every runtime, every rented
GPU, sourced."""

import pytest
from provenance import is_past, is_public

from advisor.advice.prices.rows import price_rows, skypilot_names
from advisor.catalog.csv_tables import texts
from advisor.machine.catalog import GPUS
from advisor.runtimes import RUNTIMES
from advisor.runtimes.serving import setup_efforts

EFFORTS = setup_efforts()
NAMED = skypilot_names()


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_every_runtime_states_its_effort_in_few_words_and_the_reason_in_sentences(runtime) -> None:
    row = EFFORTS[runtime.name]
    assert 0 < len(row.effort) < 40
    assert not row.effort.endswith(".")
    assert row.why.endswith(".")


def test_every_row_has_a_public_source_and_no_date_to_come(subtests: pytest.Subtests) -> None:
    sources, days = (
        texts("prices/skypilot_gpus.csv", "gpu", column) for column in ("source", "retrieved")
    )
    read_at = [(sources[gpu], days[gpu]) for gpu in NAMED]
    for source, day in [*((row.source, row.retrieved) for row in EFFORTS.values()), *read_at]:
        with subtests.test(source):
            assert is_public(source)
            assert is_past(day)


NOT_AT_SKYPILOT = {
    "H200 NVL", "Instinct MI325X", "Instinct MI350X", "P40", "Quadro RTX 6000", "Quadro RTX 8000",
    "RTX 2080 Ti 22GB", "RTX 3070", "RTX 3070 Ti", "RTX 3080 10GB", "RTX 3080 Ti", "RTX 3090 Ti",
    "RTX 4000 SFF Ada", "RTX 4060 Ti 16GB", "RTX 4070 Super", "RTX 4070 Ti", "RTX 4070 Ti Super",
    "RTX 4080", "RTX 4080 Super", "RTX 4090 48GB", "RTX 5000 Ada", "RTX 5060", "RTX 5060 Ti 16GB",
    "RTX 5070 Ti", "RTX 5080", "RTX 6000D", "RTX A2000 12GB", "RTX A2000 6GB",
    "RTX PRO 5000 Blackwell", "RTX PRO 6000 Blackwell Max-Q", "RTX PRO 6000 Blackwell Server",
    "Titan RTX", "V100 PCIe 16GB",
}  # fmt: skip
"""Rented GPUs that the list of SkyPilot's accelerators lacks, or does not tell from others."""


def test_every_rented_gpu_that_skypilot_lists_has_its_names_and_no_other_gpu_is_named() -> None:
    rented = {row.gpu for row in price_rows() if row.kind == "rent"}
    assert rented - set(NAMED) == NOT_AT_SKYPILOT
    assert set(NAMED) <= rented <= set(GPUS.rows())


def test_names_at_skypilot_are_single_words_as_accelerators_are_written() -> None:
    for names in (spellings.split(";") for spellings in NAMED.values()):
        assert len(set(names)) == len(names)
        assert all(name and " " not in name and ":" not in name for name in names)
