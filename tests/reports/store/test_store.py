"""The store: saved reports are restored, and errors are reported without loss."""

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from saved_reports import KEPT_NAMES, KEPT_TABLES, RESULT, SAMPLE, sample
from sqlalchemy import Connection, Pool, event, text

from advisor.errors import InputError
from advisor.failures import StoreError
from advisor.reports.document import ReportDocument
from advisor.reports.files.export import FORMS
from advisor.reports.store import database
from advisor.reports.store import database as migrations
from advisor.reports.store.saved import read_report
from advisor.reports.store.store import KEPT_DELETED, ReportQuery, ReportStore, open_store


@pytest.fixture
def document() -> ReportDocument:
    """A whole report."""
    return sample()


def test_saved_values_are_restored(store: ReportStore, document: ReportDocument) -> None:
    saved = store.save(document, "  3090 against A6000 ", notes="ask Kim\nabout power")
    assert store.load(saved.id) == saved
    assert saved.document == document
    assert (saved.name, saved.notes) == ("3090 against A6000", "ask Kim\nabout power")
    assert (saved.app_version, saved.summary) == (document.version, document.verdict)
    assert (saved.model, saved.gpu) == (document.model, document.gpu)
    assert timedelta(0) <= datetime.now(UTC) - saved.created_at < timedelta(minutes=1)


def test_reports_outlive_the_program(
    file_store: ReportStore, document: ReportDocument, file: Path
) -> None:
    number = file_store.save(document, "kept").id
    file_store.close()
    assert open_store().load(number).document == document
    assert file_store.place == str(file)


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
    assert store.annotate(number, name="new").head.name == "new"
    assert store.load(number).notes == "keep"
    assert store.annotate(number, notes="").head.notes == ""
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
    for act in (store.load, store.delete, lambda missing: store.annotate(missing, name="c")):
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
        store.annotate(number, name=name)
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


# The same save, filters, tags


def test_the_same_save_twice_is_one_report(store: ReportStore, document: ReportDocument) -> None:
    first = store.save(document, "name", notes="n", tags=["a"])
    later = replace(document, created_at="2027-01-01T00:00:00+00:00", link="https://x.example/")
    assert store.save(later, " name ", notes="n", tags=["a"]).id == first.id
    others = [
        store.save(document, "another name", notes="n", tags=["a"]),
        store.save(document, "name", notes="other notes", tags=["a"]),
        store.save(document, "name", notes="n"),
        store.save(replace(document, verdict="another"), "name", notes="n", tags=["a"]),
    ]
    assert len({first.id, *(other.id for other in others)}) == 5


def test_a_deleted_report_can_be_saved_again(store: ReportStore, document: ReportDocument) -> None:
    first = store.save(document, "name")
    store.delete(first.id)
    second = store.save(document, "name")
    assert second.id != first.id
    store.restore(first.id)
    assert [head.id for head in store.list()] == [second.id, first.id]


def test_filters_narrow_and_pages_follow(store: ReportStore, document: ReportDocument) -> None:
    for place in range(5):
        own = replace(document, model=f"model {place % 2}", gpu="A" if place else "B")
        store.save(own, f"report {place}", tags=["even"] if place % 2 == 0 else ["odd", "lab"])
    page = store.page(ReportQuery(tag="even"), limit=2)
    assert (page.total, [head.name for head in page.heads]) == (3, ["report 4", "report 2"])
    rest = store.page(ReportQuery(tag="even"), offset=2, limit=2)
    assert [head.name for head in rest.heads] == ["report 0"]
    assert store.page(ReportQuery(model="model 1", gpu="A")).total == 2
    assert store.page(ReportQuery(words="LAB report")).total == 2
    choices = store.choices()
    assert choices.models == ("model 0", "model 1")
    assert (choices.gpus, choices.tags) == (("A", "B"), ("even", "lab", "odd"))


def test_a_time_of_saving_narrows(store: ReportStore, document: ReportDocument) -> None:
    when = store.save(document, "now").created_at
    assert store.page(ReportQuery(since=when)).total == 1
    assert store.page(ReportQuery(until=when)).total == 0
    assert store.page(ReportQuery(since=when + timedelta(seconds=1))).total == 0


@pytest.mark.parametrize("words", ["%", "_x_", "'", "100%", "\\"])
def test_signs_of_patterns_are_letters(
    store: ReportStore, document: ReportDocument, words: str
) -> None:
    store.save(document, "plain")
    assert store.list(words) == ()
    number = store.save(document, f"with {words} in it").id
    assert [head.id for head in store.list(words)] == [number]


@pytest.mark.parametrize("tags", [["x" * 41], ["a,b"], ["a\0"], [str(n) for n in range(21)]])
def test_tags_that_cannot_be_shown_are_refused(
    store: ReportStore, document: ReportDocument, tags: list[str]
) -> None:
    with pytest.raises(InputError, match="tag"):
        store.save(document, "name", tags=tags)
    assert store.list() == ()


def test_tags_are_kept_once_in_order(store: ReportStore, document: ReportDocument) -> None:
    number = store.save(document, "name", tags=["b", " a ", "b", ""]).id
    assert store.load(number).tags == ("a", "b")
    assert store.annotate(number, tags=["c", "b"]).head.tags == ("b", "c")
    assert store.load(number).tags == ("b", "c")


# Deleting and restoring


def test_a_delete_can_be_undone(store: ReportStore, document: ReportDocument) -> None:
    saved = store.save(document, "name", tags=["t"], results=[RESULT])
    store.delete(saved.id)
    assert store.list() == ()
    gone = store.page(ReportQuery(deleted=True)).heads
    assert [head.id for head in gone] == [saved.id]
    store.restore(saved.id)
    assert store.load(saved.id) == saved
    with pytest.raises(StoreError, match="No deleted report has the number"):
        store.restore(saved.id)


def test_old_deletions_are_forgotten(
    file_store: ReportStore, document: ReportDocument, file: Path
) -> None:
    old, recent, last = (file_store.save(document, name, tags=["t"]).id for name in "abc")
    for number in (old, recent):
        file_store.delete(number)
    before = datetime.now(UTC) - KEPT_DELETED - timedelta(hours=1)
    with tables_in(file) as other:
        other.execute(
            "UPDATE reports SET deleted_at = ? WHERE id = ?",
            (before.strftime("%Y-%m-%d %H:%M:%S.%f"), old),
        )
    file_store.delete(last)
    heads = file_store.page(ReportQuery(deleted=True)).heads
    assert {head.id for head in heads} == {recent, last}
    with tables_in(file) as other:
        for table in ("report_contents", "report_tags"):
            rows = other.execute(f"SELECT count(*) FROM {table} WHERE report_id = {old}")
            assert rows.fetchone() == (0,)


# Results, sharing, owners


def test_a_result_is_attached_once(store: ReportStore, document: ReportDocument) -> None:
    number = store.save(document, "name").id
    store.attach(number, RESULT)
    store.attach(number, RESULT)
    store.attach(number, replace(RESULT, decode_tps=2.0))
    results = store.load(number).results
    assert [result.decode_tps for result in results] == [3.1, 2.0]
    assert [judged.outcome for judged in store.load(number).judged] == ["inside", "below"]


def test_a_shared_link_shows_one_report_until_it_is_withdrawn(
    store: ReportStore, document: ReportDocument
) -> None:
    mine = store.of("me").save(document, "mine")
    secret = store.of("me").share(mine.id, public=True).share
    assert store.of("me").share(mine.id, public=True).share == secret
    assert store.of("someone").load_shared(secret).id == mine.id
    store.of("me").share(mine.id, public=False)
    for wrong in (secret, "", "x"):
        with pytest.raises(StoreError, match="This link shows no report"):
            store.load_shared(wrong)


def test_each_sees_their_own_reports(store: ReportStore, document: ReportDocument) -> None:
    mine = store.of("me")
    yours = store.of("you")
    number = mine.save(document, "same", tags=["m"]).id
    assert yours.save(document, "same").id != number
    assert [head.id for head in mine.list()] == [number]
    assert yours.choices().tags == ()
    for act in (yours.load, yours.delete, lambda own: yours.annotate(own, name="x")):
        with pytest.raises(StoreError, match=f"No report has the number {number}"):
            act(number)
    assert len(store.list()) == 2


# JSON


def test_json_imports_without_loss(
    file_store: ReportStore, document: ReportDocument, tmp_path: Path
) -> None:
    saved = file_store.save(
        document, "name", "notes\nof two lines", tags=["a"], author="Kim", results=[RESULT]
    )
    exported = json.loads(FORMS["json"].make(saved))
    file = read_report(exported)
    empty = open_store(f"sqlite:///{tmp_path / 'empty.sqlite'}")
    again = empty.save(
        file.document,
        file.name,
        file.notes,
        tags=file.tags,
        author=file.author,
        results=file.results,
    )
    second = json.loads(FORMS["json"].make(again))
    assert second.pop("saved") != exported.pop("saved")
    assert second == exported


# Two people edit one report


def test_a_field_changed_by_another_tab_stays_and_is_reported(
    store: ReportStore, document: ReportDocument
) -> None:
    seen = store.save(document, "name", notes="before", tags=["a"])
    first = store.annotate(seen.id, name="mine", notes="theirs", tags=["a"], seen=seen)
    assert first.conflicts == ()
    second = store.annotate(seen.id, name="yours", notes="before", tags=["b"], seen=seen)
    assert (second.head.name, second.head.notes, second.head.tags) == ("mine", "theirs", ("b",))
    (conflict,) = second.conflicts
    assert (conflict.field, conflict.kept, conflict.refused) == ("name", "mine", "yours")
    for words in ("name", "'mine'", "'yours'"):
        assert words in str(conflict)


def test_the_same_change_twice_is_no_conflict(store: ReportStore, document: ReportDocument) -> None:
    seen = store.save(document, "name")
    for _ in range(2):
        assert store.annotate(seen.id, notes="same", seen=seen).conflicts == ()


# Two programs


def test_two_stores_see_each_other(
    file_store: ReportStore, document: ReportDocument, file: Path
) -> None:
    other = open_store(f"sqlite:///{file}")
    number = file_store.save(document, "from one tab").id
    assert other.annotate(number, name="from the other").head.id == number
    assert file_store.load(number).name == "from the other"


def test_programs_that_start_together_share_a_new_store(
    document: ReportDocument, file: Path
) -> None:
    code = (
        "import json, os, sys; from advisor.reports.store.store import open_store;"
        "from advisor.reports.document import from_json;"
        "d = from_json(json.load(open(sys.argv[1]))); s = open_store();"
        "[s.save(d, f'{os.getpid()} {i}') for i in range(5)]; s.save(d, 'of all')"
    )
    command = [sys.executable, "-c", code, str(SAMPLE)]
    root = Path(__file__).parents[3]
    programs = [subprocess.Popen(command, cwd=root) for _ in range(3)]
    assert [program.wait(60) for program in programs] == [0, 0, 0]
    assert len(open_store().list()) == 16  # the one that all saved is one


def test_a_busy_store_says_so(
    file_store: ReportStore,
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
    file_store: ReportStore, document: ReportDocument, file: Path
) -> None:
    number = file_store.save(document, "kept").id
    frozen = open_store(f"sqlite:///file:{file}?mode=ro&uri=true")
    assert frozen.load(number).document == document
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        frozen.delete(number)
    assert file_store.load(number).name == "kept"


# Places that go away


def test_a_deleted_file_is_no_place_to_save(
    file_store: ReportStore, document: ReportDocument, file: Path
) -> None:
    number = file_store.save(document, "kept").id
    hidden = file.with_name("hidden")
    file.rename(hidden)
    for act in (
        lambda: file_store.save(document, "lost"),
        file_store.list,
        lambda: file_store.load(number),
    ):
        with pytest.raises(StoreError, match="is gone: it was moved or deleted"):
            act()
    assert not file.exists()
    hidden.rename(file)
    assert file_store.load(number).name == "kept"
    assert file_store.save(document, "after").id > number


def test_a_person_keeps_no_more_reports_than_the_server_allows(
    store: ReportStore, document: ReportDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_REPORTS_EACH", "2")
    mine = store.of("me")
    first = mine.save(document, "first")
    _ = mine.save(document, "second")
    with pytest.raises(StoreError, match=r"You have 2 saved reports, .* Nothing was saved"):
        mine.save(document, "third")
    assert mine.save(document, "first").id == first.id, "the same one again is no further one"
    mine.delete(first.id)  # it can be restored, so it takes its place still
    with pytest.raises(StoreError, match="2 saved reports"):
        mine.save(document, "third")
    assert [head.name for head in mine.list()] == ["second"]
    assert store.of("you").save(document, "another's").id > first.id
    # without a login there is nobody whose reports could be counted
    assert [store.save(document, f"shared {at}").name for at in range(3)][-1] == "shared 2"
    monkeypatch.setenv("ADVISOR_REPORTS_EACH", "many")
    with pytest.raises(StoreError, match="'many'; it must be a whole number"):
        mine.save(document, "third")


def test_a_full_disk_is_a_sentence_and_loses_nothing(
    file_store: ReportStore, document: ReportDocument, file: Path
) -> None:
    kept = file_store.save(document, "kept")
    full = event_of_every_connection("PRAGMA max_page_count = 1")  # no page more than there are
    large = replace(document, command="x" * 20_000)
    with full, pytest.raises(StoreError, match=r"no room left .* nothing was changed"):
        file_store.save(large, "does not fit")
    assert [head.name for head in file_store.list()] == ["kept"]
    assert file_store.load(kept.id) == kept
    assert file_store.save(document, "after some was freed").id > kept.id
    with tables_in(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@contextmanager
def tables_in(file: Path) -> Iterator[sqlite3.Connection]:
    """Tables of a file; changes are kept, and the connection is closed."""
    with closing(sqlite3.connect(file)) as connection, connection:
        yield connection


@contextmanager
def event_of_every_connection(statement: str) -> Iterator[None]:
    """Runs a statement on every connection to SQLite that is made meanwhile."""

    def run(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(statement)

    event.listen(Pool, "connect", run)
    try:
        yield
    finally:
        event.remove(Pool, "connect", run)


def test_a_file_put_in_its_place_is_opened(
    file_store: ReportStore, document: ReportDocument, file: Path
) -> None:
    file_store.save(document, "one")
    file.unlink()
    shutil.copy(KEPT_TABLES, file)
    assert [head.name for head in file_store.list()] == KEPT_NAMES


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="folders have other rights there")
@pytest.mark.parametrize("opened", [False, True], ids=["closed", "open elsewhere"])
def test_a_read_only_folder_shows_its_reports(
    document: ReportDocument, open_folder: Path, *, opened: bool
) -> None:
    place = open_folder / "reports.sqlite"
    writer = open_store(f"sqlite:///{place}")
    writer.save(document, "kept")
    if opened:
        held = sqlite3.connect(place)
    else:
        held = None
    if held is not None:
        held.execute("BEGIN")
        held.execute("SELECT * FROM reports")
        writer.save(document, "in the journal")
    place.chmod(0o444)
    open_folder.chmod(0o555)
    code = (
        "import json, os, sys; import sqlalchemy.dialects.sqlite.pysqlite, sqlite3\n"
        "from advisor.reports.store.store import open_store\n"
        "from advisor.reports.document import from_json\n"
        "from advisor.failures import StoreError\n"
        "if os.geteuid() == 0: os.setgroups([]), os.setgid(65534), os.setuid(65534)\n"
        "store = open_store(sys.argv[1]); print([head.name for head in store.list()])\n"
        "try: store.save(from_json(json.load(sys.stdin)), 'x')\n"
        "except StoreError as error: print(error)"
    )  # nothing is forbidden to root, who becomes nobody
    run = subprocess.run(
        [sys.executable, "-c", code, f"sqlite:///{place}"],
        cwd=Path(__file__).parents[3],
        input=SAMPLE.read_text(encoding="utf-8"),
        capture_output=True,
        text=True,
        check=False,
    )
    open_folder.chmod(0o755)
    if held is not None:
        held.close()
    assert run.returncode == 0, run.stderr
    assert "'kept'" in run.stdout
    assert ("'in the journal'" in run.stdout) == opened
    assert "cannot be opened for writing" in run.stdout


def test_every_damaged_byte_is_a_sentence_or_harmless(file: Path) -> None:
    file.parent.mkdir(parents=True)
    whole = KEPT_TABLES.read_bytes()
    names = set()
    places = (*range(0, 4096, 127), *range(4096, len(whole), 4093))  # the first page has the tables
    for place in places:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xA5]) + whole[place + 1 :])
        try:
            store = open_store()
            for head in store.list("server"):
                store.load(head.id)
        except (StoreError, InputError) as error:
            names.add(str(error)[:40])
        for rest in file.parent.iterdir():
            rest.unlink()
    assert names


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
    file_store: ReportStore, document: ReportDocument, file: Path, content: str
) -> None:
    broken = file_store.save(document, "broken").id
    whole = file_store.save(document, "whole").id
    with tables_in(file) as other:
        other.execute(
            "UPDATE report_contents SET document = ? WHERE report_id = ?", (content, broken)
        )
    with pytest.raises(StoreError):
        file_store.load(broken)
    assert [head.id for head in file_store.list()] == [whole, broken]
    assert file_store.load(whole).document == document


# Versions of the tables


def test_a_table_of_another_program_is_not_touched(file: Path) -> None:
    file.parent.mkdir(parents=True)
    with tables_in(file) as other:
        other.execute("CREATE TABLE reports (theirs TEXT)")
    with pytest.raises(StoreError, match="of another program"):
        open_store()


def test_tables_of_a_newer_version_are_refused(
    file_store: ReportStore, document: ReportDocument, file: Path
) -> None:
    file_store.save(document, "kept")
    with tables_in(file) as other:
        other.execute("UPDATE report_schema SET version = 99")
    with pytest.raises(StoreError, match=r"newer Offload Advisor .*version 99.*Update"):
        open_store()
    with tables_in(file) as other:
        assert other.execute("SELECT count(*) FROM reports").fetchone() == (1,)


def _add_rating(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE reports ADD COLUMN rating INTEGER"))


def _fail(connection: Connection) -> None:
    _add_rating(connection)
    connection.execute(text("SELECT nothing FROM nowhere"))


def test_older_tables_are_brought_forward(
    file_store: ReportStore, document: ReportDocument, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = file_store.save(document, "old").id
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, _add_rating))
    assert open_store().load(number).document == document
    with tables_in(file) as other:
        assert other.execute("SELECT version FROM report_schema").fetchall() == [
            (migrations.newest_version(),)
        ]
        assert other.execute("SELECT rating FROM reports").fetchall() == [(None,)]
    open_store()  # a second start finds nothing left to do


def test_a_step_that_fails_changes_nothing(
    file_store: ReportStore, document: ReportDocument, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_store.save(document, "old")
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, _fail))
    with pytest.raises(StoreError):
        open_store()
    with tables_in(file) as other:
        assert other.execute("SELECT version FROM report_schema").fetchall() == [
            (migrations.newest_version() - 1,)
        ]
        columns = [row[1] for row in other.execute("PRAGMA table_info(reports)")]
    assert "rating" not in columns


def test_tables_from_before_the_first_release_are_left_as_they_are(file: Path) -> None:
    file.parent.mkdir(parents=True)
    with tables_in(file) as tables:
        tables.execute("CREATE TABLE report_schema (version INTEGER NOT NULL PRIMARY KEY)")
        tables.execute("INSERT INTO report_schema VALUES (1)")
    with pytest.raises(StoreError, match=r"tables of version 1\). Move it elsewhere"):
        open_store()
    with tables_in(file) as tables:
        assert tables.execute("SELECT version FROM report_schema").fetchall() == [(1,)]
