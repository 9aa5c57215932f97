"""Workflows: a shape that GitHub runs, pinned actions, few rights, no words of others in shells."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PATHS = sorted((ROOT / ".github/workflows").glob("*.yml"))
KEYS = {"name", "on", "permissions", "concurrency", "jobs", "env", "defaults", "run-name"}
JOB_KEYS = {
    "runs-on",
    "timeout-minutes",
    "permissions",
    "env",
    "steps",
    "needs",
    "if",
    "strategy",
    "outputs",
    "name",
}
STEP_KEYS = {
    "name",
    "uses",
    "with",
    "run",
    "env",
    "id",
    "if",
    "shell",
    "working-directory",
    "continue-on-error",
    "timeout-minutes",
}
OF_OTHERS = re.compile(r"\$\{\{[^}]*github\.(?:event|head_ref)")
"""Words of issues and branches, which anybody writes."""
EXPRESSION = re.compile(r"\$\{\{")


class Workflow(yaml.SafeLoader):
    """YAML in which `on` is a word, not a yes."""


Workflow.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:bool"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(encoding="utf-8"), Workflow)


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


@pytest.fixture(params=PATHS, ids=lambda path: path.name)
def workflow(request: pytest.FixtureRequest) -> dict[str, Any]:
    return read(request.param)


def test_there_is_one_that_refreshes() -> None:
    assert "refresh.yml" in {path.name for path in PATHS}


def test_keys_are_those_of_a_workflow(workflow: dict[str, Any]) -> None:
    assert set(workflow) <= KEYS
    assert {"on", "jobs", "permissions"} <= set(workflow)
    for job in workflow["jobs"].values():
        assert set(job) <= JOB_KEYS
        assert re.fullmatch(r"ubuntu-\d\d\.\d\d", job["runs-on"])  # no moving label
        assert 0 < int(job["timeout-minutes"]) <= 360
    for step in steps(workflow):
        assert set(step) <= STEP_KEYS
        assert step["name"]
        assert ("uses" in step) != ("run" in step)


def test_ids_are_unique_and_outputs_are_of_earlier_steps(workflow: dict[str, Any]) -> None:
    seen: list[str] = []
    for step in steps(workflow):
        for named in re.findall(r"\bsteps\.([\w-]+)\.", yaml.safe_dump(step)):
            assert named in seen
        if "id" in step:
            assert step["id"] not in seen
            seen.append(step["id"])


def test_actions_are_pinned_to_commits_with_their_version(workflow: dict[str, Any]) -> None:
    for step in steps(workflow):
        if "uses" in step and not step["uses"].startswith("./"):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
    text = "".join(path.read_text(encoding="utf-8") for path in PATHS)
    pinned = re.findall(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40}(.*)", text)
    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", rest) for rest in pinned)


def test_rights_are_named_and_few(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] in ({}, {"contents": "read"})
    allowed = {"contents": {"read", "write"}, "issues": {"read"}, "pull-requests": {"write"}}
    for job in workflow["jobs"].values():
        for name, right in job.get("permissions", {}).items():
            assert right in allowed.get(name, set()), name


def test_times_are_of_a_calendar(workflow: dict[str, Any]) -> None:
    for entry in workflow["on"].get("schedule", []):
        minute, hour, day, month, weekday = entry["cron"].split()
        assert 0 <= int(minute) < 60
        assert 0 <= int(hour) < 24
        assert 1 <= int(day) <= 28  # of every month
        assert (month, weekday) == ("*", "*")


def test_no_words_of_others_are_read_by_a_shell(workflow: dict[str, Any]) -> None:
    for step in steps(workflow):
        assert not EXPRESSION.search(step.get("run", ""))  # values come by the environment
        assert not OF_OTHERS.search(yaml.safe_dump(step))


def test_shells_can_read_their_scripts(workflow: dict[str, Any]) -> None:
    for step in steps(workflow):
        if "run" in step:
            ran = subprocess.run(["bash", "-n"], input=step["run"], text=True, check=False)
            assert ran.returncode == 0, step["name"]


def test_modules_that_are_run_exist(workflow: dict[str, Any]) -> None:
    text = "\n".join(step.get("run", "") for step in steps(workflow))
    for module in re.findall(r"python -m ((?:lab|advisor|benchmarks)[\w.]*)", text):
        place = ROOT.joinpath(*module.split("."))
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module
