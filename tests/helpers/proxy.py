"""The proxy of deploy/Caddyfile, run for tests before replicas on ports of loopback."""

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from driving import wait_for

CADDYFILE = Path(__file__).parents[2] / "deploy" / "Caddyfile"


def program():
    """Caddy; None where it is not installed."""
    return shutil.which("caddy")


def configuration(site, replicas):
    """The file as Caddy reads it, with addresses in place of the names of containers.

    Args:
        site: address of the proxy.
        replicas: host and port by the container's name.
    """
    text = subprocess.run(
        [program(), "adapt", "--config", str(CADDYFILE), "--adapter", "caddyfile"],
        env={**os.environ, "ADVISOR_SITE": site},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    for name, address in replicas.items():
        assert f"{name}:8501" in text
        text = text.replace(f"{name}:8501", address)
    return {"admin": {"disabled": True}, **json.loads(text)}


@contextmanager
def proxy(port, replicas, folder):
    """The proxy at a port until the block ends."""
    site = f"http://127.0.0.1:{port}"
    file = folder / "caddy.json"
    file.write_text(json.dumps(configuration(site, replicas)))
    process = subprocess.Popen(
        [program(), "run", "--config", str(file)],
        env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"{site}/_stcore/health", process)
        yield site
    finally:
        process.terminate()
        process.wait(15)
