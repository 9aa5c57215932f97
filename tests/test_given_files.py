"""Files that a person names: ordinary ones within a limit, at every door."""

import os
from pathlib import Path

import pytest

from advisor import given_files
from advisor.cli.main import main
from advisor.errors import InputError

DOORS = {
    "a model": ("model", "{}"),
    "a scenario file": ("report", "run", "{}"),
    "a report": ("report", "import", "{}"),
    "measurements": ("calibration", "import", "{}", "--name", "box"),
    "results of a tool": (
        "diagnose", "--model", "Llama-3.1-8B", "--gpu", "RTX 3090", "--ram-gb", "64",
        "--results", "{}",
    ),
    "rows": ("predict", "{}"),
}  # fmt: skip
"""Commands that take a file, by what they take."""


def test_a_file_is_read_whole_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"x" * 100)
    assert given_files.content(file, 100) == b"x" * 100
    with pytest.raises(InputError, match=r"more than 99 bytes"):
        given_files.content(file, 99)


def test_a_mark_of_the_byte_order_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbfmodels: []")
    assert given_files.text(file, 100) == "models: []"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="no text in UTF-8"):
        given_files.text(file, 100)


@pytest.mark.parametrize("path", ["", "no such file", "a\0b", "x" * 5000])
def test_what_cannot_be_opened_is_refused_in_a_line(path: str) -> None:
    with pytest.raises(InputError) as error:
        given_files.content(Path(path), 100)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("door", DOORS)
def test_no_door_waits_for_a_pipe_or_reads_a_device(
    door: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "data"))
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    for path in (str(pipe), "/dev/zero", str(tmp_path)):
        assert main([word.format(path) for word in DOORS[door]]) != 0
        shown = capsys.readouterr().err
        assert len(shown) < 600, f"{door} {path}: {shown}"
        assert "Traceback" not in shown


def test_a_huge_file_with_holes_is_not_read_into_memory(tmp_path: Path) -> None:
    hole = tmp_path / "report.json"
    with hole.open("wb") as file:
        file.truncate(2**33)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        given_files.content(hole, 1000)
