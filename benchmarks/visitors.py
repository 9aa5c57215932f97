"""Several people at once: how long a change of one input takes while others change theirs, too.

    python -m benchmarks.visitors [people|change|memory|replicas ...] [NUMBER ...]

Visitors speak Streamlit's protocol over a websocket, as a browser does, without drawing. Times are
from the message to the end of the script's run, so without the browser's own.

`people`: each opens Advise and then, every five seconds on average, another context, size of memory
or model. A page of Streamlit with four inputs and a table runs in between for comparison. Prints
medians and 95th percentiles, the server's processor time for a run, and how its memory grew.
`change`: the server's processor time for each change of a visitor who is alone.
`memory`: the server's memory while 200 people in turn change something three times and leave.
`replicas`: two servers on one PostgreSQL behind deploy/Caddyfile, one killed while ten people
go on: how many it cut off, when they had their answer again, and whether it is the same.
"""

import asyncio
import math
import os
import re
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from benchmarks.pages import ROOT, server

PEOPLE = (1, 10, 30)
PAUSE = 5.0  # mean time between two changes of a visitor [s]
CHANGES = 5  # changes of each visitor
MODELS = ("Qwen3-8B", "Llama-3.1-70B", "Qwen3-30B-A3B", "gpt-oss-20b", "Gemma 3 27B")
CONTEXTS = (4096, 8192, 16384, 32768)
VISITS = 200
AT_ONCE = 10
"""Visits while memory is watched, and how many of them at a time; each changes three inputs."""
ALONE = 60
SETTLED = 0.2
"""Changes of a visitor who is alone, and seconds after each until its time is read [s]."""
LAST = 5
GROWN = 1.1
"""Readings at the end that are compared with as many before them, and by how much they may be
larger: what is remembered has a limit, so memory does not go on growing."""
STAYING = 10
UNTIL_KILLED = 12.0
"""People at two replicas, and seconds until one of the two is killed [s]."""
TRIED_AGAIN = 0.5  # time after which a browser tries to reach its server again [s]
GIVEN_UP = 60.0  # time after which a visitor would have left [s]
WAS = re.compile("<span class='oa-was'>.*?</span>")
"""Speed before the change, which a new connection's server does not know."""
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
    pause: float = PAUSE  # mean time between two changes [s]
    count: int = CHANGES  # number of changes
    first: float = 0.0  # time until the page was there [s]
    changes: list[float] = field(default_factory=list)  # times of the changes [s]
    back: list[float] = field(default_factory=list)  # times until a lost answer was there again [s]
    cookie: str = ""  # cookie by which the proxy knows the visitor's replica; empty without a proxy
    told: set[tuple[str, str]] = field(default_factory=set)  # questions and their verdicts

    async def visit(self, address: str) -> None:
        """Open the page and change it; where the server is lost, open its address again."""
        question = self.question()
        lost = 0.0
        while len(self.changes) < self.count:
            try:
                async with self.connected(address) as socket:
                    spent = await self.run(socket, question)
                    self.first = self.first or spent
                    self.back += [time.perf_counter() - lost] if lost else []
                    lost = 0.0
                    while len(self.changes) < self.count:
                        if await _closed(socket, self.random.expovariate(1 / self.pause)):
                            break
                        question = self.question()
                        self.changes.append(await self.run(socket, question))
            except (OSError, WebSocketException):
                if not self.cookie or (lost and time.perf_counter() - lost > GIVEN_UP):
                    raise
            if len(self.changes) < self.count:
                lost = lost or time.perf_counter()
                await asyncio.sleep(TRIED_AGAIN)

    def connected(self, address: str) -> connect:
        """Connection of a page."""
        stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
        return connect(
            stream,
            subprotocols=[Subprotocol("streamlit")],
            max_size=None,
            additional_headers={"Cookie": self.cookie},
        )

    def question(self) -> str:
        """Another question, as the address of a page has it."""
        question = {
            "model": self.random.choice(MODELS), "gpu": "RTX 3090",
            "ram_gb": str(self.random.randint(32, 192)),
            "context": str(self.random.choice(CONTEXTS)),
        }  # fmt: skip
        return urlencode(question)

    async def run(self, socket: ClientConnection, question: str) -> float:
        """Time of a run of the script with a question [s]."""
        message = BackMsg()
        message.rerun_script.query_string = question
        started = time.perf_counter()
        await socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(bytes(await socket.recv(decode=False)))
            if "oa-told" in (shown := answer.delta.new_element.html.body):
                self.told.add((question, WAS.sub("", shown)))
            if answer.WhichOneof("type") == "script_finished":
                return time.perf_counter() - started


async def _closed(socket: ClientConnection, seconds: float) -> bool:
    """Whether a connection is lost within some seconds."""
    try:
        await asyncio.wait_for(socket.wait_closed(), seconds)
    except TimeoutError:
        return False
    return True


def main() -> None:
    """Measure what is named, else all of it."""
    modes: dict[str, Callable[[], None]] = {
        "people": people, "change": change, "memory": memory, "replicas": replicas,
    }  # fmt: skip
    named = [word for word in sys.argv[1:] if not word.isdigit()]
    for name in named or (["people"] if sys.argv[1:] else modes):
        modes[name]()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")


def people() -> None:
    """Measure each number of people, on the bare page and on ours."""
    numbers = tuple(int(word) for word in sys.argv[1:] if word.isdigit()) or PEOPLE
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE, encoding="utf-8")
        for name, script in (("bare page", bare), ("Advise", ROOT / "app.py")):
            with server(script) as (url, process):
                asyncio.run(_visits(url, 2))  # the first visitor of a server waits for its caches
                for number in numbers:
                    _measured(name, url, process, number)


def _measured(name: str, url: str, process: psutil.Process, number: int) -> None:
    held = process.memory_info().rss
    used = sum(process.cpu_times()[:2])
    visitors = asyncio.run(_visits(url, number))
    spent = sum(process.cpu_times()[:2]) - used
    changes = sorted(change for visitor in visitors for change in visitor.changes)
    first = statistics.median(visitor.first for visitor in visitors)
    late = changes[min(len(changes) - 1, math.ceil(0.95 * len(changes)) - 1)]
    grown = (process.memory_info().rss - held) / 1e6
    print(
        f"{name}, {number} people: first {first:.2f} s, change {statistics.median(changes):.2f} s, "
        f"95th percentile {late:.2f} s, processor {spent / (len(changes) + number):.2f} s a run, "
        f"memory {grown:+.0f} MB after they left",
        flush=True,
    )


async def _visits(
    url: str, number: int, seed: int | None = None, pause: float = PAUSE, count: int = CHANGES
) -> list[Visitor]:
    """Visits at the same time, drawn with a seed, which is their number where none is given."""
    drawn = number if seed is None else seed
    visitors = [Visitor(Random(f"{drawn} {each}"), pause, count) for each in range(number)]
    await asyncio.gather(*(visitor.visit(url) for visitor in visitors))
    return visitors


def change() -> None:
    """Processor time of the server for a change of a visitor who is alone."""
    with server() as (url, process):
        asyncio.run(_visits(url, 2))
        times = asyncio.run(_alone(url, process))
    print(
        f"a change alone: {statistics.median(times):.2f} s of a processor at the median, "
        f"{statistics.quantiles(times, n=20)[-1]:.2f} s at the 95th percentile of {len(times)}"
    )


async def _alone(address: str, process: psutil.Process) -> list[float]:
    visitor = Visitor(random=Random(1))
    times = []
    async with visitor.connected(address) as socket:
        await visitor.run(socket, visitor.question())
        for _ in range(ALONE):
            used = sum(process.cpu_times()[:2])
            await visitor.run(socket, visitor.question())
            await asyncio.sleep(SETTLED)
            times.append(sum(process.cpu_times()[:2]) - used)
    return times


def memory() -> None:
    """Memory of the server as visitors come and go [MB]."""
    with server() as (url, process):
        asyncio.run(_visits(url, 2))
        curve = [process.memory_info().rss]
        for batch in range(VISITS // AT_ONCE):
            asyncio.run(_visits(url, AT_ONCE, batch, pause=0.1, count=3))
            curve.append(process.memory_info().rss)
    sizes = ", ".join(f"{size / 1e6:.0f}" for size in curve)
    print(f"memory before and after each {AT_ONCE} visits with {3 * AT_ONCE} changes: {sizes} MB")
    earlier = curve[-2 * LAST : -LAST]
    last = curve[-LAST:]
    if statistics.mean(last) > GROWN * statistics.mean(earlier):
        sys.exit("It goes on growing.")


def replicas() -> None:
    """Kill one of two replicas behind the proxy while visitors go on."""
    sys.path.append(str(ROOT / "tests" / "helpers"))
    import postgresql  # type: ignore[import-not-found]
    import proxy  # type: ignore[import-not-found]
    from driving import free_port  # type: ignore[import-not-found]

    if not postgresql.programs() or not proxy.program():
        print("No replicas were measured: PostgreSQL or Caddy is not installed.")
        return
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        settings = {
            "ADVISOR_DATABASE_URL": stack.enter_context(postgresql.server()).new_database(),
            "STREAMLIT_SERVER_COOKIE_SECRET": "the same for both replicas",
        }
        both = [stack.enter_context(server(**settings)) for _ in range(2)]
        names = {f"app{at}": url.split("//")[1] for at, (url, _) in enumerate(both, start=1)}
        site = stack.enter_context(proxy.proxy(free_port(), names, Path(folder)))
        visitors = [Visitor(random=Random(at), cookie=_cookie(site)) for at in range(STAYING)]
        asyncio.run(_until_one_is_killed(site, visitors, both[0][1]))
    answers = {verdict for visitor in visitors for verdict in visitor.told}
    again = [seconds for visitor in visitors for seconds in visitor.back]
    if not again:
        sys.exit("The replica that was killed served nobody: nothing was measured.")
    differing = len(answers) - len({question for question, _ in answers})
    print(
        f"{len(visitors)} people at two replicas, one killed after {UNTIL_KILLED:g} s: "
        f"{len(again)} cut off, with their answer again after {statistics.median(again):.1f} s at "
        f"the median, {max(again):.1f} s at most; all {sum(len(v.changes) for v in visitors)} "
        f"changes answered, {differing} of {len(answers)} verdicts differ"
    )
    if differing:
        sys.exit("A verdict depends on the replica.")


def _cookie(site: str) -> str:
    with urllib.request.urlopen(f"{site}/_stcore/health", timeout=10) as answer:
        return str(answer.headers["Set-Cookie"]).split(";")[0]


async def _until_one_is_killed(site: str, visitors: list[Visitor], process: psutil.Process) -> None:
    visits = asyncio.gather(*(each.visit(site) for each in visitors))
    await asyncio.sleep(UNTIL_KILLED)
    process.kill()
    await visits


if __name__ == "__main__":
    main()
