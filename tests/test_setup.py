"""The tests' own set-up: they write to no place that the environment names."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_no_setting_of_the_environment_reaches_a_test(tmp_path: Path) -> None:
    """A test that saves a report, run with a database and a folder in the environment."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    named = {
        "ADVISOR_DATABASE_URL": f"sqlite:///{elsewhere / 'reports.sqlite'}",
        "ADVISOR_DATA_DIR": str(elsewhere),
        "ADVISOR_PUBLIC": "perhaps",
        "ADVISOR_REPORTS_EACH": "many",
        "HF_TOKEN": "secret",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, "tests/cli/test_cli.py", "-k", "save"],
        cwd=ROOT,
        env={**os.environ, **named},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-2000:]
    assert "passed" in ran.stdout
    assert list(elsewhere.iterdir()) == []


def test_data_lies_in_a_folder_of_the_tests() -> None:
    assert Path(os.environ["ADVISOR_DATA_DIR"]).name.startswith("advisor-tests-")
    assert "ADVISOR_DATABASE_URL" not in os.environ
