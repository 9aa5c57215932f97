"""Machines, generations and models of processors: each with its source."""

import csv
import re
from pathlib import Path

from provenance import is_past, is_public

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.name_matching import INSERTED, NameWordRow
from advisor.machine.catalog import GPUS, HOSTS, MACHINES, cpu_generations, cpu_models
from advisor.machine.names import words
from advisor.machine.names.preset_names import families
from advisor.machine.spec import MachineSpec


def test_there_are_at_least_150_machines_with_known_parts_from_dated_pages() -> None:
    assert len(MACHINES.rows()) >= 150
    for row in MACHINES.rows().values():
        assert is_public(row.source), row.name
        assert is_past(row.retrieved), row.name
        assert row.gpu == MachineSpec.NO_GPU or GPUS.find(row.gpu).name == row.gpu
        assert row.usd is None or (row.usd > 0 and is_public(row.price_source) and row.per)
        for cpu in filter(None, row.cpu.split("; ")):
            HOSTS.find(cpu)


def test_families_of_rented_machines_have_their_pages() -> None:
    for family in families():
        assert is_public(family.source), family.pattern
        assert is_past(family.retrieved), family.pattern


def test_generations_and_models_of_processors_have_their_pages() -> None:
    for row in cpu_generations():
        assert is_public(row.source), row.name
        assert is_past(row.retrieved), row.name
        re.compile(row.pattern)
    for model in cpu_models().values():
        assert is_public(model.source), model.name
        assert model.cores > 0
        assert not model.gpu or GPUS.find(model.gpu).name == model.gpu, model.name


def test_every_word_of_names_is_a_pattern_that_its_reader_asks_for() -> None:
    """A kind that no file asks for would be read by nobody."""
    rows = read(DATA / "hardware/name_words.csv", NameWordRow)
    keys = [(row.kind, row.pattern) for row in rows]
    assert len(keys) == len(set(keys))
    kinds = {kind for kind, _ in keys}
    for kind in kinds:
        words.patterns(kind)
    code = "".join(file.read_text() for file in Path(words.__file__).parents[2].rglob("*.py"))
    inserted = {kind for row in rows for kind in INSERTED.findall(row.pattern)}
    named = inserted | words.words_of_kind("form").keys()
    assert {kind for kind in kinds - named if f'"{kind}"' not in code} == set()
    assert inserted <= kinds


def test_identifiers_of_macs_are_of_sold_ones_and_from_dated_pages() -> None:
    with (DATA / "hardware/mac_identifiers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert is_public(row["source"]), row
        assert " " not in row["source"], row
        assert is_past(row["source_date"]), row
        assert MACHINES.named(row["identifier"]).name == MACHINES.named(row["machine"]).name
