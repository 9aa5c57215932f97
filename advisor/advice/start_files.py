"""Start files: what keeps a server of the chosen placement running, from its command.

- Docker Compose, with the maker's image: llama.cpp (docs/docker.md: `server`, `server-cuda`,
  `server-rocm`, `server-intel`, `server-vulkan`, whose entry point is llama-server), vLLM
  (docs.vllm.ai, Using Docker: `vllm/vllm-openai`, arguments of `vllm serve`, `--ipc=host`), SGLang
  (docs.sglang.io, Install: `lmsysorg/sglang`, `--ipc=host`); all read 2026-11-23.
- A systemd unit (systemd.service(5): `%` and `$` of a command are doubled).
- An entry for llama-swap (docs/configuration.md of mostlygeek/llama-swap, read 2026-11-23:
  `${PORT}` is the port that it gives the server).
- A SkyPilot task, which rents the cheapest GPU among the clouds that a person has accounts with
  (https://docs.skypilot.co/en/latest/reference/yaml-spec.html, read 2026-11-21). A variable without
  a value must be given at launch (sky/task.py of 0.14.1). Setup runs at every launch and skips
  finished steps; the model comes from Hugging Face.
"""

import math
import re
import shlex
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from advisor.advice.prices.rows import skypilot_names
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.estimate import estimate as estimated
from advisor.cost_model.placement import PlacementStrategy, Tier
from advisor.errors import Refusal
from advisor.formatting import counted
from advisor.model import catalog
from advisor.runtimes import RUNTIMES, runtime
from advisor.runtimes.serving import checkpoint
from advisor.units import GIB

if TYPE_CHECKING:
    from advisor.advice.table.option import Option, Question

MODELS = "/models"  # folder of a container where GGUF files lie
CACHE = "~/.cache/huggingface:/root/.cache/huggingface"
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104  within a container, whose port this machine alone reaches
LLAMA_CPP = "ghcr.io/ggml-org/llama.cpp:server"
OF_BACKEND = {"cuda": "-cuda", "rocm": "-rocm", "sycl": "-intel", "vulkan": "-vulkan", "cpu": ""}
"""Ending of llama.cpp's image by backend."""
SERVERS = ("llama-server", "vllm serve", "python -m sglang.launch_server", "trtllm-serve")
"""Beginnings of commands that serve."""


class StartFile(StrEnum):
    """Kind of file that keeps a server running."""

    COMPOSE = "compose"
    SYSTEMD = "systemd"
    LLAMA_SWAP = "llama-swap"


NAMES = {
    StartFile.COMPOSE: "compose.yaml",
    StartFile.SYSTEMD: "model.service",
    StartFile.LLAMA_SWAP: "config.yaml",
}
"""Usual name of each kind of file."""


def start_file(kind: StartFile, estimate: Estimate) -> str:
    """Text of a file that starts the server of an estimate.

    Raises Refusal where the placement does not fit, its command is no server's, or its maker has no
    image.
    """
    command = estimate.command
    if not estimate.fits or "\n" in command or not command.startswith(SERVERS):
        raise Refusal(
            f"{estimate.runtime.name} has no single command that serves {estimate.model.name} "
            "here; llama.cpp, vLLM and SGLang have."
        )
    name = re.sub(r"[^a-z0-9]+", "-", estimate.model.name.casefold()).strip("-")
    setup = estimate.runtime.setup
    port = setup.port if setup else 8000
    head = f"# {estimate.model.name} in {estimate.model.format}, {estimate.runtime.version}\n"
    words = shlex.split(command)
    match kind:
        case StartFile.SYSTEMD:
            return head + _unit(estimate.model.name, command)
        case StartFile.LLAMA_SWAP:
            line = f"{command} --port ${{PORT}}"
            return head + _yaml({"models": {name: {"cmd": line, "ttl": 600}}})
        case StartFile.COMPOSE:
            return head + _yaml({"services": {name: _service(estimate, words, port)}})


def _unit(title: str, command: str) -> str:
    doubled = command.replace("%", "%%").replace("$", "$$")
    return (
        f"# ~/.config/systemd/user/{NAMES[StartFile.SYSTEMD]}, then: "
        f"systemctl --user enable --now model\n"
        f"[Unit]\nDescription={title.replace('%', '%%')}\n\n"
        f"[Service]\nWorkingDirectory=%h/models\nExecStart=/usr/bin/env {doubled}\n"
        "Restart=on-failure\nRestartSec=10\n\n"
        "[Install]\nWantedBy=default.target\n"
    )


def _service(estimate: Estimate, words: list[str], port: int) -> dict[str, Any]:
    """Service of a Compose file."""
    listening = ["--host", EVERY_ADDRESS, "--port", str(port)]
    gpus = estimate.machine.gpus
    nvidia = bool(gpus) and gpus[0].vendor == "NVIDIA"
    if estimate.runtime.key == "llama.cpp":
        image, arguments, options = _of_llama_cpp(estimate, words, listening)
    elif estimate.runtime.key == "vllm" and nvidia:
        image = "vllm/vllm-openai:latest"
        arguments = ["--model", *words[2:], *listening]
        options = {"ipc": "host", "volumes": [CACHE]}
    elif estimate.runtime.key == "sglang" and nvidia:
        image = "lmsysorg/sglang:latest"
        arguments = [*words, *listening]
        options = {"ipc": "host", "volumes": [CACHE]}
    else:
        cards = "" if nvidia else " for cards of this maker"
        raise Refusal(
            f"No image of {estimate.runtime.name}{cards} is on record here; take systemd or "
            "llama-swap."
        )
    service = {
        "image": image,
        "command": arguments,
        "ports": [f"127.0.0.1:{port}:{port}"],
        **options,
        "restart": "unless-stopped",
    }
    if nvidia:
        devices = [{"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}]
        service["deploy"] = {"resources": {"reservations": {"devices": devices}}}
    elif gpus:
        service["devices"] = ["/dev/dri", *(["/dev/kfd"] if "rocm" in image else [])]
    return service


def _of_llama_cpp(
    estimate: Estimate, words: list[str], listening: list[str]
) -> tuple[str, list[str], dict[str, Any]]:
    """Image, arguments and options of a service of llama.cpp, whose files lie in one folder."""
    backend = estimate.constants.scope.backend if estimate.constants else "cpu"
    if backend not in OF_BACKEND:
        raise Refusal(f"llama.cpp has no image for {backend}; take systemd or llama-swap.")
    options: dict[str, Any] = {"volumes": [f"./models:{MODELS}"]}
    if "-hf" in words:
        options["environment"] = {"LLAMA_CACHE": MODELS}
    else:
        at = words.index("-m") + 1
        words[at] = f"{MODELS}/{words[at].rpartition('/')[2]}"
    return LLAMA_CPP + OF_BACKEND[backend], [*words[1:], *listening], options


def _yaml(content: dict[str, Any]) -> str:
    import yaml  # 10 ms that only a start file is worth

    return yaml.safe_dump(content, sort_keys=False, width=10_000)


# SkyPilot.

SKYPILOT = "SkyPilot 0.14.1"
SYSTEM_DISK = 100  # drive space for the system, drivers and the build; assumed [GiB]
SYSTEM_RAM = 8  # RAM for the system; assumed [GiB]
RESIDENT = PlacementStrategy.GPU_RESIDENT


VARIABLES = {True: "GGUF_REPOSITORY", False: "MODEL_REPOSITORY"}  # by whether it takes GGUF
"""Variable of a task that names where the model is downloaded from, by the files it holds."""


def rented_estimates(question: "Question", options: "Iterable[Option]") -> dict[str, Estimate]:
    """Estimates of the rented machines of some options, each once, by name, in their order."""
    # The table of options takes 40 ms to load, which an estimate alone would wait for.
    from advisor.advice.table.option import OptionKind
    from advisor.advice.table.timed_machines import cardless

    if question.machine.unified:
        host = cardless()
    else:
        host = question.machine
    estimates: dict[str, Estimate] = {}
    for option in options:
        gpus = option.bought
        speed = option.speed
        if option.kind is not OptionKind.RENT or speed is None or not gpus:
            continue
        name = counted(len(gpus), gpus[0].name)
        if name in estimates:
            continue
        model = question.model
        if model.format != speed.format:
            model = catalog.in_format(model.architecture, speed.format)
        rented = replace(host, name=name, gpus=gpus)
        how = runtime(speed.runtime)
        estimates[name] = estimated(model, rented, question.work, how, speed.strategy)
    return estimates


def skypilot_task(estimate: Estimate) -> str:
    """Text of a file `task.yaml` for SkyPilot, for a model on a machine with the GPUs to rent.

    Raises Refusal where SkyPilot has no name for the GPU, or the runtime has no setup.
    """
    setup = estimate.runtime.setup
    if setup is None:
        able = ", ".join(runtime.name for runtime in RUNTIMES if runtime.setup is not None)
        raise Refusal(
            f"Task files are written for {able}. For {estimate.runtime.name}, rent the "
            "GPU and type its command there."
        )
    gpu, count = _gpus(estimate)
    model = estimate.model
    placement = estimate.placement
    variable = VARIABLES[setup.takes_gguf]
    if placement is None:
        raise Refusal(estimate.refusal)
    started = setup.start(model, placement, estimate.machine, estimate.work, f"${variable}")
    name = f"{model.name}-{counted(count, gpu)}".casefold()
    name = re.sub(r"[^a-z0-9]+", "-", name).strip("-")  # as SkyPilot accepts it for a cluster
    gguf = setup.takes_gguf
    if gguf:
        repository = catalog.Download.of_gguf(model).partition(":")[0]
    else:
        repository = checkpoint(model)
    public = repository if "/" in repository else ""
    if public:
        given = ""
    else:
        given = f" --env {variable}=OWNER/NAME"
    if gguf:
        files = "with the model as GGUF"
    else:
        files = f"with the model in {model.format}"
    # RAM for what stays outside the GPU, and for the system [GiB]
    ram = math.ceil(sum(float(size) for size in estimate.held[Tier.RAM]) / GIB) + SYSTEM_RAM
    return "\n".join(
        (
            f"# {SKYPILOT}, {estimate.runtime.version}",
            f"# start: sky launch -c {name} task.yaml{given}",
            *(() if public else (f"# OWNER/NAME is a repository on Hugging Face {files}.",)),
            "# a repository with terms to accept also takes --secret HF_TOKEN",
            f"# use it: ssh -L {setup.port}:localhost:{setup.port} {name}, "
            f"then http://localhost:{setup.port}",
            f"# stop paying: sky down {name}",
            f"name: {name}",
            "",
            "resources:",
            f"  accelerators: {accelerators(gpu, count)}",
            f"  disk_size: {math.ceil(model.file_bytes / GIB) + SYSTEM_DISK}",
            *(() if estimate.strategy is RESIDENT else (f"  memory: {ram}+",)),
            "",
            "envs:",
            f"  {variable}:{f' {public}' if public else ''}",
            "",
            "setup: |",
            *(f"  {line}" for line in setup.install),
            "",
            "run: |",
            *(f"  {line}" for line in started),
            "",
        )
    )


def _gpus(estimate: Estimate) -> tuple[str, int]:
    """GPU to rent, and how many."""
    if not estimate.machine.gpus:
        raise Refusal(estimate.refusal or "There is no GPU to rent.")
    return estimate.machine.gpus[0].name, len(estimate.machine.gpus)


def has_name(estimate: Estimate) -> bool:
    """Whether SkyPilot has a name for the GPU."""
    return _gpus(estimate)[0] in skypilot_names()


def accelerators(gpu: str, count: int) -> str:
    """GPUs to rent in SkyPilot's form: one name with a number, or a set to take the cheapest of.

    Raises Refusal for a GPU without a name there.
    """
    spellings = skypilot_names().get(gpu)
    if spellings is None:
        raise Refusal(f"SkyPilot has no name on record for {gpu}; ask `sky gpus list -a`.")
    names = [f"{name}:{count}" for name in spellings.split(";")]
    if len(names) == 1:
        return names[0]
    return f"{{{', '.join(names)}}}"
