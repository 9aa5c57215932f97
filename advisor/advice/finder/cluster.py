"""Combinations of the finder computed on a Dask cluster, with the same results.

Each worker needs this package in the same version. Tasks are plain records, so nothing but names,
numbers and the model's sizes travels.
"""

import importlib
import importlib.util
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from advisor.advice.finder.combinations import Combinations, RunSetup, combinations, joined
from advisor.advice.finder.search import Compute
from advisor.errors import InputError, NetworkError
from advisor.machine.machine import Machine

WAIT = 10.0
"""Seconds until a scheduler without an answer, or without workers, is given up [s]."""


def on_cluster(address: str) -> Compute:
    """Function that computes cases on the workers of a cluster.

    Args:
        address: address of the scheduler, such as "tcp://127.0.0.1:8786".

    Raises:
        InputError: the package `distributed` is not installed.
    """
    if importlib.util.find_spec("distributed") is None:
        raise InputError(
            "--scheduler needs the package distributed; pip install 'offload-advisor[dask]', or "
            "leave the option out."
        )

    def compute(host: Machine, wanted: Sequence[RunSetup]) -> Combinations:
        with _client(address) as client:
            tasks = [list(cases) for _, cases in groupby(wanted, key=_task)]
            futures = client.map(combinations, [host] * len(tasks), tasks, pure=False)
            parts = client.gather(futures)
        return joined(parts, sum(part.tried for part in parts))

    return compute


def _task(case: RunSetup) -> tuple[str, tuple[int, ...]]:
    """Cases computed together by one worker."""
    return case.runtime, case.forms


def _client(address: str) -> Any:
    """Connection to a scheduler with workers.

    Raises:
        NetworkError: the scheduler does not answer, or has no workers.
    """
    distributed: Any = importlib.import_module("distributed")
    try:
        client = distributed.Client(address, timeout=WAIT, set_as_default=False)
        client.wait_for_workers(1, timeout=WAIT)
    except (OSError, ValueError, TimeoutError) as error:
        raise NetworkError(
            f"No Dask scheduler with workers answers at {address[:80]!r}; start one with "
            "`dask scheduler` and `dask worker` beside this version of offload-advisor, or leave "
            "--scheduler out."
        ) from error
    return client
