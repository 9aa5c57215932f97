"""The files for containers name existing settings, paths and health checks, and one cookie."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from driving import free_port

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
CADDYFILE = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")


def test_two_replicas_share_a_database_and_a_secret() -> None:
    services = COMPOSE["services"]
    replicas = [name for name in services if name.startswith("app")]
    assert len(replicas) == 2
    for name in replicas:
        settings = services[name]["environment"]
        assert settings["ADVISOR_DATABASE_URL"].startswith("postgresql://")
        assert settings["STREAMLIT_SERVER_COOKIE_SECRET"]
        assert services[name]["depends_on"]["db"]["condition"] == "service_healthy"
        assert f"{name}:8501" in CADDYFILE


def test_no_secret_has_a_default() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    for name in ("ADVISOR_DB_PASSWORD", "ADVISOR_COOKIE_SECRET"):
        uses = re.findall(rf"\$\{{{name}([^}}]*)\}}", text)
        assert uses
        assert all(use.startswith(":?") for use in uses)


def test_settings_of_the_program_exist() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("advisor/**/*.py"))
    for name in COMPOSE["services"]["app1"]["environment"]:
        assert name.startswith("STREAMLIT_") or name in source, name


def test_settings_of_streamlit_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit import config

    known = {
        "STREAMLIT_" + re.sub(r"(?<!^)(?=[A-Z])", "_", key.replace(".", "_")).upper()
        for key in config.get_config_options()
    }
    text = f"{DOCKERFILE}\n{' '.join(COMPOSE['services']['app1']['environment'])}"
    named = set(re.findall(r"STREAMLIT_[A-Z_]+", text))
    assert named
    assert named <= known


def test_the_proxy_keeps_a_visitor_with_one_replica_and_looks_after_both() -> None:
    assert "lb_policy cookie" in CADDYFILE
    assert "health_uri /_stcore/health" in CADDYFILE
    assert "/_stcore/health" in DOCKERFILE
    assert COMPOSE["services"]["db"]["healthcheck"]["test"][1] == "pg_isready"


def test_the_image_has_all_files_of_the_program_and_is_not_run_by_root() -> None:
    for line in re.findall(r"^COPY (\S+)", DOCKERFILE, re.MULTILINE):
        assert (ROOT / line).exists(), line
    assert re.search(r"^USER advisor$", DOCKERFILE, re.MULTILINE)
    assert os.path.normpath(COMPOSE["x-app"]["build"]["dockerfile"]) == "deploy/Dockerfile"


def steps(word: str) -> list[str]:
    """Arguments of the image's steps of a kind, in order; lines that go on are joined."""
    whole = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{word} +(.+)$", whole, re.MULTILINE)


def test_every_step_of_the_image_is_one_that_is_checked_here() -> None:
    lines = DOCKERFILE.replace("\\\n", " ").splitlines()
    words = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert words == [
        "FROM",
        "WORKDIR",
        "COPY",
        "RUN",
        "COPY",
        "COPY",
        "COPY",
        "COPY",
        "RUN",
        "USER",
        "ENV",
        "EXPOSE",
        "HEALTHCHECK",
        "CMD",
    ]
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    oldest = re.search(r'requires-python = ">=3\.(\d+)"', declared)
    stated = re.fullmatch(r"python:3\.(\d+)-slim", steps("FROM")[0])
    assert oldest is not None
    assert stated is not None
    assert int(stated[1]) >= int(oldest[1])
    # what it installs beside the requirements is an extra of the package, with the same bounds
    for needed in re.findall(r'"([^"]+)"', steps("RUN")[0]):
        assert f'"{needed}"' in declared, needed


def test_what_the_image_copies_starts_and_is_healthy(tmp_path: Path) -> None:
    """Its command and health check, from a folder with the files that it copies and no other."""
    for step in steps("COPY"):
        source, target = step.split()
        into = tmp_path / target
        into.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, into, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, into)
    port = str(free_port())
    module = [sys.executable, "-m"]
    (command,) = map(json.loads, steps("CMD"))
    (check,) = re.findall(r"CMD python -c (.+)$", steps("HEALTHCHECK")[0])
    settings = dict(setting.split("=") for setting in steps("ENV"))
    environment = {
        **os.environ,
        **settings,
        "STREAMLIT_SERVER_PORT": port,
        "ADVISOR_PUBLIC": "on",
        "ADVISOR_DATA_DIR": str(tmp_path / "kept"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    health = [sys.executable, "-c", shlex.split(check.replace("8501", port))[0]]
    assert subprocess.run(health, check=False, **quiet).returncode, "nothing runs there yet"
    server = subprocess.Popen([*module, *command], cwd=tmp_path, env=environment, **quiet)
    try:
        for _ in range(240):
            assert server.poll() is None, "it ended by itself"
            if subprocess.run(health, check=False, **quiet).returncode == 0:
                break
            time.sleep(0.5)
        else:
            pytest.fail("it is not healthy after two minutes")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    estimate = [*module, "advisor", "estimate", "--model=Llama-3.1-8B", "--gpu=RTX 3090", "--json"]
    ran = subprocess.run(estimate, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert json.loads(ran.stdout)


def test_the_image_is_built_and_healthy() -> None:
    """With Docker or Podman, where a registry gives its base."""
    tools = [tool for tool in ("podman", "docker") if shutil.which(tool)]
    able = [
        tool
        for tool in tools
        if subprocess.run([tool, "info"], capture_output=True, check=False).returncode == 0
    ]
    if not able:
        pytest.skip("neither Podman nor a running Docker is here; its steps are checked above")
    tool = able[0]
    image = "offload-advisor-test"
    if subprocess.run([tool, "pull", *steps("FROM")], capture_output=True, check=False).returncode:
        pytest.skip(f"no registry gives {steps('FROM')[0]}; its steps are checked above")
    build = [tool, "build", "-q", "-t", image, "-f", "deploy/Dockerfile", "."]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    run = [tool, "run", "-d", "--rm", image]
    started = subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()
    try:
        user = [tool, "exec", started, "id", "-u"]
        assert (
            subprocess.run(user, check=True, capture_output=True, text=True).stdout.strip() != "0"
        )
        health = [tool, "inspect", "-f", "{{.State.Health.Status}}", started]
        for _ in range(120):
            shown = subprocess.run(health, check=True, capture_output=True, text=True).stdout
            if shown.strip() == "healthy":
                break
            time.sleep(1)
        else:
            pytest.fail(f"the container is {shown.strip()}")
    finally:
        subprocess.run([tool, "rm", "-f", started], check=False, capture_output=True)
