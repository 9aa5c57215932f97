"""The files for containers name existing settings, paths and health checks, and one cookie."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from driving import free_port
from packaging.utils import canonicalize_name
from postgresql import programs
from postgresql import server as postgresql
from proxy import program as proxy_program
from proxy import proxy

from advisor.reports.store.store import open_store
from benchmarks import licences

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
        "ARG",
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
    # on the Python that CI tests, the oldest that is supported
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    oldest = re.search(r'requires-python = ">=(3\.\d+)"', declared)
    assert oldest is not None
    assert steps("ARG") == [f"BASE=python:{oldest[1]}-slim"]
    assert steps("FROM") == ["${BASE}"]


def test_the_image_installs_what_the_checks_ran_with_and_nothing_of_unknown_content() -> None:
    """Every package that is needed, in the version of the lock, by the hash of its wheel."""
    assert "--require-hashes --only-binary=:all:" in steps("RUN")[0]
    text = (ROOT / "deploy/requirements.lock").read_text(encoding="utf-8")
    pinned = dict(
        re.findall(r"^([a-z0-9-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}", text, re.M)
    )
    assert len(pinned) == len(re.findall(r"^[^# ]", text, re.M))
    lock = (ROOT / ".ci/lock.txt").read_text(encoding="utf-8")
    checked = {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==(\S+)$", lock, re.M)
    }
    assert pinned.items() <= checked.items()
    extras = ("psycopg", "psycopg-binary", "authlib")  # of the database, and of a login
    needed = {canonicalize_name(each.name) for each in licences.required("requirements.txt")}
    assert needed | {*extras} <= pinned.keys()


CONTAINERS = COMPOSE["services"]


@pytest.mark.parametrize("name", CONTAINERS)
def test_no_container_gains_rights_writes_to_its_image_or_takes_all(name: str) -> None:
    service = CONTAINERS[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    for limit in ("mem_limit", "cpus", "pids_limit", "logging"):
        assert service[limit], limit
    more = set(service.get("cap_add", []))
    allowed = {"db": {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}}
    assert more <= allowed.get(name, {"NET_BIND_SERVICE"} if name == "proxy" else set())


def test_the_database_is_reached_from_inside_alone_and_by_no_administrator() -> None:
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert CONTAINERS["db"]["networks"] == ["inside"]
    assert "ports" not in CONTAINERS["db"]
    for name in ("app1", "app2", "proxy"):
        words = json.dumps(CONTAINERS[name].get("environment", {}))
        assert "ADMIN" not in words
    assert "POSTGRES_USER" not in CONTAINERS["db"]["environment"]
    assert any("role.sh" in volume for volume in CONTAINERS["db"]["volumes"])


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_the_role_of_the_reports_owns_them_and_nothing_else() -> None:
    """deploy/role.sh on a real PostgreSQL, as its container runs it at the first start."""
    with postgresql() as server:
        environment = {**os.environ, "PGHOST": str(server.folder), "ADVISOR_DB_PASSWORD": "it's'"}
        script = ROOT / "deploy" / "role.sh"
        subprocess.run(["sh", str(script)], env=environment, check=True, capture_output=True)

        def ask(database: str, question: str) -> str:
            command = ["psql", "-At", "-U", "advisor", "-d", database, "-c", question]
            environment["PGPASSWORD"] = "it's'"
            ran = subprocess.run(
                command, env=environment, check=False, capture_output=True, text=True
            )
            return ran.stdout.strip() or ran.stderr.strip()

        rights = "rolsuper, rolcreatedb, rolcreaterole, rolreplication"
        assert ask("advisor", f"SELECT {rights} FROM pg_roles WHERE rolname = 'advisor'") == (
            "f|f|f|f"
        )
        assert "permission denied" in ask("postgres", "SELECT 1")
        store = open_store(f"postgresql://advisor:it's'@/advisor?host={server.folder}")
        assert store.list() == ()
        store.close()


@pytest.mark.skipif(proxy_program() is None, reason="Caddy is not installed")
def test_the_proxy_bounds_bodies_and_closes_what_serves_an_operator(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Replica) as replica:
        threading.Thread(target=replica.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{replica.server_port}"
        with proxy(free_port(), {"app1": place, "app2": place}, tmp_path) as site:
            status, headers = _asked(site, "GET", "/")
            assert status == 200
            assert headers["Strict-Transport-Security"] == "max-age=31536000"
            assert headers["X-Frame-Options"] == "DENY"
            for path in ("metrics", "metrics?families=x", "script-health-check", "agent/mcp"):
                assert _asked(site, "GET", f"/_stcore/{path}")[0] == 404, path
            assert _asked(site, "GET", "/_stcore/host-config")[0] == 200
            assert _asked(site, "POST", "/", b"x" * 60_000)[0] == 200
            assert _asked(site, "POST", "/", b"x" * 100_000)[0] == 413
            assert _asked(site, "POST", "/", iter([b"x"]))[0] == 411
            upload = "/_stcore/upload_file/session/file"
            assert _asked(site, "PUT", upload, b"x" * 1_000_000)[0] == 200
            assert _asked(site, "PUT", upload, b"x" * 70_000_000)[0] == 413
            assert _asked(site, "GET", "/")[0] == 200, "a replica counts as failed"
        replica.shutdown()


class _Replica(BaseHTTPRequestHandler):
    """A server that takes whatever reaches it."""

    def do_GET(self) -> None:
        left = int(self.headers.get("Content-Length", 0))
        while left > 0:
            piece = self.rfile.read(min(left, 2**20))
            if not piece:
                return
            left -= len(piece)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_PUT = do_GET  # noqa: N815 - names that the base class looks for

    def log_message(self, *_: object) -> None:
        """Nothing."""


def _asked(
    site: str, method: str, path: str, body: bytes | Iterator[bytes] | None = None
) -> tuple[int, HTTPMessage]:
    """Status and headers of an answer of the proxy."""
    connection = HTTPConnection(urlsplit(site).netloc, timeout=60)
    try:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.headers
    finally:
        connection.close()


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
    settings = dict(setting.split("=") for setting in steps("ENV")[0].split())
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
    if subprocess.run(
        [tool, "pull", steps("ARG")[0].removeprefix("BASE=")], capture_output=True, check=False
    ).returncode:
        pytest.skip(f"no registry gives {steps('ARG')[0]}; its steps are checked above")
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
