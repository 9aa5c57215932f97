"""Each path of data/columns.csv names fields that its records have."""

import typing
from collections.abc import Collection
from types import SimpleNamespace, UnionType

import pytest

from advisor.advice.arrivals.load import Waiting
from advisor.advice.diagnosis.diagnose import Cause, Diagnosis
from advisor.advice.diagnosis.watching import Watched
from advisor.advice.edits.second_machine import SecondMachine
from advisor.advice.finder.runnable import Runnable
from advisor.advice.finder.search import Hit
from advisor.advice.serving import Servers
from advisor.advice.table.option import Option
from advisor.catalog.records import Column, columns
from advisor.cost_model.estimate import Assumption, Estimate
from advisor.errors import DataError
from advisor.evidence.accuracy.brought_runs import BroughtRun
from advisor.evidence.claims.findings import Claim, Finding
from advisor.reports.scenarios import ScenarioResult
from advisor.reports.store.saved import ReportHead

RECORDS = {
    "assumption": Assumption,
    "assumption_row": Assumption,
    "cause": Cause,
    "claim": Claim,
    "diagnosis": Diagnosis,
    "finding": Finding,
    "hit": Hit,
    "option": Option,
    "option_row": Option,
    "report": ReportHead,
    "run": BroughtRun,
    "runnable": Runnable,
    "scenario": ScenarioResult,
    "second_machine": SecondMachine,
    "servers": Servers,
    "waiting": Waiting,
    "watched": Watched,
}
"""Class of the object that each kind of record is made from."""
WRAPPED = {"estimate": Estimate, "card": Estimate}
"""Class behind `all` and `run`, which hold the same estimate, the second where it fits."""


def of_records() -> list[tuple[type, Column, str]]:
    plain = [
        (kind, column, column.path) for name, kind in RECORDS.items() for column in given(name)
    ]
    inner = [
        (kind, column, column.path.partition(".")[2])
        for name, kind in WRAPPED.items()
        for column in given(name)
    ]
    return [(kind, column, path or column.name) for kind, column, path in plain + inner]


def given(record: str) -> list[Column]:
    return [column for column in columns(record) if column.form != "given"]


def kinds(annotation: object) -> Collection[type]:
    """Classes that a value of an annotated type may have, None aside."""
    if isinstance(annotation, UnionType) or typing.get_origin(annotation) is typing.Union:
        parts = typing.get_args(annotation)
        return [kind for part in parts if part is not type(None) for kind in kinds(part)]
    return [typing.get_origin(annotation) or annotation]


def annotation_of(kind: type, name: str) -> object | None:
    """Type of a field or property of a class; None where it has none of that name."""
    hints = typing.get_type_hints(kind)
    if name in hints:
        return hints[name]
    member = getattr(kind, name, None)
    computed = getattr(member, "fget", None) or getattr(member, "func", None)
    if computed is None:
        return None
    return typing.get_type_hints(computed).get("return", object)


def leads(kind: type, path: str) -> bool:
    """Whether a path of attributes leads somewhere from a class."""
    name, _, rest = path.partition(".")
    annotation = annotation_of(kind, name)
    if annotation is None:
        return False
    return not rest or any(leads(inner, rest) for inner in kinds(annotation))


@pytest.mark.parametrize(
    ("kind", "column", "path"), of_records(), ids=lambda part: getattr(part, "name", "")
)
def test_a_column_names_a_field(kind: type, column: Column, path: str) -> None:
    assert leads(kind, path), f"{kind.__name__} has no {path} for {column.record}.{column.name}"


def test_a_path_that_leads_nowhere_is_noticed() -> None:
    assert leads(Option, "price.date")
    assert not leads(Option, "price.day")
    assert not leads(Option, "hours_slept")


def test_a_column_without_its_field_is_named_with_its_table() -> None:
    column = Column(record="option", name="hours", path="price.day", form="", unit="")
    with pytest.raises(DataError, match=r"columns\.csv: .*'hours'.*'option'.*'day'.*price\.day"):
        column.value(SimpleNamespace(price=SimpleNamespace(date="2026-11-01")))


def test_a_fault_inside_a_property_is_told_as_its_own() -> None:
    class Faulty:
        @property
        def watts(self) -> float:
            return self.price.watts  # type: ignore[attr-defined]  # the fault

    column = Column(record="option", name="watts", path="watts", form="", unit="")
    with pytest.raises(AttributeError, match="'price'"):
        column.value(Faulty())
