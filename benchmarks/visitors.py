"""Several people at once: how long a change of one input takes while others change theirs, too.

    python -m benchmarks.visitors [PEOPLE ...]

Visitors speak Streamlit's protocol over a websocket, as a browser does, without drawing: each opens
Advise and then, every five seconds on average, another context or model. Times are from the message
to the end of the script's run, so without the browser's own. A page of Streamlit with four inputs
and a table runs in between for comparison. Prints medians and 95th percentiles, the server's
processor time for a change, and its memory before the visitors and after they have left.
"""

import asyncio
import math
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from benchmarks.pages import ROOT, server

PEOPLE = (1, 10, 30)
PAUSE = 5.0
"""Mean time between two changes of a visitor [s]."""
CHANGES = 5
"""Changes of each visitor."""
MODELS = ("Qwen3-8B", "Llama-3.1-70B", "Qwen3-30B-A3B", "gpt-oss-20b", "Gemma 3 27B")
CONTEXTS = (4096, 8192, 16384, 32768)
BARE = """
import streamlit as st
context = st.number_input("Context", value=int(st.query_params.get("context", 8192)))
for name in ("Model", "GPU", "Use"):
    st.text_input(name, st.query_params.get("model", ""), key=name)
st.dataframe([{"row": at, "value": at * context} for at in range(20)])
"""


@dataclass
class Visitor:
    """One person, whose browser waits for each change."""

    random: Random
    first: float = 0.0  # time until the page was there [s]
    changes: list[float] = field(default_factory=list)  # times of the changes [s]

    async def visit(self, address: str) -> None:
        """Open the page and change it."""
        async with connect(
            f"{address}/_stcore/stream", subprotocols=[Subprotocol("streamlit")], max_size=None
        ) as socket:
            self.first = await self._run(socket)
            for _ in range(CHANGES):
                await asyncio.sleep(self.random.expovariate(1 / PAUSE))
                self.changes.append(await self._run(socket))

    async def _run(self, socket: ClientConnection) -> float:
        """Time of a run of the script with another question [s]."""
        question = {
            "model": self.random.choice(MODELS), "gpu": "RTX 3090",
            "ram_gb": str(self.random.randint(32, 192)),
            "context": str(self.random.choice(CONTEXTS)),
        }  # fmt: skip
        message = BackMsg()
        message.rerun_script.query_string = urlencode(question)
        started = time.perf_counter()
        await socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(bytes(await socket.recv(decode=False)))
            if answer.WhichOneof("type") == "script_finished":
                return time.perf_counter() - started


def main() -> None:
    """Measure each number of people, on the bare page and on ours."""
    numbers = tuple(map(int, sys.argv[1:])) or PEOPLE
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE, encoding="utf-8")
        for name, script in (("bare page", bare), ("Advise", ROOT / "app.py")):
            with server(script) as (url, process):
                asyncio.run(_visits(url, 2))  # the first visitor of a server waits for its caches
                for people in numbers:
                    _measured(name, url, process, people)


def _measured(name: str, url: str, process: psutil.Process, people: int) -> None:
    held, used = process.memory_info().rss, sum(process.cpu_times()[:2])
    visitors = asyncio.run(_visits(url, people))
    spent = sum(process.cpu_times()[:2]) - used
    changes = sorted(change for visitor in visitors for change in visitor.changes)
    first = statistics.median(visitor.first for visitor in visitors)
    late = changes[min(len(changes) - 1, math.ceil(0.95 * len(changes)) - 1)]
    grown = (process.memory_info().rss - held) / 1e6
    print(
        f"{name}, {people} people: first {first:.2f} s, change {statistics.median(changes):.2f} s, "
        f"95th percentile {late:.2f} s, processor {spent / (len(changes) + people):.2f} s a run, "
        f"memory {grown:+.0f} MB after they left",
        flush=True,
    )


async def _visits(url: str, people: int) -> list[Visitor]:
    visitors = [Visitor(random=Random(f"{people} {number}")) for number in range(people)]
    address = url.replace("http", "ws", 1)
    await asyncio.gather(*(visitor.visit(address) for visitor in visitors))
    return visitors


if __name__ == "__main__":
    main()
