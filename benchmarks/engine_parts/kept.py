"""llama.cpp with one model kept loaded; a line on standard input says what to time.

    {"depth": 128}                 seconds of tokens after so many
    {"depth": 4096, "slot": "x"}   the same, the cache read from a file first
    {"depth": 4096, "save": "x"}   fill the cache and write it to a file

Started by `benchmarks.engine`. A cache depends on layers and heads, not on weights: what a model
with next to no weights wrote fits the one that is to be timed, whose prompt would take minutes.
"""

import json
import sys
import urllib.error
import urllib.request
from typing import Any

from advisor.probes.engine_child import server, tell, token_seconds


def main(job: dict[str, Any]) -> None:
    """Load the model, then do what the lines say until there are none."""
    loaded = server(job)
    tell({"ready": True})
    for line in sys.stdin:
        asked = json.loads(line)
        depth = asked["depth"]
        if "slot" in asked:
            slot(loaded, "restore", asked["slot"])
        tell({"token_seconds": list(token_seconds(loaded, job, depth))})
        if "save" in asked:
            slot(loaded, "save", asked["save"])
            tell({"saved": True})


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
