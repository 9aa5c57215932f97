"""A Hub on this machine: lists of models, listings of repositories, and parts of their files."""

import json
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

COMMIT = "c" * 40
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
        if path.startswith("/api/models/") and path.endswith("/revision/main"):
            return self.told(path.removeprefix("/api/models/").removesuffix("/revision/main"))
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
        rows = [
            {"id": name, "downloads": self.downloads.get(name, 0), "createdAt": "2026-11-28T04:00"}
            for name in self.names()
        ]
        return json.dumps(rows[: int(query["limit"][0])]).encode()

    def told(self, name: str) -> bytes | None:
        if name not in self.configs:
            return None
        counted = self.parameters.get(name, 0)
        config = self.answer(f"/{name}/resolve/{COMMIT}/config.json", {}) or b""
        siblings = [{"rfilename": "config.json", "size": len(config)}]
        if name in self.shapes:
            siblings.append({"rfilename": "model.safetensors", "size": 2 * counted + 10**6})
        weights = {"parameters": {"BF16": counted}} if counted else {}
        told = {"id": name, "sha": COMMIT, "siblings": siblings, "safetensors": weights}
        return json.dumps(told).encode()


class Handler(BaseHTTPRequestHandler):
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
        body = held.answer(parts.path, parse_qs(parts.query))
        if body is None:
            return self.send(404, b"{}")
        wanted = self.headers.get("Range")
        if wanted is None:
            return self.send(200, body)
        first, last = map(int, wanted.removeprefix("bytes=").split("-"))
        told = {"Content-Range": f"bytes {first}-{last}/*"}
        return self.send(206, body.ljust(last + 1, b"\0")[first : last + 1], told)

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


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
