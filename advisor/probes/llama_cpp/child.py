"""Process that runs llama.cpp through the wheel `xllamacpp` and prints timings.

Started by `programs` with a job in JSON. Each finished part is printed as a line of JSON, so
that earlier parts survive when the process is stopped. Imports nothing of this package, to start
quickly.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

FIRST_WORD = 259  # tokens before it are reserved, or single bytes


def main(job: dict[str, Any]) -> None:
    """Load a model and time tokens at each depth, then prompts."""
    loaded = server(job)
    for depth in job["depths"]:
        tell({"depth": depth, "token_seconds": list(token_seconds(loaded, job, depth))})
    started = time.monotonic()
    rates = list[float]()
    while job["prompt"] and (not rates or time.monotonic() < started + job["seconds"]):
        prompt = words(job, job["prompt"], len(rates) + 1)
        rates.append(answers(loaded, prompt, 1, fresh=True)[-1]["prompt_per_second"])
        tell({"prompt": job["prompt"], "prompt_rates": rates})
    sys.stdout.flush()
    os._exit(0)  # taking the server down can hang


def server(job: dict[str, Any]) -> Any:
    """llama.cpp with the model of a job, on the processor only."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = job["path"]
    params.n_ctx = max(*job["depths"], job["prompt"]) + 4 * job["tokens"]
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.warmup = params.fit_params = False
    params.no_extra_bufts = job["plain"]
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = job["threads"]
    if job["mapped"]:
        params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_MMAP
    params.slot_save_path = job.get("slots", "")
    return xllamacpp.Server(params)


def words(job: dict[str, Any], count: int, seed: int = 0) -> list[int]:
    """Random tokens, the same for the same seed."""
    generator = random.Random(seed)  # noqa: S311 - words of no meaning, no secret
    return [generator.randrange(FIRST_WORD, job["vocab"]) for _ in range(count)]


def token_seconds(loaded: Any, job: dict[str, Any], depth: int) -> Iterator[float]:
    """Times of tokens after a prompt, repeated until the time is up [s]."""
    prompt = words(job, depth)
    answers(loaded, prompt, 1)
    started = time.monotonic()
    while True:
        times = [answer["predicted_ms"] for answer in answers(loaded, prompt, job["tokens"])]
        # The first comes with the prompt; a difference of 0 is the repeated last answer.
        yield from ((later - before) / 1e3 for before, later in pairwise(times) if later > before)
        if time.monotonic() > started + job["seconds"]:
            return


def answers(
    loaded: Any,
    prompt: list[int],
    count: int,
    *,
    fresh: bool = False,
    sampling: dict[str, Any] | None = None,
    note: Callable[[], dict[str, Any]] = dict,
) -> list[dict[str, Any]]:
    """Timings with each token, and the values that `note` gives; `fresh` leaves the cache out."""
    received: list[tuple[Any, dict[str, Any]]] = []
    request = {
        "prompt": prompt,
        "n_predict": count,
        "cache_prompt": not fresh,
        "ignore_eos": True,
        "temperature": 1.0,
        "stream": True,
        "timings_per_token": True,
        **(sampling or {}),
    }
    loaded.handle_completions(request, lambda answer: received.append((answer, note())))
    timings = [
        {**answer["timings"], **more}
        for answer, more in received
        if isinstance(answer, dict) and "timings" in answer
    ]
    if not timings:
        raise SystemExit(f"llama.cpp answered {str(received)[:300]}")
    return timings


def tell(part: dict[str, Any]) -> None:
    """Print the timings of a finished part."""
    sys.stdout.write(json.dumps(part) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
