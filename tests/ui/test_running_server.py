"""A running server on the page Your machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hostile_servers import HOSTILE, hostile
from streamlit.testing.v1 import AppTest
from ui_app import app, page_text, run

from advisor.probes import http_answer
from advisor.ui.calibrate.machine_view import RUNNING
from advisor.ui.calibrate.running_server import ADDRESS, MODEL


class Counters(BaseHTTPRequestHandler):
    """llama-server's pages: 3,000 tokens that took `seconds` each."""

    seconds = 0.1

    def do_GET(self) -> None:
        """Counters and properties, as tools/server/README.md of llama.cpp has them."""
        total = 3000 * self.seconds
        pages = {
            "/metrics": f"llamacpp:tokens_predicted_total 3000\n"
            f"llamacpp:tokens_predicted_seconds_total {total}\n",
            "/props": json.dumps({"model_path": "/m/Qwen3-0.6B-Q8_0.gguf"}),
        }
        self.send_response(200 if self.path in pages else 404)
        self.end_headers()
        self.wfile.write(pages.get(self.path, "").encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """Address of a server of counters."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Counters) as counters:
        threading.Thread(target=counters.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{counters.server_port}"
        counters.shutdown()


def watching(url: str, model: str = "Qwen3-0.6B") -> AppTest:
    """The page with a server watched."""
    page = app("calibrate", machine_tab=RUNNING)
    page.text_input(key=ADDRESS).set_value(url)
    page.text_input(key=MODEL).set_value(model)
    page.button(key="server_start").click()
    return run(page)


def test_a_slow_server_has_its_cause_with_test_and_fix(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 0.05 tokens/s of a model of 0.6 GB: no processor is as slow
    monkeypatch.setattr(Counters, "seconds", 20.0)
    text = page_text(watching(server))
    assert "Slower than it should be:" in text
    assert "0.050 tokens/s" in text
    assert "Qwen3-0.6B-Q8_0.gguf" in text
    assert "It serves Q8_0" not in text  # no format was stated, so the file's is expected
    assert "<b>Test</b>" in text
    assert "<b>Fix</b>" in text


def test_a_few_tokens_are_not_judged(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counters, "seconds", 0.0)
    assert "has written too few tokens so far" in page_text(watching(server))


@pytest.mark.parametrize(
    ("url", "model", "words"),
    [
        ("http://192.0.2.1:8080", "Qwen3-0.6B", "is no address of this computer"),
        ("http://127.0.0.1:9", "Qwen3-0.6B", "does not answer"),
        ("http://127.0.0.1:9", "nothing-of-the-kind-9", "nothing-of-the-kind-9"),
    ],
)
def test_what_cannot_be_watched_is_said(url: str, model: str, words: str) -> None:
    assert words in page_text(watching(url, model))


def test_a_public_server_has_no_such_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_PUBLIC", "on")
    page = app("calibrate", machine_tab=RUNNING)
    assert not [each for each in page.text_input if each.key == ADDRESS]


@pytest.mark.parametrize("kind", ["an SSH port", "another host", "negative counters", "zero bytes"])
def test_a_server_that_answers_as_none_does_is_said_on_the_page(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_answer, "SECONDS", 0.3)
    with hostile(HOSTILE[kind]) as url:
        page = watching(url)
    assert not page.exception
    assert "Address of the server" in {box.label for box in page.text_input}
