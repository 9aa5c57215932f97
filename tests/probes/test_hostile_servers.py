"""Hostile servers: whatever answers at the address of `watch`, there is a sentence, and an end."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from hostile_servers import HOSTILE, hostile, let_go

from advisor.cli.main import main
from advisor.failures import ProbeError
from advisor.probes import http_answer
from advisor.probes.server import read_server

MACHINE = ("--model", "Llama-3.1-8B", "--gpu", "RTX 3090", "--ram-gb", "64")


READ = ("a model's name that is a command of a terminal", "a JSON of numbers")
"""Servers whose figures are sound, whatever else they send."""


pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""Sockets of exchanges that were left are closed by Python's collector."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Servers that never end are waited for a third of a second."""
    monkeypatch.setattr(http_answer, "SECONDS", 0.3)
    yield
    let_go()


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_server_ends_in_an_error_of_python_or_none(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with hostile(HOSTILE[kind]) as url:
        code = main(["watch", url, *MACHINE, "--total"])
    printed = capsys.readouterr()
    assert code in ((0, 2) if kind in READ else (2,)), printed.out
    for text in (printed.out, printed.err):
        assert all(line.isprintable() for line in text.splitlines())
        assert len(text) < 2000


@pytest.mark.parametrize("kind", ["another host", "a file", "itself again"])
def test_no_redirect_is_followed(kind: str) -> None:
    with hostile(HOSTILE[kind]) as url:
        assert http_answer.got(urlsplit(url), "/metrics").status == 302


def test_an_ssh_port_is_called_one_that_is_no_web_server() -> None:
    with (
        hostile(HOSTILE["an SSH port"]) as url,
        pytest.raises(ProbeError, match="not as a web server"),
    ):
        read_server(url)
