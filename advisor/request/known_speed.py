"""Known speed: typed text on a speed that was measured on a machine.

    Qwen3-8B Q4_K_M 41                            tokens a second of one user
    gpt-oss-20b 1900 prompt 4k                    a prompt of 4,096 tokens
    qwen3:30b 18 context 16k                      with 16,384 tokens in the context before
    Llama-3.1-8B AWQ 30 users 8 in vLLM           each of eight users, in another runtime
    Qwen3-4B Q4_K_M 12 ngl 0                      all layers in RAM, as llama.cpp's -ngl says it
    gpt-oss-20b 30 ncmoe 24                       experts of 24 layers in RAM, as its -ncmoe

The model comes first, as people name it, with its format where that is not the usual one; then the
speed, then what differs from a short prompt of one user.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from advisor.catalog.inputs import INPUTS
from advisor.errors import InputError

EXAMPLE = "Qwen3-8B Q4_K_M 41"
MOST = 20  # known speeds that a request holds
LONGEST = 200  # characters of one of them
LIMITS = {
    "speed": (0.001, 1e6),
    "prompt": (1, 1e7),
    "context": (0, 1e7),
    "users": (1, 4096),
    "ngl": (0, 1e4),
    "ncmoe": (0, 1e4),
}
"""Least and largest number of each: speed in tokens/s, lengths in tokens."""
COUNT = r"(\d[\d,._]*\s?[km]?)"
DETAILS = {
    "users": rf"(?:users[ =:]+{COUNT}|{COUNT} users)",
    "context": rf"(?:context|depth|at)[ =:]+{COUNT}(?: tokens)?",
    "ngl": rf"-{{0,2}}(?:ngl|gpu-layers|layers)[ =:]+{COUNT}",
    "ncmoe": rf"-{{0,2}}(?:ncmoe|n?-?cpu-moe)[ =:]+{COUNT}",
    "prompt": rf"prompt(?:[ =:]+(?:of )?{COUNT}(?: tokens)?)?",
    "runtime": r"(?:in|runtime)[ =:]+([^,;]+?)",
}
"""Patterns of what may stand behind the speed, in any order."""
SPEED = re.compile(
    r"(?P<model>\S.*?)[\s,:=]+(?P<speed>\d[\d,._]*)"
    r"(?: ?(?:t/s|tps|toks?/s(?:ec)?|tokens?/s(?:ec)?|tokens? (?:a|per) second))?",
    re.IGNORECASE,
)
"""A model and its speed, with a unit or without."""


@dataclass(frozen=True, kw_only=True)
class KnownSpeed:
    """Measured speed of a machine, with the settings of its run."""

    model: str  # model and format as typed
    speed: float  # speed of each user's tokens, or of the prompt [tokens/s]
    prompt: bool = False  # whether it is a prompt's, else that of generated tokens
    length: float | None = None  # length of that prompt; None for the usual one [tokens]
    context: float | None = None  # tokens in the context before; None for a usual prompt [tokens]
    users: float = 1.0  # users at the same time
    gpu_layers: float | None = None  # layers on the GPU; None for the runtime's choice
    cpu_moe: float | None = None  # layers with experts in RAM; None for the runtime's choice
    runtime: str = ""  # name of the runtime; empty for the usual one

    @property
    def text(self) -> str:
        """Text of the speed, in the form in which a person types it."""
        length = "" if self.length is None else f"{self.length:.0f}"
        words = (
            f"{self.model} {self.speed:.6g}",
            f"prompt {length}".strip() if self.prompt else "",
            "" if self.context is None else f"context {self.context:.0f}",
            f"users {self.users:.0f}" if self.users > 1 else "",
            "" if self.gpu_layers is None else f"ngl {self.gpu_layers:.0f}",
            "" if self.cpu_moe is None else f"ncmoe {self.cpu_moe:.0f}",
            f"in {self.runtime}" if self.runtime else "",
        )
        return " ".join(filter(None, words))


def read(text: str) -> KnownSpeed:
    """Known speed of a text.

    Raises:
        InputError: a text without model or speed, or a number outside its limits; the message says
            what is expected.
    """
    plain = " ".join(text.split())
    if len(plain) > LONGEST:
        raise InputError(f"A known speed has {len(plain):,} characters; {LONGEST} are read.")
    rest, details = _without_details(plain)
    match = SPEED.fullmatch(rest)
    if match is None:
        raise InputError(
            f"{plain!r} is no known speed; write a model, its format and tokens a second, as "
            f"{EXAMPLE!r}, and what differs behind them: prompt 4k, context 16k, users 8, ngl 0, "
            "in vLLM."
        )
    return KnownSpeed(
        model=match["model"],
        speed=_number("speed", match["speed"]),
        prompt="prompt" in details,
        length=_stated("prompt", details),
        context=_stated("context", details),
        users=_stated("users", details) or 1.0,
        gpu_layers=_stated("ngl", details),
        cpu_moe=_stated("ncmoe", details),
        runtime=details.get("runtime", ""),
    )


def check(texts: Iterable[str]) -> None:
    """Check that each text is a known speed, and that there are not too many; raises InputError."""
    every = tuple(texts)
    if len(every) > MOST:
        raise InputError(f"{len(every)} known speeds are given; at most {MOST} are read.")
    for text in every:
        read(text)


def _without_details(text: str) -> tuple[str, Mapping[str, str]]:
    """Text without what stands behind its speed, and that by name."""
    details: dict[str, str] = {}
    while True:
        for name, pattern in DETAILS.items():
            match = re.search(rf"[\s,;]+{pattern}$", text, re.IGNORECASE)
            if match and name not in details:
                details[name] = next(filter(None, match.groups()), "")
                text = text[: match.start()]
                break
        else:
            return text, details


def _stated(name: str, details: Mapping[str, str]) -> float | None:
    """Number of a detail; None where it is not stated."""
    text = details.get(name)
    if text:
        return _number(name, text)
    return None


def _number(name: str, text: str) -> float:
    """Number of a text within its limits."""
    value = INPUTS["prompt"].unrounded(text)
    low, high = LIMITS[name]
    if not low <= value <= high:
        raise InputError(
            f"The {name} of a known speed is {text}; allowed is {low:g} to {high:,.0f}."
        )
    return value
