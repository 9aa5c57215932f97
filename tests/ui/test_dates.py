"""How we know, Dates: what is how old, and a button where the server may."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_app import app, page_text

from advisor.catalog import renewed
from advisor.refresh import renewal
from advisor.refresh.renewal import RenewalResult
from advisor.ui.accuracy import dates
from advisor.ui.parts import audience


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(audience, "is_public", lambda: False)
    for name in ("ADVISOR_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    dates.renewer.clear()
    yield
    dates.renewer.clear()


def opened() -> AppTest:
    return app("accuracy", knowledge="Dates")


def test_every_table_has_its_day_age_source_and_licence() -> None:
    text = page_text(opened())
    for row in renewed.tables().values():
        assert row.what[1:] in text
        assert row.source in text
        assert not row.read or row.read in text
    assert "CC BY 4.0" in text
    assert "never" in text  # no rates are shipped


def test_the_button_renews_and_says_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(table: str, *_: object) -> RenewalResult:
        if table == "rents":
            return RenewalResult(table=table, what="rents", day="", failed="It did not answer.")
        return RenewalResult(
            table=table, what=table, day="", kept=True, rows=5, new=("a",), left_out=("b: odd",)
        )

    monkeypatch.setattr(renewal, "renew", told)
    test = opened()
    test.button(key="renew").click().run()
    deadline = time.monotonic() + 20
    while dates.renewer().job.running and time.monotonic() < deadline:
        time.sleep(0.01)
    text = page_text(test.run())
    assert "Models: 5 rows, 1 new, 1 left out (b: odd)." in text
    assert "Rents: It did not answer." in text


def test_strangers_of_a_server_renew_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audience, "is_public", lambda: True)
    test = opened()
    assert not [button for button in test.button if button.key == "renew"]
    assert "Whoever runs this server renews them" in page_text(test)


def test_without_a_network_there_is_no_button(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_OFFLINE", "1")
    test = opened()
    assert not [button for button in test.button if button.key == "renew"]
    assert "switched off" in page_text(test)
