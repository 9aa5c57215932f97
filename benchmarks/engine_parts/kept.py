"""llama.cpp with one model kept loaded; a line on standard input says what to time.

    {"depth": 128}                 tokens after so many, and the speed of reading those
    {"depth": 4096, "slot": "x"}   tokens alone, the cache read from a file first
    {"depth": 4096, "save": "x"}   fill the cache and write it to a file
    {"depth": 16, "any": true}     tokens drawn from all of the vocabulary

Started by `benchmarks.engine`. A cache depends on layers and heads, not on weights: what a model
with next to no weights wrote fits the one that is to be timed, whose prompt would take minutes.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from advisor.probes.llama_cpp.child import answers, server, tell, words
from advisor.probes.llama_cpp.die_with_parent import end_with_parent

# tokens of a first prompt, which brings in all weights once
FIRST = 16
SEED = 9
ANY = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}
"""No token is left out. The few that are likely after one prompt would go to few of the experts."""


def main(job: dict[str, Any]) -> None:
    """Load the model, then do what the lines say until there are none."""
    end_with_parent(os.getppid())
    loaded = server(job)
    answers(loaded, words(job, FIRST, SEED), 1)
    tell({"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        prompt = words(job, request["depth"])
        rate = None
        if "slot" in request:
            slot(loaded, "restore", request["slot"])
        else:
            rate = answers(loaded, prompt, 1, fresh=True)[-1]["prompt_per_second"]
        if "save" in request:
            slot(loaded, "save", request["save"])
        sampling = ANY if request.get("any") else {}
        tell({"steps": list(steps(loaded, prompt, job, sampling)), "prompt_rate": rate})


def steps(
    loaded: Any, prompt: list[int], job: dict[str, Any], sampling: dict[str, Any]
) -> Iterator[tuple[float, int]]:
    """Seconds of each token, and bytes that came from the drive meanwhile."""
    answers(loaded, prompt, 1)
    until = time.monotonic() + job["seconds"]
    while True:
        told = answers(loaded, prompt, job["tokens"], sampling=sampling, note=from_drive)
        for before, later in pairwise(told):
            seconds = (later["predicted_ms"] - before["predicted_ms"]) / 1e3
            if seconds > 0:  # a step of no time is the end repeated
                yield seconds, later["read_bytes"] - before["read_bytes"]
        if time.monotonic() > until:
            return


def from_drive() -> dict[str, Any]:
    """What this process has had a drive read for it, read-ahead and page faults with it [B]."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return {"read_bytes": int(dict(line.split(": ") for line in lines)["read_bytes"])}


def slot(loaded: Any, action: str, name: str) -> None:
    """Write the cache to a file of that name, or read it."""
    request = urllib.request.Request(
        f"{loaded.listening_address}/slots/0?action={action}",
        json.dumps({"filename": name}).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{action} {name}: {error.read().decode(errors='replace')}") from error


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
