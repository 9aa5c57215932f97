"""`card`: a picture of the verdict in a file."""

import pytest

from advisor.cli.main import main

ASKED = ["card", "--model", "Llama-3.1-8B", "--gpu", "RTX 3090", "--ram-gb", "64"]


@pytest.mark.parametrize(
    ("name", "further", "start"),
    [
        ("card.png", [], b"\x89PNG"),
        ("card.svg", [], b"<svg"),
        ("badge.svg", ["--badge"], b"<svg"),
    ],
)
def test_a_file_is_written(name, further, start, tmp_path, capsys):
    path = tmp_path / name
    assert main([*ASKED, "-o", str(path), *further]) == 0
    assert path.read_bytes().startswith(start)
    assert "Llama 3.1 8B (Q4_K_M)" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["card.gif", "card"])
def test_another_kind_of_file_is_refused(name, tmp_path, capsys):
    assert main([*ASKED, "-o", str(tmp_path / name)]) == 2
    assert "a card is written as .svg or .png" in capsys.readouterr().err


def test_a_badge_is_no_png(tmp_path, capsys):
    assert main([*ASKED, "-o", str(tmp_path / "a.png"), "--badge"]) == 2
    assert "A badge is written as .svg" in capsys.readouterr().err
