"""A Hub that answers as none does, or not at all: a sentence, within one deadline."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_servers import HOSTILE, hostile, let_go

from advisor import deadline
from advisor.errors import AdvisorError
from advisor.failures import NetworkError
from advisor.model import hub
from advisor.model.hub import Limits, describe_repository, fetch
from advisor.permission import Permission, narrowed

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""Sockets of exchanges that were left are closed by Python's collector."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A Hub that never ends is waited for a third of a second."""
    monkeypatch.setattr(hub, "LIMITS", Limits(seconds=0.3, retries=0, pause=0.01))
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    for name in ("ADVISOR_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    yield
    let_go()


@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_it_sends_there_is_a_sentence(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile(HOSTILE[kind]) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        with pytest.raises(AdvisorError) as error:
            describe_repository("owner/name")
    assert len(str(error.value)) < 500
    assert str(error.value).isprintable()


def test_a_hub_that_hangs_takes_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "_FREE", threading.BoundedSemaphore(3))
    before = threading.active_count()
    with hostile(HOSTILE["a header line now and then"]) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        for _ in range(10):
            with pytest.raises(NetworkError, match="did not answer in time"):
                fetch(f"{url}/api", cap=1000)
        ours = [each for each in threading.enumerate() if each.name == "exchange"]
        assert len(ours) <= 3
    assert before <= threading.active_count()


def test_a_token_serves_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    url = f"{hub.endpoint()}/api/models/owner/name"
    assert "secret" in str(hub._headers(url))
    with narrowed(Permission(token=False)):
        assert "secret" not in str(hub._headers(url))


def test_what_is_kept_of_repositories_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MOST_KEPT", 5)
    for number in range(20):
        hub._keep(hub._folder(f"owner/name{number}") / "refs" / "main.json", b"x" * 100)
    assert len(list((tmp_path / "hub" / "owner").iterdir())) == 5
    monkeypatch.setattr(hub, "MOST_BYTES", 250)
    hub._keep(hub._folder("owner/last") / "refs" / "main.json", b"x" * 100)
    kept = {folder.name for folder in (tmp_path / "hub" / "owner").iterdir()}
    assert "last" in kept
    assert len(kept) <= 2
