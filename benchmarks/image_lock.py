"""What the image installs, with the hashes of its wheels: `deploy/requirements.lock`, anew.

Asks pip, without installing anything, for the wheels of each system that an image is built for, in
the versions of `.ci/lock.txt`. Run it after a change of either.
"""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FILE = ROOT / "deploy" / "requirements.lock"
BESIDE = ("psycopg[binary]>=3.2", "streamlit[auth]~=1.67")  # the database's driver, and login
PYTHON = "3.11"
SYSTEMS = ("x86_64", "aarch64")
LIBRARIES = ("2_17", "2014", "2_28", "2_34")  # versions of manylinux that the base image can load
HEAD = """\
# What the image installs: versions of .ci/lock.txt with the hashes of their wheels on Linux,
# x86-64 and ARM. Anew: `python -m benchmarks.image_lock`.
"""


def wheels(system: str) -> dict[str, tuple[str, str]]:
    """Version and hash of each package's wheel, by its name."""
    kinds = [
        f"--platform=manylinux{'' if '_' not in each else '_'}{each}_{system}" for each in LIBRARIES
    ]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--dry-run",
                "--ignore-installed",
                "--quiet",
                "--only-binary=:all:",
                f"--python-version={PYTHON}",
                *kinds,
                f"--target={folder}",
                f"--report={report}",
                "-c",
                str(ROOT / ".ci/lock.txt"),
                "-r",
                str(ROOT / "requirements.txt"),
                *BESIDE,
            ],
            check=True,
        )
        installed = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {
        canonicalize_name(each["metadata"]["name"]): (
            each["metadata"]["version"],
            each["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for each in installed
    }


def lock() -> str:
    """Text of the file."""
    hashes: defaultdict[str, set[str]] = defaultdict(set)
    for system in SYSTEMS:
        for name, (version, digest) in wheels(system).items():
            hashes[f"{name}=={version}"].add(digest)
    entries = (
        " \\\n".join((name, *(f"    --hash=sha256:{each}" for each in sorted(of))))
        for name, of in sorted(hashes.items())
    )
    return HEAD + "\n".join(entries) + "\n"


if __name__ == "__main__":
    FILE.write_text(lock(), encoding="utf-8")
    print(f"{FILE.relative_to(ROOT)} is written anew.")
