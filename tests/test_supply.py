"""Packages of others: the versions that the checks run with, and their licences."""

import re
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from benchmarks import licences

ROOT = Path(__file__).parents[1]
LOCK = ROOT / ".ci/lock.txt"
FREE = ("MIT", "BSD", "Apache", "PSF", "Python Software Foundation", "MPL", "Mozilla", "LGPL")


def _pinned() -> dict[str, str]:
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pins}


def test_every_requirement_is_locked_within_its_bounds() -> None:
    pins = _pinned()
    wrong = {
        str(needed): pins.get(canonicalize_name(needed.name))
        for file in ("requirements.txt", "requirements-dev.txt")
        for needed in licences.required(file)
        if not needed.specifier.contains(pins.get(canonicalize_name(needed.name), "0"))
    }
    assert not wrong


def test_the_lock_names_packages_and_no_place_to_get_them() -> None:
    for line in LOCK.read_text(encoding="utf-8").splitlines():
        assert line.startswith("#") or re.fullmatch(r"[\w.\-]+==[\w.\-+!]+", line), line


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the lock is of Linux, where CI runs")


@ON_LINUX
def test_every_package_that_the_program_needs_is_locked() -> None:
    assert set(licences.licences()) <= set(_pinned())


@ON_LINUX
def test_licences_are_free_and_stand_in_the_documents() -> None:
    named = licences.licences()
    assert not {name: text for name, text in named.items() if not any(f in text for f in FREE)}
    text = licences.PAGE.read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| ([a-z][\w.-]*) \| (.+) \|$", text, flags=re.MULTILINE))
    assert listed.keys() >= named.keys(), "write it anew: python -m benchmarks.licences"
