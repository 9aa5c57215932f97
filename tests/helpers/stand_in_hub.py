"""A Hub on this machine: lists of models, listings of repositories, and parts of their files.

Its answers have the form of the real one's, which `tests/refresh/test_hub_form.py` has read by the
Hub's own client: entries and their keys, pages with a Link, weights behind a redirect, errors by
their code (https://huggingface.co/docs/hub/api; huggingface_hub 2.4.0).
"""

import hashlib
import json
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

COMMIT = "c" * 40
CONTENT = "/xet-bridge-us"  # place of large files, to which their addresses redirect
MOST_OF_A_PAGE = 1000  # most entries of a page of a list, whatever its `limit` says
Shapes = Mapping[str, tuple[int, ...]]  # shape of each tensor by name


def safetensors(shapes: Shapes, dtype: str = "BF16") -> bytes:
    """Beginning of a safetensors file with some tensors: its header, without their bytes."""
    told: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape in shapes.items():
        size = 2
        for length in shape:
            size *= length
        told[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(told).encode()
    return struct.pack("<Q", len(text)) + text


@dataclass
class StandIn:
    """What the server holds, how it misbehaves, and what it was asked."""

    configs: dict[str, Mapping[str, object] | bytes] = field(default_factory=dict)
    shapes: dict[str, Shapes] = field(default_factory=dict)
    parameters: dict[str, int] = field(default_factory=dict)
    downloads: dict[str, int] = field(default_factory=dict)
    listing: bytes | None = None  # what it answers in place of its lists
    down_after: int | None = None  # answers until it says that it is busy
    requested: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def names(self) -> list[str]:
        return sorted(self.configs, key=lambda name: -self.downloads.get(name, 0))

    def answer(self, path: str, query: Mapping[str, list[str]]) -> bytes | None:
        """Body of an answer; None where there is no such thing."""
        if path == "/api/models":
            return self.listed(query)
        if path.startswith("/api/models/"):
            return self.told(path.removeprefix("/api/models/").removesuffix("/revision/main"))
        path = path.removeprefix(CONTENT).replace("/resolve/main/", f"/resolve/{COMMIT}/")
        name, _, file = path.lstrip("/").partition(f"/resolve/{COMMIT}/")
        if name in self.configs and file == "config.json":
            config = self.configs[name]
            return config if isinstance(config, bytes) else json.dumps(config).encode()
        if name in self.shapes and file == "model.safetensors":
            return safetensors(self.shapes[name])
        return None

    def listed(self, query: Mapping[str, list[str]]) -> bytes:
        if self.listing is not None:
            return self.listing
        if query["pipeline_tag"] != ["text-generation"]:
            return b"[]"
        first = int(query.get("cursor", ["0"])[0])
        count = min(int(query["limit"][0]), MOST_OF_A_PAGE)
        rows = [self.entry(name) for name in self.names()[first : first + count]]
        return json.dumps(rows).encode()

    def entry(self, name: str) -> dict[str, object]:
        """A repository as a list has it."""
        return {
            "_id": hashlib.sha256(name.encode()).hexdigest()[:24],
            "id": name,
            "likes": 3,
            "trendingScore": 1,
            "private": False,
            "downloads": self.downloads.get(name, 0),
            "tags": ["transformers", "safetensors", "text-generation", "region:us"],
            "pipeline_tag": "text-generation",
            "library_name": "transformers",
            "createdAt": "2026-11-28T04:00:00.000Z",
            "modelId": name,
        }

    def link(self, path: str, query: Mapping[str, list[str]]) -> str:
        """Address of the page behind one of a list; empty for the last."""
        first = int(query.get("cursor", ["0"])[0])
        behind = first + min(int(query["limit"][0]), MOST_OF_A_PAGE)
        if behind >= len(self.configs) or query["pipeline_tag"] != ["text-generation"]:
            return ""
        further = {**{key: values[0] for key, values in query.items()}, "cursor": str(behind)}
        return f"{self.url}{path}?{urlencode(further)}"

    def told(self, name: str) -> bytes | None:
        if name not in self.configs:
            return None
        counted = self.parameters.get(name, 0)
        config = self.answer(f"/{name}/resolve/{COMMIT}/config.json", {}) or b""
        blob = hashlib.sha256(config).hexdigest()
        siblings = [{"rfilename": "config.json", "size": len(config), "blobId": blob[:40]}]
        if name in self.shapes:
            size = 2 * counted + 10**6
            stored = {"sha256": blob, "size": size, "pointerSize": 135}
            weights = {"rfilename": "model.safetensors", "size": size, "blobId": blob[:40]}
            siblings.append({**weights, "lfs": stored})
        told = {
            **self.entry(name),
            "sha": COMMIT,
            "lastModified": "2026-11-28T05:00:00.000Z",
            "gated": False,
            "disabled": False,
            "siblings": siblings,
            "usedStorage": 10**6,
        }
        if counted:
            told["safetensors"] = {"parameters": {"BF16": counted}, "total": counted}
        return json.dumps(told).encode()


class Handler(BaseHTTPRequestHandler):
    # Without it the body waits for the confirmation of the header, 40 ms for each request.
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    hub: StandIn

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class' name
        pass

    def do_GET(self) -> None:
        held = self.hub
        held.requested.append(self.path)
        held.headers.append({name.casefold(): value for name, value in self.headers.items()})
        if held.down_after is not None and len(held.requested) > held.down_after:
            return self.send(503, b"{}")
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        body = held.answer(parts.path, query)
        if body is None:
            missing = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
            return self.send(401, b'{"error":"Repository not found"}', missing)
        if parts.path == "/api/models" and (link := held.link(parts.path, query)):
            return self.send(200, body, {"Link": f'<{link}>; rel="next"'})
        if parts.path.endswith(".safetensors") and not parts.path.startswith(CONTENT):
            return self.send(302, b"", {"Location": f"{CONTENT}{parts.path}"})
        wanted = self.headers.get("Range")
        if wanted is None:
            return self.send(200, body, {"X-Repo-Commit": COMMIT, "ETag": '"a"'})
        first, last = map(int, wanted.removeprefix("bytes=").split("-"))
        told = {"Content-Range": f"bytes {first}-{last}/*"}
        return self.send(206, body.ljust(last + 1, b"\0")[first : last + 1], told)

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815  the base class' name


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up early is what some tests are about."""


@contextmanager
def running(held: StandIn) -> Iterator[StandIn]:
    """The server, with its address."""
    handler = type("Bound", (Handler,), {"hub": held})
    server = Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    held.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield held
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
