"""Sources of all tables: a page that can be opened, never the address of a search."""

import re

from advisor.catalog.csv_tables import DATA

SEARCH = re.compile(r"https?://\S*?(?:/search(?=[/?#]|$)|[?&](?:q|query|search)=)")


def test_no_source_is_the_address_of_a_search() -> None:
    tables = sorted(DATA.rglob("*.csv"))
    assert len(tables) > 40
    for table in tables:
        lines = table.read_text(encoding="utf-8").splitlines()
        searches = [
            f"{table.name}, line {at}" for at, line in enumerate(lines, 1) if SEARCH.search(line)
        ]
        assert not searches, searches


def test_the_address_of_a_search_is_told_from_a_page() -> None:
    searches = (
        "https://github.com/search?type=code&q=%22Bosgame+M5%22",
        "https://www.google.com/search?q=rtx",
        "https://inforeader.com/i/?search=%23Mac",
    )
    pages = (
        "https://github.com/SearchSavior/OpenArc/issues/43",
        "https://thinksmart.life/research/posts/gpu-rig-budget-vs-pro",
        "https://www.digit.in/?p=921910",
    )
    assert all(map(SEARCH.search, searches))
    assert not any(map(SEARCH.search, pages))
