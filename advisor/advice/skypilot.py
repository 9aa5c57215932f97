"""SkyPilot task file: rent a GPU and serve the model on it.

SkyPilot asks the clouds that a person has keys for and takes the cheapest that has such a GPU. The
fields are those of https://docs.skypilot.co/en/latest/reference/yaml-spec.html, read 2026-11-21.
A variable without a value must be given at launch (sky/task.py of 0.14.1). What runs is the command
that was predicted, with the model taken from Hugging Face. Setup runs at every launch, so that it
skips what is done.
"""

import math
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from advisor.advice.price_rows import accelerator_rows
from advisor.advice.upgrades import Upgrade
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Tier
from advisor.errors import Refusal
from advisor.runtimes import LLAMA_CPP, OLLAMA, SGLANG, VLLM
from advisor.runtimes.serving import checkpoint
from advisor.units import GIB

VERSION = "SkyPilot 0.14.1"
SYSTEM_DISK = 100
"""Room beside the model for the system, drivers and the build; assumed [GiB]."""
SYSTEM_RAM = 8
"""RAM beside the model's; assumed [GiB]."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Installation and launch of a runtime on a rented machine.

    Attributes:
        variable: names where the model is downloaded from, which the advisor cannot always know.
        port: that it listens on.
        setup: shell lines that install it.
        run: shell lines that serve an estimate.
    """

    variable: str
    port: int
    setup: tuple[str, ...]
    run: Callable[[Estimate], tuple[str, ...]]


GGUF, CHECKPOINT = "GGUF_REPOSITORY", "MODEL_REPOSITORY"
"""Variables for a repository with GGUF files, and for one with a checkpoint."""


def _llama_cpp(estimate: Estimate) -> tuple[str, ...]:
    """llama-server downloads the file itself (`-hf`)."""
    file = shlex.quote(f"{estimate.model.name}-{estimate.model.format}.gguf")
    source = f'llama.cpp/build/bin/llama-server -hf "${GGUF}:{_form(estimate)}"'
    return (_changed(estimate.command, f"llama-server -m {file}", source),)


def _ollama(estimate: Estimate) -> tuple[str, ...]:
    """The server in the background, then the model under a name of its own, then waiting."""
    serve, _, create, _ = estimate.command.splitlines()
    source = f"hf.co/${GGUF}:{_form(estimate)}"
    file = f"./{estimate.model.name}-{estimate.model.format}.gguf"
    return (
        f"{serve} &",
        "until ollama list; do sleep 1; done",
        f'ollama pull "{source}"',
        _changed(create, file, f"'\"{source}\"'"),
        "wait",
    )


def _served(estimate: Estimate) -> tuple[str, ...]:
    """Servers of checkpoints download them themselves."""
    named = f" {shlex.quote(checkpoint(estimate.model))} "
    return (ENVIRONMENT, _changed(estimate.command, named, f' "${CHECKPOINT}" '))


def _changed(command: str, old: str, new: str) -> str:
    """Command with another name of the model.

    Raises:
        Refusal: it does not name the model so.
    """
    if command.count(old) != 1:
        raise Refusal("This command cannot be made into a task file.")
    return command.replace(old, new)


def _form(estimate: Estimate) -> str:
    return re.sub(r"[^\w.-]", "", estimate.model.format)


ENVIRONMENT = ". ~/serving/bin/activate"
FRESH = "[ -d ~/serving ] || (pip install uv && uv venv --python 3.12 --seed ~/serving)"
"""A new environment of Python, as the guides of vLLM and SGLang advise."""

RECIPES = {
    LLAMA_CPP.name: Recipe(
        variable=GGUF,
        port=8080,
        setup=(  # for the CUDA that is there (llama.cpp, docs/build.md)
            "sudo apt-get update && sudo apt-get install -y cmake build-essential libssl-dev",
            "[ -d llama.cpp ] || git clone --depth 1 https://github.com/ggml-org/llama.cpp",
            "cmake -S llama.cpp -B llama.cpp/build -DGGML_CUDA=ON",
            "cmake --build llama.cpp/build --config Release -j --target llama-server",
        ),
        run=_llama_cpp,
    ),
    OLLAMA.name: Recipe(
        variable=GGUF,
        port=11434,
        setup=(  # the installer starts a service of its own (ollama, docs/linux.mdx)
            "curl -fsSL https://ollama.com/install.sh | sh",
            "sudo systemctl disable --now ollama || true",
        ),
        run=_ollama,
    ),
    VLLM.name: Recipe(
        variable=CHECKPOINT,
        port=8000,
        setup=(  # vllm, docs/getting_started/installation/gpu.cuda.inc.md
            FRESH,
            ENVIRONMENT,
            f"uv pip install vllm=={VLLM.version.rpartition(' ')[2]} --torch-backend=auto",
            "vllm download-kernels",
        ),
        run=_served,
    ),
    SGLANG.name: Recipe(
        variable=CHECKPOINT,
        port=30000,
        setup=(  # https://docs.sglang.io/docs/, read 2026-11-21
            FRESH,
            ENVIRONMENT,
            f"uv pip install sglang=={SGLANG.version.rpartition(' ')[2]} --prerelease=allow",
        ),
        run=_served,
    ),
}
"""By the name of the runtime."""


def task(upgrade: Upgrade) -> str:
    """The file as text, to save as `task.yaml`.

    Raises:
        Refusal: a GPU that SkyPilot has no name for, or a runtime that no file is written for.
    """
    estimate = upgrade.estimate
    recipe = RECIPES.get(estimate.runtime)
    if recipe is None:
        raise Refusal(
            f"Task files are written for {', '.join(RECIPES)}. For {estimate.runtime}, rent the "
            "GPU and type its command there."
        )
    name = _plain(f"{estimate.model.name}-{upgrade.name}")
    known = _known(estimate, recipe)
    given = "" if known else f" --env {recipe.variable}=OWNER/NAME"
    return "\n".join(
        (
            f"# {VERSION}, {estimate.how.version}",
            f"# start: sky launch -c {name} task.yaml{given}",
            *(
                ()
                if known
                else (f"# OWNER/NAME is a repository on Hugging Face {_with(estimate)}.",)
            ),
            "# a repository with terms to accept also takes --secret HF_TOKEN",
            f"# use it: ssh -L {recipe.port}:localhost:{recipe.port} {name}, "
            f"then http://localhost:{recipe.port}",
            f"# stop paying: sky down {name}",
            f"name: {name}",
            "",
            "resources:",
            f"  accelerators: {accelerators(upgrade)}",
            f"  disk_size: {math.ceil(estimate.model.file_bytes / GIB) + SYSTEM_DISK}",
            *(
                [f"  memory: {_ram(estimate)}+"]
                if estimate.strategy is not PlacementStrategy.GPU_RESIDENT
                else []
            ),
            "",
            "envs:",
            f"  {recipe.variable}:{f' {known}' if known else ''}",
            "",
            "setup: |",
            *(f"  {line}" for line in recipe.setup),
            "",
            "run: |",
            *(f"  {line}" for line in recipe.run(estimate)),
            "",
        )
    )


def _known(estimate: Estimate, recipe: Recipe) -> str:
    """The repository, where the advisor knows it; else empty."""
    named = checkpoint(estimate.model)
    return named if recipe.variable == CHECKPOINT and "/" in named else ""


def _with(estimate: Estimate) -> str:
    gguf = RECIPES[estimate.runtime].variable == GGUF
    return "with the model as GGUF" if gguf else f"with the model in {estimate.model.format}"


def accelerators(upgrade: Upgrade) -> str:
    """What to rent, as SkyPilot writes it: one name, or a set to take the cheapest of.

    Raises:
        Refusal: a GPU that SkyPilot has no name for.
    """
    row = accelerator_rows().get(upgrade.gpu)
    if row is None:
        raise Refusal(f"SkyPilot has no name on record for {upgrade.gpu}; ask `sky gpus list -a`.")
    names = [f"{name}:{upgrade.count}" for name in row.accelerators.split(";")]
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def _plain(text: str) -> str:
    """A name that SkyPilot takes for a cluster: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")


def _ram(estimate: Estimate) -> int:
    """RAM for what stays outside the GPU, and for the system [GiB]."""
    return math.ceil(sum(float(size) for size in estimate.held[Tier.RAM]) / GIB) + SYSTEM_RAM
