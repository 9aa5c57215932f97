"""The store: what is saved comes back, and what goes wrong is said and loses nothing."""

import json
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from advisor.errors import InputError, StoreError
from advisor.reports import database
from advisor.reports.document import ReportDocument, from_json
from advisor.reports.store import ReportStore, open_store

SAMPLE = Path(__file__).parents[1] / "samples" / "report-format-1.json"


@pytest.fixture
def document() -> ReportDocument:
    """A whole report."""
    return from_json(json.loads(SAMPLE.read_text(encoding="utf-8")))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file, in a folder that does not exist yet."""
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "new" / "data"))
    monkeypatch.delenv("ADVISOR_DATABASE_URL", raising=False)
    return tmp_path / "new" / "data" / "reports.sqlite"


@pytest.fixture
def store(file: Path) -> ReportStore:
    """An empty store."""
    return open_store()


def test_what_is_saved_comes_back(store: ReportStore, document: ReportDocument) -> None:
    saved = store.save(document, "  3090 against A6000 ", notes="ask Kim\nabout power")
    assert store.load(saved.id) == saved
    assert saved.document == document
    assert (saved.name, saved.notes) == ("3090 against A6000", "ask Kim\nabout power")
    assert (saved.app_version, saved.summary) == (document.version, document.verdict)
    assert saved.inputs == document.inputs
    assert timedelta(0) <= datetime.now(UTC) - saved.created_at < timedelta(minutes=1)


def test_reports_outlive_the_program(
    store: ReportStore, document: ReportDocument, file: Path
) -> None:
    number = store.save(document, "kept").id
    store.close()
    assert open_store().load(number).document == document
    assert store.place == str(file)


def test_the_list_is_newest_first(store: ReportStore, document: ReportDocument) -> None:
    assert store.list() == ()
    for name in ("first", "second", "third"):
        store.save(document, name)
    assert [head.name for head in store.list()] == ["third", "second", "first"]


def test_search_finds_every_word_in_any_case(store: ReportStore, document: ReportDocument) -> None:
    store.save(document, "Große Karte", notes="100% _sure_")
    store.save(document, "small")
    assert [head.name for head in store.list("GROSSE karte")] == ["Große Karte"]
    assert [head.name for head in store.list("100%")] == ["Große Karte"]
    assert len(store.list("OFFLOADING gives")) == 2  # in the verdict
    assert len(store.list("rtx-3090")) == 2  # in the inputs
    assert store.list("karte small") == ()


def test_names_and_notes_can_change(store: ReportStore, document: ReportDocument) -> None:
    number = store.save(document, "old", notes="keep").id
    assert store.rename(number, "new").name == "new"
    assert store.load(number).notes == "keep"
    assert store.annotate(number, notes="").notes == ""
    assert store.load(number).name == "new"
    assert store.load(number).document == document


def test_a_deleted_number_is_not_used_again(store: ReportStore, document: ReportDocument) -> None:
    number = store.save(document, "gone").id
    store.delete(number)
    with pytest.raises(StoreError, match="none is saved yet"):
        store.load(number)
    assert store.save(document, "next").id > number


@pytest.mark.parametrize("number", [0, -1, 7, 2**70])
def test_a_missing_number_says_which_exist(
    store: ReportStore, document: ReportDocument, number: int
) -> None:
    for name in ("a", "b"):
        store.save(document, name)
    for act in (store.load, store.delete, lambda one: store.rename(one, "c")):
        with pytest.raises(StoreError, match=rf"No report has the number {number}; .* 2, 1\."):
            act(number)


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb", "a\0b", "a\x1bb", "a\u202eb"])
def test_names_that_cannot_be_shown_are_refused(
    store: ReportStore, document: ReportDocument, name: str
) -> None:
    with pytest.raises(InputError, match="name"):
        store.save(document, name)
    number = store.save(document, "x" * 200).id
    with pytest.raises(InputError, match="name"):
        store.rename(number, name)
    assert store.load(number).name == "x" * 200


@pytest.mark.parametrize("notes", ["x" * 20_001, "a\0b"])
def test_notes_that_cannot_be_shown_are_refused(
    store: ReportStore, document: ReportDocument, notes: str
) -> None:
    with pytest.raises(InputError, match="notes"):
        store.save(document, "name", notes=notes)


def test_text_that_looks_like_sql_is_text(store: ReportStore, document: ReportDocument) -> None:
    name = "'); DROP TABLE reports; --"
    number = store.save(document, name).id
    assert store.list("drop table")[0].id == number


# Two programs


def test_two_stores_see_each_other(
    store: ReportStore, document: ReportDocument, file: Path
) -> None:
    other = open_store(f"sqlite:///{file}")
    number = store.save(document, "from one tab").id
    assert other.rename(number, "from the other").id == number
    assert store.load(number).name == "from the other"


def test_programs_that_start_together_share_a_new_store(
    document: ReportDocument, file: Path
) -> None:
    code = (
        "import json, sys; from advisor.reports.store import open_store;"
        "from advisor.reports.document import from_json;"
        "d = from_json(json.load(open(sys.argv[1]))); s = open_store();"
        "[s.save(d, str(i)) for i in range(5)]"
    )
    command = [sys.executable, "-c", code, str(SAMPLE)]
    root = Path(__file__).parents[2]
    programs = [subprocess.Popen(command, cwd=root) for _ in range(3)]
    assert [one.wait(60) for one in programs] == [0, 0, 0]
    assert len(open_store().list()) == 15


def test_a_busy_store_says_so(
    store: ReportStore,
    document: ReportDocument,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    patient = open_store()
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="Another program is writing"):
        patient.save(document, "blocked")
    assert patient.list() == ()  # reading goes on meanwhile
    writer.execute("ROLLBACK")
    writer.close()
    patient.save(document, "free again")


# Places that do not work


def test_the_environment_names_another_database(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere.sqlite"
    monkeypatch.setenv("ADVISOR_DATABASE_URL", f"sqlite:///{elsewhere}")
    assert open_store().place == str(elsewhere)
    assert elsewhere.exists()
    assert not file.exists()


def test_without_environment_the_users_data_folder_is_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ADVISOR_DATA_DIR", raising=False)
    monkeypatch.delenv("ADVISOR_DATABASE_URL", raising=False)
    place = Path(database.place(database.database_url()))
    assert (place.parent.name, place.name) == ("offload-advisor", "reports.sqlite")


@pytest.mark.parametrize("url", ["not an address", "://", "sqlite"])
def test_a_bad_address_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match="ADVISOR_DATABASE_URL"):
        open_store(url)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_place_that_forgets_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match="forgets what is saved"):
        open_store(url)


def test_an_unknown_database_is_refused_without_its_password() -> None:
    with pytest.raises(StoreError, match="No driver") as refused:
        open_store("nonesuch://me:secret@host/name")
    assert "secret" not in str(refused.value)


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv("ADVISOR_DATABASE_URL", raising=False)
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "file" / "data"))
    with pytest.raises(StoreError, match=r"cannot be made .* ADVISOR_DATA_DIR"):
        open_store()


def test_a_read_only_store_can_be_read_but_not_changed(
    store: ReportStore, document: ReportDocument, file: Path
) -> None:
    number = store.save(document, "kept").id
    frozen = open_store(f"sqlite:///file:{file}?mode=ro&uri=true")
    assert frozen.load(number).document == document
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        frozen.delete(number)
    assert store.load(number).name == "kept"


@pytest.mark.parametrize(
    "junk", [b"this is not a database, " * 50, b"SQLite format 3\0" + b"x" * 2000]
)
def test_a_damaged_file_is_left_as_it_is(file: Path, junk: bytes) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(junk)
    with pytest.raises(StoreError, match="Move the file elsewhere") as refused:
        open_store()
    assert str(file) in str(refused.value)
    assert file.read_bytes() == junk


@pytest.mark.parametrize("content", ["{", "{}", '{"format": 99}'])
def test_a_damaged_report_does_not_hide_the_others(
    store: ReportStore, document: ReportDocument, file: Path, content: str
) -> None:
    broken, whole = store.save(document, "broken").id, store.save(document, "whole").id
    with sqlite3.connect(file) as other:
        other.execute("UPDATE reports SET content = ? WHERE id = ?", (content, broken))
    with pytest.raises(StoreError):
        store.load(broken)
    assert [head.id for head in store.list()] == [whole, broken]
    assert store.load(whole).document == document


# Versions of the tables


def test_a_table_of_another_program_is_not_touched(file: Path) -> None:
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE reports (theirs TEXT)")
    with pytest.raises(StoreError, match="of another program"):
        open_store()


def test_tables_of_a_newer_version_are_refused(
    store: ReportStore, document: ReportDocument, file: Path
) -> None:
    store.save(document, "kept")
    with sqlite3.connect(file) as other:
        other.execute("UPDATE report_schema SET version = 99")
    with pytest.raises(StoreError, match=r"newer Offload Advisor .*version 99.*Update"):
        open_store()
    assert len(store.list()) == 1


def _add_rating(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE reports ADD COLUMN rating INTEGER"))


def _fail(connection: Connection) -> None:
    _add_rating(connection)
    connection.execute(text("SELECT nothing FROM nowhere"))


def test_older_tables_are_brought_forward(
    store: ReportStore, document: ReportDocument, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = store.save(document, "old").id
    monkeypatch.setattr(database, "STEPS", (_add_rating,))
    assert open_store().load(number).document == document
    with sqlite3.connect(file) as other:
        assert other.execute("SELECT version FROM report_schema").fetchall() == [(2,)]
        assert other.execute("SELECT rating FROM reports").fetchall() == [(None,)]
    open_store()  # a second start finds nothing left to do


def test_a_step_that_fails_changes_nothing(
    store: ReportStore, document: ReportDocument, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(document, "old")
    monkeypatch.setattr(database, "STEPS", (_fail,))
    with pytest.raises(StoreError):
        open_store()
    with sqlite3.connect(file) as other:
        assert other.execute("SELECT version FROM report_schema").fetchall() == [(1,)]
        columns = [row[1] for row in other.execute("PRAGMA table_info(reports)")]
    assert "rating" not in columns
