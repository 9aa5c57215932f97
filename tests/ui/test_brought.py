"""Runs of others on the page Your machine."""

import json
from pathlib import Path

import pytest
from result_samples import BENCHY
from streamlit.testing.v1 import AppTest
from ui_app import app, page_text, run

from advisor.ui.calibrate.brought import BY, FILE
from advisor.ui.calibrate.machine_view import RUNS


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))


def keeping(content: str) -> AppTest:
    """The page after a file was kept."""
    page = app("calibrate", machine_tab=RUNS, model="Qwen3-8B", gpu="RTX 3090", ram_gb="64")
    uploader = next(each for each in page.file_uploader if each.key == FILE)
    uploader.upload("run.json", content.encode(), "application/json")
    page.text_input(key=BY).set_value("Ada <b>")
    next(each for each in page.button if each.label == "Keep").click()
    return run(page)


def test_a_run_is_kept_shown_and_deleted() -> None:
    page = keeping(json.dumps(BENCHY))
    text = page_text(page)
    assert "Kept: Qwen3-8B, Q4_K_M, on RTX 3090" in text
    assert "Ada &lt;b&gt;" in text
    assert "50 tokens/s" in text
    page.button(key="brought_delete").click()
    text = page_text(run(page))
    assert "Deleted Qwen3-8B" in text
    assert "Ada" not in text


@pytest.mark.parametrize("content", ["{}", "x", "[]"])
def test_another_file_is_refused(content: str) -> None:
    assert "results" in page_text(keeping(content))


def test_without_a_file_it_says_so() -> None:
    page = app("calibrate", machine_tab=RUNS)
    next(each for each in page.button if each.label == "Keep").click()
    assert "Choose a file first." in page_text(run(page))


def test_strangers_bring_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_PUBLIC", "on")
    page = app("calibrate", machine_tab=RUNS)
    assert not [each for each in page.button if each.label == "Keep"]
