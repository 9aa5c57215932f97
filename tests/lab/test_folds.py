"""Folds of publishers, and predictions without them."""

import csv
from itertools import chain

import numpy as np

from advisor.catalog.csv_tables import DATA
from lab.folds import EVERYWHERE, FOLDS, folds, kept_folds
from lab.published import published_rows, publisher_of
from lab.roles import PARAMETERS, TABLE, WIDTHS, roles, set_widths

MEASURED = ("llama_cpp*", "frameworks_*", "offload_papers", "drafted_*")


def test_each_publisher_is_in_one_fold_and_folds_are_alike() -> None:
    names = ["a"] * 50 + ["b"] * 20 + ["c"] * 20 + ["d"] * 10 + [""] * 5
    fold_of_each = folds(names, among=2)
    assert fold_of_each[:50].tolist() == [0] * 50
    assert fold_of_each[50:100].tolist() == [1] * 50
    assert fold_of_each[100:].tolist() == [EVERYWHERE] * 5


def test_a_name_of_its_own_fold_is_left_out_alone() -> None:
    fold_of_each = folds(["a", "b", "b", "c"], among=3)
    assert len(set(fold_of_each.tolist())) == 3
    assert fold_of_each[1] == fold_of_each[2]


def test_a_row_more_moves_no_other_name_to_another_fold() -> None:
    kept = {"a": 1, "b": 0}
    assert folds(["a", "b", "b", "c"], among=2, kept=kept).tolist() == [1, 0, 0, 1]
    assert folds(["a"] * 9 + ["b", "c"], among=2, kept=kept)[-2:].tolist() == [0, 0]


def test_kept_folds_are_all_used_by_several_names() -> None:
    names = list(kept_folds().values())
    assert {names.count(fold) > 10 for fold in range(FOLDS)} == {True}


def test_every_publisher_has_one_role() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        names = [row["publisher"] for row in csv.DictReader(file)]
    assert len(names) == len(set(names))
    assert set(roles().values()) == {PARAMETERS, WIDTHS}
    files = chain.from_iterable((DATA / "measurements").glob(f"{name}.csv") for name in MEASURED)
    measured = {publisher_of(row) for path in files for row in published_rows(path)}
    assert measured == set(names)


def test_who_sets_widths_chose_no_parameter() -> None:
    some = [name for name, role in roles().items() if role == WIDTHS]
    assert np.all(set_widths(some))
    assert not set_widths(["nobody", "XiongjieDai/GPU-Benchmarks-on-LLM-Inference"]).any()
