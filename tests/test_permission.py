"""Permission: no input opens a file where files are closed; the system's own calls are watched."""

import builtins
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil  # noqa: F401  it looks at /proc when it is imported
import pytest

from advisor import given_files
from advisor.catalog.inputs import INPUTS
from advisor.cli import mcp
from advisor.errors import AdvisorError, InputError
from advisor.model import resolve
from advisor.permission import Permission, check_path, narrowed, opens, permitted
from advisor.request import texts
from advisor.request.request import Request

STRANGER = Permission(files=False, here=False)
PATHS = (
    "/etc/shadow", " /etc/shadow", "\t/etc/passwd", "~/.ssh/id_rsa", "~root/config.json",
    "./x.gguf", "../config.json",
    "..\\config.json", "C:\\Users\\x.gguf", "//192.0.2.1/share/x.gguf",
    "\\\\192.0.2.1\\share\\config.json", "config.json", "folder/config.json", "a/b/c.gguf",
    "owner/name/file.gguf", "x.gguf", " x.json ", "/proc/self/environ", "/dev/zero", "/", "~",
    "/tmp (a folder)", "C:\\ (Windows)", "~/x (mine)",
)  # fmt: skip
"""Names that a reader of files might look for."""


class Opened:
    """Paths that were looked at outside the folders of the program and of Python."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.watching = False
        self._own = (os.path.realpath(Path(__file__).parents[1]), sys.prefix, sys.base_prefix)

    def note(self, path: Any) -> None:
        """Note a path; looking it up is not watched itself."""
        if not self.watching or not isinstance(path, str | bytes | os.PathLike):
            return
        self.watching = False
        text = os.fsdecode(path)
        if not os.path.realpath(text.replace("\0", "")).startswith(self._own):
            self.paths.append(text)
        self.watching = True


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """What is opened, asked for or listed meanwhile, by any function of the system that does."""
    seen = Opened()
    for module, name in (
        (os, "stat"),
        (os, "lstat"),
        (os, "open"),
        (os, "listdir"),
        (os, "scandir"),
        (os, "access"),
        (io, "open"),
        (builtins, "open"),
    ):
        monkeypatch.setattr(module, name, _noting(seen, getattr(module, name)))
    seen.watching = True
    try:
        yield seen
    finally:
        seen.watching = False


def _noting(seen: Opened, real: Callable[..., Any]) -> Callable[..., Any]:
    def noted(path: Any = ".", *more: Any, **named: Any) -> Any:
        seen.note(path)
        return real(path, *more, **named)

    return noted


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No Hub is asked; what is kept of it lies in an empty folder."""
    monkeypatch.setenv("ADVISOR_OFFLINE", "1")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "data"))


def all_nouns(request: Request) -> None:
    """Build every noun of a request, whatever each says."""
    nouns = request.nouns()
    for name in ("resolved", "described", "owned", "work", "settings", "runtime", "ownership"):
        with suppress(AdvisorError):
            getattr(nouns, name)


def test_a_reader_that_is_closed_looks_at_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [entry.name for entry in INPUTS.values() if entry.limits is None]
    all_nouns(Request(model="Llama-3.1-8B", draft="Qwen3-0.6B", gpu="RTX 3090"))  # reads the tables
    with narrowed(STRANGER), watched(monkeypatch) as seen:
        for name in names:
            for path in PATHS:
                address = {"model": "Llama-3.1-8B", "gpu": "RTX 3090", name: path}
                all_nouns(texts.from_address(address).request)
    data = os.environ["ADVISOR_DATA_DIR"]
    assert [path for path in seen.paths if not path.startswith(data)] == []


def test_the_watch_sees_what_an_open_reader_looks_at(monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(monkeypatch) as seen:
        all_nouns(Request(model="/etc/shadow-that-is-none", gpu="RTX 3090"))
    assert any("shadow" in path for path in seen.paths)


@pytest.mark.parametrize("there", [True, False])
def test_a_path_has_one_sentence_whether_it_is_there_or_not(there: bool, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    if there:
        file.write_text('{"model_type": "llama", "hidden_size": 4096}')
    with narrowed(STRANGER):
        for spelled in (str(file), f" {file}", f"\t{file} "):
            for name in ("model", "draft"):
                values: dict[str, Any] = {"model": "Llama-3.1-8B", name: spelled}
                nouns = Request(**values).nouns()
                if name == "model":
                    noun = "resolved"
                else:
                    noun = "work"
                with pytest.raises(InputError, match="files of this computer are not read here"):
                    getattr(nouns, noun)
            with pytest.raises(InputError, match="not read here"):
                given_files.content(Path(spelled), 100)


@pytest.mark.parametrize("path", ["//192.0.2.1/share/x.gguf", "\\\\192.0.2.1\\share\\config.json"])
def test_a_path_to_another_computer_is_closed_where_files_are_open(path: str) -> None:
    with narrowed(Permission(network=False)):
        assert not opens(path)
        assert opens("/srv/models/x.gguf")
        with pytest.raises(InputError, match="two slashes"):
            check_path(path)
    with narrowed(STRANGER):
        assert not opens("/srv/models/x.gguf")
    with narrowed(Permission()):
        assert opens(path)


def test_permission_is_of_the_context_alone() -> None:
    assert permitted().files
    with narrowed(STRANGER):
        assert not permitted().files
        with narrowed(Permission(files=False)):
            assert permitted().here
        assert not permitted().here
    assert permitted().files


def test_a_stranger_is_not_shown_the_computer_of_the_server() -> None:
    with narrowed(STRANGER):
        for request in (Request(machine="this"), Request(machine=" THIS "), Request()):
            with pytest.raises(InputError, match="computer of this server"):
                _ = request.nouns().machine


@pytest.mark.parametrize("path", PATHS)
def test_an_assistant_names_no_file(path: str, tmp_path: Path) -> None:
    answers = []
    for name in ("model", "draft"):
        values = {"model": "Llama-3.1-8B", "gpu": "RTX 3090", name: path, "acceptance": 0.5}
        try:
            answers.append(mcp.answer("estimate", values, allow_files=False)[0])
        except AdvisorError as error:
            answers.append(str(error))
    assert not any("There is no file" in answer for answer in answers)


def test_a_name_that_ends_like_a_file_is_still_a_name() -> None:
    with narrowed(STRANGER):
        assert resolve.find("Llama-3.1-8B-Q4_K_M.gguf").model.format == "Q4_K_M"
