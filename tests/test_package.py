"""The built package: its requirements, its files, and that it works on its own."""

import ast
import os
import socket
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from contextlib import closing
from functools import cache
from http.client import HTTPConnection
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from driving import browser, free_port, missing, page, wait_for
from packaging.requirements import Requirement

import advisor
from benchmarks.licences import required

ROOT = Path(__file__).parents[1]
FILES = {
    "": "requirements.txt",
    "dev": "requirements-dev.txt",
    "oracles": "requirements-oracles.txt",
}
CORE = "offload-advisor"
EMPTY = bool(os.environ.get("ADVISOR_EMPTY_VENV"))
"""Install every dependency anew, as `make package` does; else borrow those of the tests."""


def stated(extra):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    texts = [text.replace("\n", " ") for text in extras[extra]]
    inner = {name for text in texts if is_own(text) for name in Requirement(text).extras}
    plain = {normalized(text) for text in texts if not is_own(text)}
    return plain.union(*(stated(name) for name in inner))


def is_own(text):
    """Whether a requirement names extras of this very package."""
    return Requirement(text).name == "offload-advisor"


def listed(file):
    return {str(needed) for needed in required(file)}


def normalized(text):
    return str(Requirement(text))


def test_every_other_extra_is_tested_with():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in project["optional-dependencies"].keys() - FILES.keys():
        assert stated(extra) <= listed("requirements-dev.txt") | listed("requirements.txt")


@pytest.mark.parametrize("extra", FILES, ids=FILES.get)
def test_requirements_agree_with_the_project(extra):
    """`make run` installs the dashboard too, so requirements.txt is the core and `app`."""
    assert listed(FILES[extra]) == (stated(extra) | stated("app") if not extra else stated(extra))


@pytest.mark.parametrize("file", FILES.values())
def test_every_requirement_has_its_reason(file):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        assert "#" in line or line.startswith("-r ") or before.startswith("#"), line


def tracked(*folders):
    names = subprocess.run(
        ("git", "ls-files", "-z", *folders), cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name for name in names.stdout.split("\0") if name and (ROOT / name).exists()}


def built(kind, folder):
    """A package built here, without a network."""
    command = (sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder))
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The scripts' folder of an environment that holds the wheel, outside the repository."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    if not EMPTY:
        place = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
        (Path(place) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    if EMPTY:
        options = ()
    else:
        options = ("--no-deps", "--no-index")
    pip = (sys.executable, "-m", "pip", "--python", str(scripts / "python"), "install", "--quiet")
    subprocess.run((*pip, *options, f"{wheel}[app]"), cwd=folder, check=True)
    return scripts


@cache
def named_files():
    """Texts of the program that end like a table's name, docstrings aside."""
    return {
        node.value
        for path in (ROOT / "advisor").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value.endswith(".csv") and " " not in node.value
    }


def is_read(table):
    """Whether the program names a table of data/: "generated/left_out.csv", or its last part."""
    return any(f"/data/{table}".endswith(f"/{text}") for text in named_files())


def test_tables_that_the_program_reads_are_known():
    assert is_read("measurements/what_many_run.csv")
    assert is_read("measurements/llama_cpp.csv")  # named apart from its folder
    assert not is_read("measurements/drafting.csv")  # the lab alone reads it


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git names the files of the product")
def test_the_wheel_holds_the_data_and_the_dashboard(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert tracked("advisor") <= held
    beside = tracked("data", "app.py", ".streamlit")
    left_out = {name for name in beside if f"advisor/installed/{name}" not in held}
    assert left_out == {name for name in left_out if name.endswith(".csv")}
    assert not {name for name in left_out if is_read(name.removeprefix("data/"))}
    assert not any(name.startswith(("tests/", "benchmarks/", "lab/")) for name in held)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git names the files of the product")
def test_the_source_package_holds_everything(tmp_path):
    with tarfile.open(built("sdist", tmp_path)) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert tracked("advisor", "data", "tests", "docs", "app.py", ".streamlit", "Makefile") <= held


def needed(names):
    """Packages that are needed on this system by some, with them."""
    waiting = list(names)
    packages = {}
    while waiting:
        package = distribution(waiting.pop())
        if package.name not in packages:
            packages[package.name] = package
            inner = map(Requirement, package.requires or ())
            waiting += [
                each.name
                for each in inner
                if not each.marker or each.marker.evaluate({"extra": ""})
            ]
    return packages.values()


def packed(package, folder):
    """A wheel of an installed package, as an index would give it."""
    (tag, *_) = (
        line.partition(": ")[2]
        for line in package.read_text("WHEEL").splitlines()
        if line.startswith("Tag: ")
    )
    name = package.name.replace("-", "_")
    held = [each for each in package.files if ".." not in each.parts and each.suffix != ".pyc"]
    with zipfile.ZipFile(folder / f"{name}-{package.version}-{tag}.whl", "w") as archive:
        for each in held:
            if each.name not in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json"):
                archive.write(each.locate(), str(each))
        (record,) = (str(each) for each in held if each.name == "RECORD")
        archive.writestr(record, "".join(f"{each},,\n" for each in archive.namelist()))


@pytest.fixture(scope="module")
def index(wheel, tmp_path_factory):
    """A folder with the wheel and those of what the core needs: an index without a network."""
    folder = tmp_path_factory.mktemp("index")
    for package in needed(Requirement(text).name for text in stated("")):
        packed(package, folder)
    (folder / wheel.name).write_bytes(wheel.read_bytes())
    return folder


def one_line(tool, index, folder):
    """The line that gives a first answer from an index, and the settings that keep it in a
    folder.
    """
    offline = ("--no-index", "--find-links", str(index))
    scripts = Path(sys.executable).parent
    if tool == "uvx":
        command = (
            scripts / "uvx",
            "--offline",
            "--no-config",
            *offline,
            "--python",
            sys.executable,
            "--from",
            CORE,
            CORE,
        )
        return command, {"UV_CACHE_DIR": str(folder / "cache"), "UV_TOOL_DIR": str(folder / "tool")}
    command = (scripts / "pipx", "run", "--backend", "uv", "--python", sys.executable,
               "--spec", CORE, CORE)  # fmt: skip
    return command, {
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "UV_CACHE_DIR": str(folder / "cache"),
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(index),
    }


def answered(command, folder, settings):
    words = ("estimate", "--model", "Llama-3.1-8B", "--gpu", "RTX 3090", "--ram-gb", "64")
    done = subprocess.run(
        (*map(str, command), *words),
        cwd=folder,
        env={**environment(folder), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return "llama.cpp                 gpu-resident" in done.stdout


@pytest.mark.parametrize("tool", ["uvx", "pipx"])
def test_one_line_gives_the_first_answer(tool, index, tmp_path):
    command, settings = one_line(tool, index, tmp_path)
    assert answered(command, tmp_path, settings)


@pytest.fixture(scope="module")
def core(index, tmp_path_factory):
    """The packages' folder of an environment with the core alone, from the index."""
    folder = tmp_path_factory.mktemp("core")
    venv.create(folder, with_pip=False)
    pip = (sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install")
    options = ("--quiet", "--no-compile", "--no-index", "--find-links", str(index), CORE)
    subprocess.run((*pip, *options), cwd=folder, check=True)
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))


ON_POSIX = pytest.mark.skipif(os.name == "nt", reason="the folders are those of a POSIX system")


@ON_POSIX
def test_the_core_answers_alone(core, tmp_path):
    assert answered([core.parents[2] / "bin" / CORE], tmp_path, {})
    assert not {
        "streamlit",
        "pandas",
        "plotly",
        "matplotlib",
        "sqlalchemy",
        "fpdf",
        "huggingface_hub",
        "httpx2",
    } & {each.name for each in core.iterdir()}


@ON_POSIX
def test_the_core_is_small_beside_numpy(core):
    # as it is installed: the tests before compile what they import
    sizes = {
        each.name: sum(
            file.stat().st_size
            for file in (each, *each.rglob("*"))
            if file.is_file() and "__pycache__" not in file.parts
        )
        for each in core.iterdir()
    }
    numpy = sum(size for name, size in sizes.items() if name.startswith("numpy"))
    assert (sum(sizes.values()) - numpy) / 1e6 < 30, sizes


def environment(folder):
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "ADVISOR_DATA_DIR": str(folder)}


def test_the_installed_command_answers(installed, tmp_path):
    command = (
        "estimate", "--model", "Llama-3.1-8B", "--gpu", "RTX 3090", "--ram-gb", "64",
        "--runtime", "llama.cpp",
    )  # fmt: skip
    done = subprocess.run(
        (str(installed / "offload-advisor"), *command),
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "llama.cpp  gpu-resident" in done.stdout
    assert done.stderr == ""


def test_the_installed_command_names_itself(installed, tmp_path):
    done = subprocess.run(
        (str(installed / "offload-advisor"), "--help"),
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage: offload-advisor ")


def test_both_names_give_one_version(installed, tmp_path):
    done = subprocess.run(
        (str(installed / "offload-advisor"), "--version"),
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == advisor.__version__


@pytest.fixture(scope="module")
def dashboard(installed, tmp_path_factory):
    """Address of the dashboard as `offload-advisor app` opens it, far from the repository."""
    folder = tmp_path_factory.mktemp("elsewhere")
    port = free_port()
    process = subprocess.Popen(
        (str(installed / "offload-advisor"), "app", "--port", str(port)),
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(15)


def test_the_dashboard_has_no_address_but_this_machine(dashboard):
    port = int(dashboard.rpartition(":")[2])
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", port))  # a server of every address would answer here too


def handshake(address, host):
    """Status of a page's connection to the server, made in the name of a host."""
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=5)
    headers = {
        "Host": f"{host}:{parts.port}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    }
    with closing(connection):
        connection.request("GET", "/_stcore/stream", headers=headers)
        return connection.getresponse().status


def test_the_dashboard_answers_to_no_foreign_name(dashboard):
    assert handshake(dashboard, "localhost") == 101
    assert handshake(dashboard, "rebound.example") == 403


PAGE = """
from advisor.catalog.csv_tables import product_folder
from streamlit.testing.v1 import AppTest

page = AppTest.from_file(str(product_folder() / "app.py"), default_timeout=120)
page.query_params.update(model="Llama-3.1-8B", gpu="RTX 3090", ram="64")
page.run()
assert not page.exception, page.exception
print(any("tokens/s" in html.proto.body for html in page.get("html")))
"""


def test_the_installed_page_answers(installed, tmp_path):
    done = subprocess.run(
        (str(installed / "python"), "-c", PAGE),
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.skipif(not EMPTY or bool(missing()), reason="`make package` opens it in a browser")
def test_the_dashboard_opens(dashboard):
    with (
        browser() as chromium,
        page(chromium, f"{dashboard}/?model=Llama-3.1-8B&gpu=RTX+3090&ram=64") as tab,
    ):
        assert "tokens/s" in tab.inner_text("body")
