"""data/runtimes/remarks.csv: each remark is of a runtime, a sentence, and has a source."""

from provenance import is_past

from advisor.catalog.csv_tables import DATA, read
from advisor.runtimes import ASIDE, RUNTIMES
from advisor.runtimes.remarks import RemarkRow, remarks_of


def test_every_remark_is_shown_beside_a_runtime_and_has_a_source() -> None:
    rows = read(DATA / "runtimes/remarks.csv", RemarkRow)
    shown = [words for each in (*RUNTIMES, *ASIDE) for words in remarks_of(each)]
    assert sorted(shown) == sorted(row.words for row in rows)
    for row in rows:
        assert row.words.endswith("."), row.words
        assert row.source, row.words
        assert is_past(row.retrieved), row.words
