"""What visitors may do, by who reaches the server."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import streamlit

from advisor.errors import InputError
from advisor.permission import EVERYTHING, permitted
from advisor.ui.parts import audience

ROOT = Path(__file__).parents[2]
OWN = ("localhost", "127.0.0.1")
SETTINGS = ("ADVISOR_PUBLIC", "ADVISOR_LOCAL_FILES", "ADVISOR_PROBES", "ADVISOR_PUBLIC_URL")
HERE = "http://localhost:8501/"
THERE = "https://advisor.example/"


def set_up(
    monkeypatch: pytest.MonkeyPatch,
    settings: Mapping[str, str],
    address: str | None,
    hosts: tuple[str, ...] = OWN,
) -> None:
    """Settings of the environment, and of Streamlit."""
    for name in SETTINGS:
        monkeypatch.setenv(name, settings.get(name, ""))
    options = {"server.address": address, "server.allowedHosts": list(hosts)}
    monkeypatch.setattr(streamlit, "get_option", options.__getitem__)


@pytest.mark.parametrize(
    ("settings", "address", "hosts", "public", "files", "probes"),
    [
        ({}, "127.0.0.1", OWN, False, True, True),
        ({}, "localhost", OWN, False, True, True),
        ({}, "127.0.0.1", ("[::1]:8501", "LOCALHOST:8501"), False, True, True),
        ({}, "0.0.0.0", OWN, True, False, False),
        ({}, None, OWN, True, False, False),  # Streamlit listens to all without an address
        # behind a proxy: the server listens to loopback, and people call it by another name
        ({}, "127.0.0.1", ("advisor.example",), True, False, False),
        ({}, "127.0.0.1", (*OWN, "*.example"), True, False, False),
        ({}, "127.0.0.1", ("*",), True, False, False),
        ({}, "127.0.0.1", (), True, False, False),  # none named: Streamlit takes any
        ({"ADVISOR_PUBLIC_URL": THERE}, "127.0.0.1", OWN, True, False, False),
        ({"ADVISOR_PUBLIC_URL": HERE}, "127.0.0.1", OWN, False, True, True),
        ({"ADVISOR_PUBLIC_URL": THERE, "ADVISOR_PUBLIC": "off"}, None, (), False, True, True),
        ({"ADVISOR_PUBLIC": "off"}, "0.0.0.0", OWN, False, True, True),
        ({"ADVISOR_PUBLIC": "on"}, "127.0.0.1", OWN, True, False, False),
        ({"ADVISOR_PUBLIC": " ON "}, "127.0.0.1", OWN, True, False, False),
        ({"ADVISOR_LOCAL_FILES": "on"}, "0.0.0.0", OWN, True, True, False),
        ({"ADVISOR_LOCAL_FILES": "off"}, "127.0.0.1", OWN, False, False, True),
        ({"ADVISOR_PUBLIC": "off", "ADVISOR_PROBES": "off"}, None, OWN, False, True, False),
        ({"ADVISOR_PUBLIC": "on", "ADVISOR_PROBES": "on"}, None, OWN, True, False, True),
    ],
)
def test_a_server_that_others_reach_is_public_unless_its_operator_trusts_them(
    settings: dict[str, str],
    address: str | None,
    hosts: tuple[str, ...],
    public: bool,
    files: bool,
    probes: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_up(monkeypatch, settings, address, hosts)
    assert audience.is_public() is public
    assert audience.reads_local_files() is files
    assert audience.probes() is probes
    may = audience.permission()
    assert (may.files, may.here, may.token) == (files, probes or not public, not public)
    assert not may.network  # a link in a mail could otherwise have the computer log in elsewhere


@pytest.mark.parametrize("name", SETTINGS[:3])
@pytest.mark.parametrize("value", ["enabled", "perhaps", "On!", "2"])
def test_a_setting_that_is_neither_on_nor_off_is_refused_at_the_start(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(monkeypatch, {name: value}, "127.0.0.1")
    with pytest.raises(InputError, match=f"{name} is .* must be on or off"):
        audience.start()


def test_the_server_does_not_start_with_it() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "import app"],
        cwd=ROOT,
        env={**os.environ, "ADVISOR_PUBLIC": "enabled"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode != 0
    assert "ADVISOR_PUBLIC is 'enabled'; it must be on or off" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_server_decides_for_every_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(monkeypatch, {"ADVISOR_PUBLIC": "on"}, "127.0.0.1")
    audience.start()
    assert not permitted().files
    monkeypatch.undo()
    assert permitted() == EVERYTHING.__class__(
        network=False, instead=audience.INSTEAD
    )  # as the settings are now
