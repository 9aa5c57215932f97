"""A SkyPilot task file that rents the GPU of an upgrade and serves the model on it.

SkyPilot asks the clouds that a person has keys for and takes the cheapest that has such a GPU. The
fields are those of https://docs.skypilot.co/en/latest/reference/yaml-spec.html, read 2026-11-21.
A variable without a value must be given at launch (sky/task.py of 0.14.1). llama.cpp is compiled on
the machine, for the CUDA that is there (its docs/build.md); setup runs at every launch, so that it
skips what is done.
"""

import math
import re

from advisor import catalog
from advisor.advice import Upgrade
from advisor.errors import Refusal
from advisor.estimate import Estimate
from advisor.placement import Strategy, Tier
from advisor.runtimes.llama_cpp import LLAMA_CPP
from advisor.runtimes.llama_cpp_command import arguments
from advisor.units import GIB

VERSION = "SkyPilot 0.14.1"
SYSTEM_DISK = 100
"""Room beside the model for the system, drivers and the build; assumed [GiB]."""
SYSTEM_RAM = 8
"""RAM beside the model's; assumed [GiB]."""
REPOSITORY = "GGUF_REPOSITORY"
"""The variable that names where the model is downloaded from, which the advisor cannot know."""


def task(upgrade: Upgrade) -> str:
    """The file as text, to save as `task.yaml`.

    Raises:
        Refusal: a GPU that SkyPilot has no name for, or a runtime other than llama.cpp.
    """
    one = upgrade.estimate
    if one.runtime != LLAMA_CPP.name or one.placement is None or one.machine is None:
        raise Refusal("Task files are written for llama.cpp alone.")
    name = _plain(f"{one.model.name}-{upgrade.name}")
    return "\n".join(
        (
            f"# {VERSION}; start: sky launch -c {name} task.yaml --env {REPOSITORY}=OWNER/NAME",
            "# OWNER/NAME is a repository on Hugging Face with the model as GGUF.",
            f"# use it: ssh -L 8080:localhost:8080 {name}, then http://localhost:8080",
            f"# stop paying: sky down {name}",
            f"name: {name}",
            "",
            "resources:",
            f"  accelerators: {accelerators(upgrade)}",
            f"  disk_size: {math.ceil(one.model.file_bytes / GIB) + SYSTEM_DISK}",
            *([f"  memory: {_ram(one)}+"] if one.strategy is not Strategy.GPU_RESIDENT else []),
            "",
            "envs:",
            f"  {REPOSITORY}:",
            "",
            "setup: |",
            "  sudo apt-get update && sudo apt-get install -y cmake build-essential libssl-dev",
            "  [ -d llama.cpp ] || git clone --depth 1 https://github.com/ggml-org/llama.cpp",
            "  cmake -S llama.cpp -B llama.cpp/build -DGGML_CUDA=ON",
            "  cmake --build llama.cpp/build --config Release -j --target llama-server",
            "",
            "run: |",
            f"  {_serve(one)}",
            "",
        )
    )


def accelerators(upgrade: Upgrade) -> str:
    """What to rent, as SkyPilot writes it: one name, or a set to take the cheapest of.

    Raises:
        Refusal: a GPU that SkyPilot has no name for.
    """
    row = catalog.accelerators().get(upgrade.gpu)
    if row is None:
        raise Refusal(f"SkyPilot has no name on record for {upgrade.gpu}; ask `sky gpus list -a`.")
    names = [f"{name}:{upgrade.count}" for name in row.accelerators.split(";")]
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def _plain(text: str) -> str:
    """A name that SkyPilot takes for a cluster: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")


def _ram(one: Estimate) -> int:
    """RAM for what stays outside the GPU, and for the system [GiB]."""
    return math.ceil(sum(float(size) for size in one.held[Tier.RAM]) / GIB) + SYSTEM_RAM


def _serve(one: Estimate) -> str:
    """The line that was predicted, with the model downloaded by llama-server itself."""
    if one.placement is None or one.machine is None:
        return ""
    options = arguments(one.model, one.placement, one.machine, one.work)
    form = re.sub(r"[^\w.-]", "", one.model.format)
    source = f'-hf "${REPOSITORY}:{form}"'
    return " ".join(["llama.cpp/build/bin/llama-server", source, *options])
