"""Repositories on Hugging Face, against a server on this machine that behaves like it."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from llama_config import LLAMA, PARAMS

from advisor.errors import InputError, Refusal, UnknownName
from advisor.failures import NetworkError
from advisor.model import hub
from advisor.model.hub import Limits, RemoteFile, describe_repository, repository

COMMIT = "a" * 40
QUICK = Limits(seconds=5.0, retries=2, pause=0.01)
GGUF = bytes(range(256)) * 20_000


class Hub:
    """What the server holds, how it misbehaves, and what it was asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {
            "config.json": json.dumps(LLAMA).encode(),
            "model.safetensors": b"",
            "model-Q4_K_M.gguf": GGUF,
            "UD/model-Q2_K.gguf": b"GGUF",
        }
        self.parameters: dict[str, int] = {"BF16": PARAMS}
        self.failures: list[tuple[int, dict[str, str]]] = []
        self.redirect = ""
        self.slow = 0.0
        self.sent = 0
        self.content_length: int | None = None
        self.listing: bytes | None = None
        self.ranges = True
        self.requested: list[str] = []
        self.headers: list[dict[str, str]] = []

    def told(self, commit: str) -> bytes:
        siblings = [{"rfilename": name, "size": len(body)} for name, body in self.files.items()]
        siblings += [{"rfilename": "../../escape", "size": 1}, {"size": 3}]
        counted = {"parameters": self.parameters, "total": sum(self.parameters.values())}
        return (
            self.listing
            or json.dumps(
                {"id": "owner/name", "sha": commit, "siblings": siblings, "safetensors": counted}
            ).encode()
        )


class Handler(BaseHTTPRequestHandler):
    # Without it the body waits for the confirmation of the header, 40 ms for each request.
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class' name
        pass

    def do_GET(self) -> None:
        self.hub.requested.append(self.path)
        self.hub.headers.append({name.casefold(): value for name, value in self.headers.items()})
        if self.hub.failures:
            status, headers = self.hub.failures.pop(0)
            return self.answer(status, b"{}", headers)
        path = urlsplit(self.path).path
        if path.startswith("/api/models/owner/name/revision/"):
            return self.listing()
        if path.startswith(("/owner/name/resolve/", "/cdn/")):
            return self.file(path)
        return self.answer(404, b"{}")

    def listing(self) -> None:
        tag = f'"{COMMIT[:8]}{len(self.hub.files)}"'
        if self.headers.get("If-None-Match") == tag:
            return self.answer(304, b"")
        return self.answer(200, self.hub.told(COMMIT), {"ETag": tag})

    def file(self, path: str) -> None:
        if self.hub.redirect and not path.startswith("/cdn/"):
            return self.answer(302, b"", {"Location": self.hub.redirect})
        if path.startswith("/owner"):
            name = path.split("/", 5)[5]
        else:
            name = path.removeprefix("/cdn/")
        body = self.hub.files[name]
        text = self.headers.get("Range")
        if text and self.hub.ranges:
            first, last = map(int, text.removeprefix("bytes=").split("-"))
            told = {"Content-Range": f"bytes {first}-{last}/{len(body)}"}
            return self.answer(206, body[first : last + 1], told)
        return self.answer(200, body)

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status == 200 and "resolve" in self.path:
            wrong = self.hub.content_length
        else:
            wrong = None
        self.send_header("Content-Length", str(len(body) if wrong is None else wrong))
        self.end_headers()
        try:
            if self.hub.slow:
                for byte in body[:100]:
                    self.wfile.write(bytes([byte]))
                    self.hub.sent += 1
                    time.sleep(self.hub.slow)
            else:
                self.wfile.write(body)
        except OSError:
            return
        self.close_connection = wrong is not None


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up early is what some tests are about."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    held = Hub()
    handler = type("Bound", (Handler,), {"hub": held})
    running = Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{running.server_port}")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(hub, "LIMITS", QUICK)
    for variable in ("ADVISOR_OFFLINE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    yield held
    running.shutdown()
    running.server_close()
    thread.join()


def describe() -> Any:
    return describe_repository("owner/name")


def test_a_repository(server: Hub) -> None:
    server.files["model.safetensors"] = b"w" * 1000
    server.files["original/model.safetensors"] = b"w" * 5000
    described = describe()
    assert described.architecture.params == PARAMS
    assert (described.architecture.name, described.format, described.model) == (
        "name",
        "BF16-hf",
        None,
    )
    assert described.source.endswith(f"/owner/name/blob/{COMMIT}/config.json")
    assert described.notes == ()
    assert described.facts["commit"] == COMMIT
    assert described.facts["weight_bytes"] == "1000"
    assert described.facts["parameters BF16"] == str(PARAMS)


def test_a_difference_from_the_files_is_noted(server: Hub) -> None:
    server.parameters = {"BF16": int(PARAMS * 1.02)}
    assert "+2.0% beside the 8.030e9" in " ".join(describe().notes)
    server.parameters = {"BF16": int(PARAMS * 1.004)}
    server.files["README.md"] = b"changed"
    assert describe().notes == ()


def test_packed_weights_are_not_compared(server: Hub) -> None:
    quantized = {
        **LLAMA,
        "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128},
    }
    server.files["config.json"] = json.dumps(quantized).encode()
    server.parameters = {"I32": PARAMS // 8, "F16": 10**9}
    described = describe()
    assert (described.format, described.notes) == ("AWQ", ())


def test_hf_quant_config(server: Hub) -> None:
    told = {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}
    server.files["hf_quant_config.json"] = json.dumps(told).encode()
    assert describe().format == "NVFP4"


def test_names_that_leave_the_repository_are_dropped(server: Hub) -> None:
    assert set(repository("owner/name").files) == set(server.files)


def test_parts_of_a_file(server: Hub) -> None:
    file = RemoteFile("owner/name", "model-Q4_K_M.gguf")
    assert file.size == len(GGUF)
    assert file.read_at(0, 4) == GGUF[:4]
    assert file.read_at(1_000_003, 10) == GGUF[1_000_003:1_000_013]
    count = len(server.requested)
    assert file.read_at(1_000_020, 50) == GGUF[1_000_020:1_000_070]
    assert len(server.requested) == count, "read ahead"
    assert file.read_at(3_000_000, 3_000_000) == GGUF[3_000_000:]
    assert file.read_at(len(GGUF), 5) == b""
    assert server.headers[-1]["range"] == f"bytes=3000000-{len(GGUF) - 1}"


@pytest.mark.parametrize(("offset", "count"), [(-1, 4), (0, -1), (0, 2**40)])
def test_parts_that_cannot_be(server: Hub, offset: int, count: int) -> None:
    file = RemoteFile("owner/name", "model-Q4_K_M.gguf")
    with pytest.raises(InputError, match="cannot be read"):
        file.read_at(offset, count)


def test_an_unknown_file_is_named(server: Hub) -> None:
    with pytest.raises(UnknownName, match="model-Q4_K_M"):
        RemoteFile("owner/name", "model-Q4_K_S.gguf")


def test_a_server_without_ranges(server: Hub) -> None:
    server.ranges = False
    file = RemoteFile("owner/name", "model-Q4_K_M.gguf")
    with pytest.raises(NetworkError, match="more than"):
        file.read_at(0, 4)


def test_a_shorter_part_than_requested(server: Hub) -> None:
    file = RemoteFile("owner/name", "model-Q4_K_M.gguf")
    server.files["model-Q4_K_M.gguf"] = GGUF[:1000]
    with pytest.raises(NetworkError, match="1,000 bytes"):
        file.read_at(0, 5000)


def test_redirects_within_the_host(server: Hub) -> None:
    server.redirect = "/cdn/config.json"
    assert describe().architecture.params == PARAMS


@pytest.mark.parametrize(
    "target",
    [
        *("http://169.254.169.254/latest/meta-data", "https://example.com/config.json"),
        *("http://huggingface.co/x", "https://nothuggingface.co/x", "file:///etc/passwd"),
        *("https://huggingface.co.example.com/x", "http://127.0.0.1:1/config.json"),
    ],
)
def test_redirects_elsewhere_are_not_followed(server: Hub, target: str) -> None:
    server.redirect = target
    with pytest.raises(NetworkError, match="not part of Hugging Face"):
        describe()


def test_redirects_to_the_content_network_are_allowed() -> None:
    target = "https://cas-bridge.xethub.hf.co/xet/1"
    assert hub._next_address("https://huggingface.co/a/b", target) == target


def test_redirects_without_end(server: Hub) -> None:
    server.failures = [(302, {"Location": "/api/models/owner/name/revision/main"})] * 20
    with pytest.raises(NetworkError, match="without end"):
        describe()


def test_a_token_comes_from_the_environment_and_stays_at_home(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe()
    assert all("authorization" not in header for header in server.headers)
    monkeypatch.setenv("HF_TOKEN", "hf_" + "x" * 20)
    describe()
    assert server.headers[-1]["authorization"] == "Bearer hf_" + "x" * 20
    away = hub._headers("https://cdn-lfs.huggingface.co/file")
    assert "authorization" not in {name.casefold() for name in away}


@pytest.mark.parametrize(
    ("status", "headers", "error", "message"),
    [
        (401, {}, UnknownName, "HF_TOKEN"),
        (404, {}, UnknownName, "owner/name"),
        (403, {}, Refusal, "gated"),
        (401, {"X-Error-Code": "GatedRepo"}, Refusal, "Accept its terms"),
        (418, {}, NetworkError, "status 418"),
    ],
)
def test_refusals_of_the_server(
    server: Hub, status: int, headers: dict[str, str], error: type[Exception], message: str
) -> None:
    server.failures = [(status, headers)]
    with pytest.raises(error, match=message):
        describe()
    assert len(server.requested) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: Hub, status: int) -> None:
    server.failures = [(status, {}), (status, {})]
    assert describe().architecture.params == PARAMS


@pytest.mark.parametrize(("status", "message"), [(429, "busy"), (500, "problem")])
def test_a_server_that_stays_busy(server: Hub, status: int, message: str) -> None:
    server.failures = [(status, {})] * 9
    with pytest.raises(NetworkError, match=message):
        describe()
    assert len(server.requested) == 3


def test_a_slow_server(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    server.slow = 0.2
    monkeypatch.setattr(hub, "LIMITS", Limits(seconds=0.5, retries=0))
    with pytest.raises(NetworkError, match="in time"):
        describe()
    assert server.sent < 100  # a whole answer takes 20 s


def test_a_truncated_answer(server: Hub) -> None:
    server.content_length = len(server.files["config.json"]) + 50
    with pytest.raises(NetworkError, match="could not be reached"):
        describe()


def test_a_content_length_that_is_too_short(server: Hub) -> None:
    server.content_length = 20
    with pytest.raises(InputError, match="not readable JSON"):
        describe()


def test_a_config_that_is_too_large(server: Hub) -> None:
    server.files["config.json"] = b" " * 1_000_001
    with pytest.raises(NetworkError, match="1,000,000 bytes"):
        describe()


@pytest.mark.parametrize(
    "listing",
    [
        *(b"", b"[]", b"<html>", b"{}", b'{"sha": "main", "siblings": []}', b"[" * 100_000),
        b'{"sha": "' + b"a" * 40 + b'", "siblings": {}}',
    ],
)
def test_an_invalid_listing(server: Hub, listing: bytes) -> None:
    server.listing = listing or b" "
    with pytest.raises(NetworkError, match="answer about owner/name"):
        describe()


def test_a_damaged_config(server: Hub) -> None:
    server.files["config.json"] = b'{"model_type": "llama", "hidden_size": "many"}'
    with pytest.raises(InputError, match="hidden_size"):
        describe()


def test_an_unknown_family_is_refused(server: Hub) -> None:
    server.files["config.json"] = b'{"model_type": "retnet9000", "auto_map": {"x": "y"}}'
    with pytest.raises(Refusal, match="retnet9000"):
        describe()


@pytest.mark.parametrize(
    ("left", "message"),
    [
        ("model-Q4_K_M.gguf", "GGUF files. Name one of them: .*model-Q4_K_M.gguf"),
        ("README.md", "adapter"),
    ],
)
def test_a_repository_without_config(server: Hub, left: str, message: str) -> None:
    server.files = {left: b"x"}
    with pytest.raises(InputError, match=message):
        describe()


@pytest.mark.parametrize(
    "identity",
    [
        *("", "name", "a/b/c", "../etc", "a/..", "https://evil.example/x", "a b/c", "a/b\n"),
        *("a/b?x=1", "ä/b", "a/" + "b" * 300, "//", "a/b#c", "a/%2e%2e"),
    ],
)
def test_identities_that_cannot_be(server: Hub, identity: str) -> None:
    with pytest.raises(InputError, match="owner/name"):
        describe_repository(identity)
    assert server.requested == []


def test_answers_are_kept(server: Hub) -> None:
    describe()
    assert [text.split("?")[0].split("/")[1] for text in server.requested] == ["api", "owner"]
    describe()
    assert len(server.requested) == 3, "the listing is asked for again, with its ETag"
    assert "if-none-match" in server.headers[-1]


def test_a_changed_repository_is_noticed(server: Hub) -> None:
    describe()
    server.files["new.gguf"] = b"x"
    assert repository("owner/name").files["new.gguf"] == 1


def test_offline(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ADVISOR_OFFLINE", "HF_HUB_OFFLINE"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "1")
            with pytest.raises(NetworkError, match="switched off"):
                describe()
    assert server.requested == []


def test_an_earlier_answer_serves_offline_and_says_so(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe()
    monkeypatch.setenv("ADVISOR_OFFLINE", "1")
    assert "earlier answer" in " ".join(describe().notes)


def test_damaged_saved_files_are_fetched_again(server: Hub, tmp_path: Path) -> None:
    describe()
    (tmp_path / "data/hub/owner/name/refs/main.json").write_text("[" * 10_000)
    assert describe().notes == ()
    (tmp_path / "data/hub/owner/name/refs/main.json").write_text('{"etag": 7, "sha": null}')
    assert describe().notes == ()


def test_a_data_folder_that_cannot_be_written(
    server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "file"))
    assert describe().architecture.params == PARAMS


def test_no_server_at_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(NetworkError, match="could not be reached"):
        describe()


@pytest.mark.parametrize(
    "address", ["http://huggingface.co", "ftp://x", "huggingface.co", "http://10.0.0.1", "https://"]
)
def test_endpoints_that_cannot_be(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("HF_ENDPOINT", address)
    with pytest.raises(InputError, match="https"):
        hub.endpoint()


def test_the_usual_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert hub.endpoint() == "https://huggingface.co"


def test_huggingface_hub_is_imported_only_when_asked() -> None:
    code = (
        "import sys, advisor.model.hub, advisor.model.config.read, advisor.model.installed; "
        "sys.exit(any(name in sys.modules for name in ('huggingface_hub', 'httpx2')))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=os.environ, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("reader", ["config", "gguf", "hub"])
def test_readers_know_nothing_of_the_catalogue(reader: str) -> None:
    model = Path(__file__).parents[3] / "advisor" / "model"
    paths = [*(model / reader).rglob("*.py"), *model.glob(f"{reader}.py")]
    assert paths
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert "model.catalog" not in text
        assert "model import catalog" not in text
