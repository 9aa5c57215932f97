"""Start files: what keeps a server of the chosen placement running, from its command.

- Docker Compose, with the maker's image: llama.cpp (docs/docker.md: `server`, `server-cuda`,
  `server-rocm`, `server-intel`, `server-vulkan`, whose entry point is llama-server), vLLM
  (docs.vllm.ai, Using Docker: `vllm/vllm-openai`, arguments of `vllm serve`, `--ipc=host`), SGLang
  (docs.sglang.io, Install: `lmsysorg/sglang`, `--ipc=host`); all read 2026-11-23.
- A systemd unit (systemd.service(5): `%` and `$` of a command are doubled).
- An entry for llama-swap (docs/configuration.md of mostlygeek/llama-swap, read 2026-11-23:
  `${PORT}` is the port that it gives the server).
"""

import re
import shlex
from enum import StrEnum
from typing import Any

from advisor.cost_model.estimate import Estimate
from advisor.errors import Refusal

MODELS = "/models"
"""Folder of a container where GGUF files lie."""
CACHE = "~/.cache/huggingface:/root/.cache/huggingface"
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104  within a container, whose port this machine alone reaches
LLAMA_CPP = "ghcr.io/ggml-org/llama.cpp:server"
OF_BACKEND = {"cuda": "-cuda", "rocm": "-rocm", "sycl": "-intel", "vulkan": "-vulkan", "cpu": ""}
"""Ending of llama.cpp's image by backend."""
SERVERS = ("llama-server", "vllm serve", "python -m sglang.launch_server", "trtllm-serve")
"""Beginnings of commands that serve."""


class StartFile(StrEnum):
    """Kind of file that starts a server."""

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

    Raises:
        Refusal: the placement does not fit, its command is no server's, or its maker has no image.
    """
    command = estimate.command
    if not estimate.fits or "\n" in command or not command.startswith(SERVERS):
        raise Refusal(
            f"{estimate.runtime} has no single command that serves {estimate.model.name} here; "
            "llama.cpp, vLLM and SGLang have."
        )
    name = re.sub(r"[^a-z0-9]+", "-", estimate.model.name.casefold()).strip("-")
    setup = estimate.how.setup
    port = setup.port if setup else 8000
    head = f"# {estimate.model.name} in {estimate.model.format}, {estimate.how.version}\n"
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
    machine = estimate.machine
    nvidia = bool(machine and machine.gpus and machine.gpus[0].vendor == "NVIDIA")
    if estimate.how.key == "llama.cpp":
        at = words.index("-m") + 1
        words[at] = f"{MODELS}/{words[at].rpartition('/')[2]}"
        backend = estimate.constants.scope.backend if estimate.constants else "cpu"
        if backend not in OF_BACKEND:
            raise Refusal(f"llama.cpp has no image for {backend}; take systemd or llama-swap.")
        image, arguments = LLAMA_CPP + OF_BACKEND[backend], [*words[1:], *listening]
        options: dict[str, Any] = {"volumes": [f"./models:{MODELS}:ro"]}
    elif estimate.how.key == "vllm" and nvidia:
        image, arguments = "vllm/vllm-openai:latest", ["--model", *words[2:], *listening]
        options = {"ipc": "host", "volumes": [CACHE]}
    elif estimate.how.key == "sglang" and nvidia:
        image, arguments = "lmsysorg/sglang:latest", [*words, *listening]
        options = {"ipc": "host", "volumes": [CACHE]}
    else:
        cards = "" if nvidia else " for cards of this maker"
        raise Refusal(
            f"No image of {estimate.runtime}{cards} is on record here; take systemd or llama-swap."
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
    elif machine and machine.gpus:
        service["devices"] = ["/dev/dri", *(["/dev/kfd"] if "rocm" in image else [])]
    return service


def _yaml(content: dict[str, Any]) -> str:
    import yaml  # 10 ms that only a start file is worth

    return yaml.safe_dump(content, sort_keys=False, width=10_000)
