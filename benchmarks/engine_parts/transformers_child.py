"""A Transformers model, loaded by the lines that the program prints; a line on standard input says
what to time.

    {"depth": 128, "tokens": 16}    that many tokens after a prompt of so many

Started by `benchmarks.gpu_engine`. Tokens are generated as the printed lines do it, by `generate`;
it hands over each as soon as it has it, and the clock is read when the GPU has come to rest.
"""

import json
import os
import sys
import time
from contextlib import redirect_stdout
from importlib.metadata import version
from itertools import pairwise
from typing import Any

from advisor.probes.llama_cpp.child import tell
from advisor.probes.llama_cpp.die_with_parent import end_with_parent
from benchmarks.engine_parts.kept import from_drive

SEED = 9


class Clock:
    """Takes tokens as a streamer of `generate`; the first that it gets is the whole prompt."""

    def __init__(self) -> None:
        self.told: list[tuple[float, float]] = []

    def put(self, _: Any) -> None:
        """Note the time, and what the drive gave so far."""
        synchronize()
        self.told.append((time.monotonic(), from_drive()["read_bytes"]))

    def end(self) -> None:
        """Nothing is left to do."""


def main(job: dict[str, Any]) -> None:
    """Load the model, then do what the lines say until there are none."""
    end_with_parent(os.getppid())
    os.chdir(job["folder"])
    model = loaded(job["load"])
    tell({"runtime": runtime(), "places": places(model)})
    for line in sys.stdin:
        tell(timed(model, **json.loads(line)))


def loaded(text: str) -> Any:
    """The model that these lines of Python make."""
    made: dict[str, Any] = {}
    with redirect_stdout(sys.stderr):
        exec(text, made)  # the lines that the program prints for people
    return made["model"]


def timed(model: Any, depth: int, tokens: int) -> dict[str, Any]:
    """Seconds until the first token; seconds of each other, and bytes from the drive for it."""
    import torch

    torch.manual_seed(SEED)
    prompt = torch.randint(0, model.config.vocab_size, (1, depth)).to(model.device)
    clock = Clock()
    with redirect_stdout(sys.stderr):
        model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=tokens,
            do_sample=False,
            streamer=clock,
        )
    steps = [(later[0] - before[0], later[1] - before[1]) for before, later in pairwise(clock.told)]
    return {"first": steps[0][0], "steps": steps[1:]}


def synchronize() -> None:
    """Wait for the GPU, where there is one."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def places(model: Any) -> list[str]:
    """Devices that hold modules: "0" for the first GPU, "cpu", "disk"."""
    whole = {"": model.device}  # a model on one device has no map
    return sorted({str(device) for device in getattr(model, "hf_device_map", whole).values()})


def runtime() -> str:
    """What loads and runs the model, with versions."""
    parts = ", ".join(f"{name} {version(name)}" for name in ("transformers", "accelerate", "torch"))
    return f"Accelerate ({parts})"


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
