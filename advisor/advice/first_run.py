"""Lines that a person copies: from a computer without the program to a running model.

First the shortest that work, `install` and `run`, then `exact`: the same with every setting that
the prediction assumes. A name that no list has is not made up; `search` opens the search for it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from urllib.parse import urlencode

from advisor.advice.powershell import powershell
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.workload import Workload
from advisor.model import catalog
from advisor.model.catalog import Download
from advisor.model.model import Model
from advisor.runtimes.llama_cpp import lm_studio

SERVED = re.compile(r"(vllm serve|trtllm-serve|python -m sglang\.launch_server --model-path) (\S+)")
"""Beginning of a server's command, with the repository of its weights."""
TUNING = re.compile(
    r" --(?:max-num-seqs|gpu-memory-utilization|max-running-requests|mem-fraction-static|backend|"
    r"max_batch_size|kv_cache_free_gpu_memory_fraction) \S+"
)
"""Options of servers that start without them, as the model and its context fit either way; those
that divide a model among GPUs, or leave a part of it in RAM, are none of them."""
LINES_OF_FILES = ("llama.cpp", "Ollama", "LM Studio")
"""Runtimes of GGUF files whose exact lines download the model where a list has its files."""


class System(StrEnum):
    """Operating system of a person's computer, for which lines are written."""

    WINDOWS = "Windows"
    MAC = "Mac"
    LINUX = "Linux"


@dataclass(frozen=True, kw_only=True, slots=True)
class InstallerRow:
    """One row of data/runtimes/installers.csv."""

    runtime: str  # name of the runtime
    system: str  # operating system
    line: str  # line of its shell that installs the runtime
    then: str  # what to do by hand before its commands work; empty for nothing
    source: str
    source_date: str


@dataclass(frozen=True, kw_only=True)
class FirstRun:
    """Lines for one program on one system."""

    system: System
    install: str  # installs the program; empty where that takes more than a line
    then: str  # what to do by hand after that; empty for nothing
    run: str  # downloads the model and starts it; empty where that takes the exact lines
    exact: str  # the same with every predicted setting
    refused: str  # why the program downloads no file that is known; empty where it does
    search: str  # page that searches for the model's files; empty where a list has them
    files: str  # page with the model's files, for a program that loads none; empty for others
    bytes: float  # size of the download [B]


@cache
def installers() -> Mapping[tuple[str, str], InstallerRow]:
    """Rows by the names of runtime and system."""
    rows = read(DATA / "runtimes/installers.csv", InstallerRow)
    return {(row.runtime, row.system): row for row in rows}


def systems(estimate: Estimate) -> tuple[System, ...]:
    """Operating systems on which a program may run an estimate, the likeliest first.

    A Mac has its own; a program without an installer for Windows runs on Linux.
    """
    machine = estimate.machine
    if machine.only_of("Apple"):
        return (System.MAC,)
    if (estimate.runtime.name, System.WINDOWS) not in installers():
        return (System.LINUX,)
    return (System.WINDOWS, System.LINUX)


def first_run(estimate: Estimate, system: System) -> FirstRun:
    """Lines for an estimate that fits."""
    exact = estimate.command
    if system is System.WINDOWS:
        exact = powershell(exact)
    if _plain(estimate) and not _states_settings(estimate):
        run = _run(estimate)
    else:
        run = exact if _downloads(estimate) else ""
    refused = ""
    if not run and estimate.runtime.name == "Ollama" and Download.is_divided(estimate.model):
        refused = IN_PARTS
    installer = installers().get((estimate.runtime.name, system))
    return FirstRun(
        system=system,
        install=installer.line if installer else "",
        then=installer.then if installer else "",
        run=run,
        exact=exact,
        refused=refused,
        search="" if run or refused else _search(estimate.model, exact),
        files="" if run or refused else _files(estimate.model, exact),
        bytes=estimate.model.file_bytes,
    )


IN_PARTS = (
    "Ollama downloads no file in parts, as files over 50 GB are published. llama.cpp and LM Studio "
    "do; for Ollama, download the parts and join them with llama-gguf-split --merge."
)
"""Reason why Ollama has no line for a large file (https://github.com/ollama/ollama/issues/5245)."""


def _states_settings(estimate: Estimate) -> bool:
    """Whether somebody states a setting that a runtime left alone would choose otherwise."""
    work = estimate.work
    if estimate.settings.divides or work.swa_full or not work.flash_attention:
        return True
    in_parts = float(work.ubatch) != Workload.ubatch
    if estimate.runtime.name != "llama.cpp":
        return in_parts and estimate.runtime.name == "Ollama"  # the rest is none of its options
    host = estimate.machine.host
    return bool(in_parts or host.threads is not None or host.numa or estimate.machine.backend)


def _plain(estimate: Estimate) -> bool:
    """Whether the request has nothing that the shortest lines would leave out."""
    work = estimate.work
    return not work.draft and work.kv_type == "f16" and float(work.users) <= 1


def _downloads(estimate: Estimate) -> bool:
    """Whether the exact lines download the model, as the shortest ones do."""
    if estimate.runtime.name in LINES_OF_FILES:
        return estimate.model.gguf_file not in estimate.command
    return bool(_repository_served(estimate.command))


def _repository_served(command: str) -> str:
    """Repository in a server's command of one line; empty where it is not known."""
    served = SERVED.match(command)
    if served is None or "\n" in command or served[2] == Download.UNKNOWN:
        return ""
    return served[2]


def _run(estimate: Estimate) -> str:
    """Shortest lines that download and start a model; empty where no repository is known."""
    model = estimate.model
    context = int(estimate.work.context) * int(estimate.work.users)
    match estimate.runtime.name:
        case "Ollama":
            return _of_ollama(estimate)
        case "LM Studio":
            return lm_studio.plain_lines(model, context)
        case "llama.cpp":
            source = catalog.Download.of_gguf(model)
            if source:
                return f"llama-server -hf {source} -c {context}"
            return ""
        case "vLLM" | "SGLang" | "TensorRT-LLM":
            return _of_the_command(estimate.command)
        case _:
            return ""


def _of_ollama(estimate: Estimate) -> str:
    """Line of Ollama, and one at its prompt where it would start with another context."""
    name = catalog.Download.of_ollama(estimate.model)
    if not name:
        return ""
    context = int(estimate.work.context)
    usual = estimate.runtime.default_context
    if usual is not None and usual(estimate.machine) == context:
        return f"ollama run {name}"
    return f"ollama run {name}\n/set parameter num_ctx {context}"


def _of_the_command(command: str) -> str:
    """Server's command without the options that it starts without; empty where its repository is
    not known or the command has several lines.
    """
    if _repository_served(command):
        return TUNING.sub("", command)
    return ""


def _search(model: Model, exact: str) -> str:
    """Page with the files of a model; empty where the lines themselves make or name them."""
    if Download.UNKNOWN in exact:
        return search_page(f"{model.published_as.rpartition('/')[2]} {model.format}")
    if model.gguf_file in exact and not Download.of_gguf(model):
        return search_page(model.published_as.rpartition("/")[2], library="gguf")
    return ""


def _files(model: Model, exact: str) -> str:
    """Page with the known file that the lines name; empty where no list has it."""
    repository, _, _ = Download.of_gguf(model).partition(":")
    if not repository or model.gguf_file not in exact:
        return ""
    return f"{Download.HUB}/{repository}/tree/main"


def search_page(words: str, library: str = "") -> str:
    """Page of the Hub that searches for a model, in files of a library alone where one is given."""
    parameters = {"library": library} if library else {}
    return f"{catalog.Download.HUB}/models?{urlencode(parameters | {'search': words})}"
