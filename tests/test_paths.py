"""Folders of the program's files and of the user's data."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.catalog.csv_tables import product_folder
from advisor.paths import HOMELESS, data_folder

ROOT = Path(__file__).parents[1]


def test_the_files_of_a_clone_lie_beside_the_package():
    assert product_folder() == ROOT
    for name in ("data", "app.py", ".streamlit/config.toml"):
        assert (product_folder() / name).exists()


def test_the_environment_wins(monkeypatch, tmp_path):
    monkeypatch.setenv("ADVISOR_DATA_DIR", f"  {tmp_path} ")
    assert data_folder() == tmp_path


def test_a_user_without_a_home_lives_at_the_root(monkeypatch):
    monkeypatch.delenv("ADVISOR_DATA_DIR", raising=False)

    def unknown(*_):
        raise RuntimeError("could not determine the home directory")

    with monkeypatch.context() as patched:
        patched.setattr("platformdirs.user_data_dir", unknown)
        assert data_folder() == HOMELESS
    monkeypatch.setenv("ADVISOR_DATA_DIR", "~/data")
    monkeypatch.setattr(Path, "expanduser", unknown)
    assert data_folder() == HOMELESS


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root can become a user of no name"
)
def test_a_user_that_no_file_names_is_answered():
    environment = {name: text for name, text in os.environ.items() if name != "HOME"}
    environment.pop("ADVISOR_DATA_DIR", None)
    # Python itself may lie where root alone can see it: all that is needed is loaded before.
    code = """
import os, pwd
from advisor.paths import data_folder
data_folder()
os.setuid(54321)
print(data_folder())
"""
    done = subprocess.run(
        (sys.executable, "-c", code),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{HOMELESS}\n"
