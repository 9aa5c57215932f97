"""A real llama-server on the processor, with the file of a model."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = """
import sys, time
import xllamacpp as engine

params = engine.CommonParams()
params.model.path = sys.argv[1]
params.port = int(sys.argv[2])
params.n_ctx = 2048
params.endpoint_metrics = True
params.warmup = params.fit_params = False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # several wait in a loop
server = engine.Server(params)
print(server.listening_address, flush=True)
time.sleep(600)
"""


@contextmanager
def llama_server(model: Path, port: int) -> Iterator[str]:
    """Address of a server with `--metrics`, which is ended afterwards."""
    words = [sys.executable, "-c", PROGRAM, str(model), str(port)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def complete(url: str, prompt: list[int], tokens: int) -> None:
    """Have a reply of some tokens generated."""
    body = {"prompt": prompt, "n_predict": tokens, "ignore_eos": True}
    request = urllib.request.Request(
        f"{url}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()
