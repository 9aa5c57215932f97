"""The files for containers name existing settings, paths and health checks, and one cookie."""

import os
import re
from pathlib import Path

import pytest
import yaml

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
