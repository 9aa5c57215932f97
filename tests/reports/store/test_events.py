"""What happened to reports: on record, links that end, and an owner's reports erased for good."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from saved_reports import sample

from advisor.cli.main import main
from advisor.failures import StoreError
from advisor.reports.document import ReportDocument
from advisor.reports.store import store as store_module
from advisor.reports.store.saved import EVENTS
from advisor.reports.store.store import ReportStore, open_store

ANN = "https://issuer.example#ann"
BOB = "https://issuer.example#bob"


@pytest.fixture
def document() -> ReportDocument:
    return sample()


def happened(store: ReportStore, number: int | None = None) -> list[tuple[str, str]]:
    """What and who, oldest first."""
    return [(event.what, event.who) for event in reversed(store.events(number))]


def test_who_shared_opened_and_deleted_is_on_record(
    store: ReportStore, document: ReportDocument
) -> None:
    ann = store.of(ANN)
    number = ann.save(document, "mine").id
    secret = ann.share(number, public=True).share
    store.load_shared(secret)
    store.load_shared(secret)  # within the hour: no further event
    ann.share(number, public=False)
    ann.delete(number)
    ann.restore(number)
    assert happened(store, number) == [
        ("shared", ANN),
        ("opened", ""),
        ("withdrawn", ANN),
        ("deleted", ANN),
        ("restored", ANN),
    ]
    assert happened(ann) == happened(store)
    assert happened(store.of(BOB)) == []
    assert {event.words for event in store.events()} <= set(EVENTS.values())


def test_a_link_ends(store: ReportStore, document: ReportDocument) -> None:
    number = store.save(document, "mine").id
    now = datetime.now(UTC)
    head = store.share(number, public=True, until=now + timedelta(days=7))
    assert head.share_until is not None
    assert store.load_shared(head.share).id == number
    assert store.share(number, public=True, until=now - timedelta(seconds=1)).share
    with pytest.raises(StoreError, match="not any more"):
        store.load_shared(head.share)
    assert store.share(number, public=False).share_until is None


def test_an_owners_reports_are_erased_for_good_and_that_is_on_record(
    store: ReportStore, document: ReportDocument
) -> None:
    ann = store.of(ANN)
    bob = store.of(BOB)
    first = ann.save(document, "a").id
    second = ann.save(document, "b").id
    theirs = bob.save(document, "c").id
    ann.delete(first)
    assert store.erase(ANN) == 2
    assert ann.list() == ()
    for number in (first, second):
        with pytest.raises(StoreError):
            store.restore(number)
    assert [head.id for head in bob.list()] == [theirs]
    assert bob.erase(ANN) == 0, "no owner erases another's"
    assert happened(store) == [("deleted", ANN), ("erased", ""), ("erased", "")]


def test_the_record_is_kept_for_a_time(
    store: ReportStore, document: ReportDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = store.save(document, "mine").id
    store.share(number, public=True)
    monkeypatch.setattr(store_module, "KEPT_EVENTS", timedelta(seconds=-1))
    store.share(number, public=False)
    assert happened(store) == [("withdrawn", "")]


def test_an_administrator_reads_the_record_and_erases_on_the_command_line(
    tmp_path: Path,
    document: ReportDocument,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    ann = open_store().of(ANN)
    ann.share(ann.save(document, "mine").id, public=True)
    assert main(["report", "record"]) == 0
    assert f"report 1: a link was made, {ANN}" in capsys.readouterr().out
    assert main(["report", "erase", "--owner", ANN]) == 2
    assert "Repeat with --agree" in capsys.readouterr().err
    assert main(["report", "erase", "--owner", ANN, "--agree"]) == 0
    assert "Erased 1 reports" in capsys.readouterr().out
    assert main(["report", "record", "--report", "1", "--json"]) == 0
    assert '"what": "erased"' in capsys.readouterr().out
