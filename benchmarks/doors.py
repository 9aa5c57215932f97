"""Whether every door gives the same digits: seeded requests through each, compared exactly.

    python -m benchmarks.doors [COUNT [PAGES]]

Doors: Python (`compare`), the command line in process (`estimate --json` with the options that a
page prints), a link opened again, the assistant's tool, `check` of a scenario file, and for the
first PAGES requests (60) the page itself, run from its address. Compared are the speeds, first
tokens, memory and commands of every runtime and placement; of `check` the figures of the fastest;
of the page the digits that its table of runtimes shows. Prints what differs, then counts. 1,000
requests take some twelve minutes, a page four seconds.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from html import unescape
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

from streamlit.testing.v1 import AppTest

from advisor.cli import mcp
from advisor.cli.estimate import estimate_answer
from advisor.cli.main import main as command
from advisor.errors import AdvisorError
from advisor.reports.scenarios import run, scenarios
from advisor.request import command_line, texts
from advisor.request.estimates import estimates_of
from advisor.request.request import Request
from advisor.ui.advise.page import TABS
from advisor.units import range_of, seconds, tokens_per_second

COUNT = 1000
PAGES = 60
APP = Path(__file__).parents[1] / "app.py"
MODELS = ("Llama-3.1-8B", "Llama-3.1-70B", "Qwen3-30B-A3B", "Qwen3-32B", "gpt-oss-120b",
          "gpt-oss-20b", "DeepSeek-R1", "Gemma 3 27B", "Qwen3-Next-80B-A3B", "Phi-4",
          "deepseek r1 32b q4", "qwen 3 4b")  # fmt: skip
GPUS = ("RTX 3090", "2x RTX 3090", "RTX 4090 + RTX 3060 12GB", "RX 7900 XTX", "Arc B580", "P40",
        "H100", "none", "rtx 4060 laptop", "RTX 5090")  # fmt: skip
MACHINES = ("Mac Studio M3 Ultra 256GB", "Strix Halo 128GB", "DGX Spark", "MacBook Pro M4 Max 64GB",
            "gaming PC with a 3060 12GB and 32 GB RAM")  # fmt: skip
OPTIONAL: Mapping[str, tuple[Any, ...]] = {
    "format": ("Q4_K_M", "Q8_0", "Q3_K_M"), "context": (4096, 16384, 65536), "prompt": (64, 1500),
    "output": (64, 700), "users": (2, 8), "kv_type": ("q8_0",), "ubatch": (1024,),
    "runtime": ("llama.cpp", "vLLM", "Ollama"), "gpu_layers": (10,), "flash_attention": (False,),
    "cached_share": (0.5,), "variety": (0.2,), "threads": (4,), "pcie_gen": (3,),
}  # fmt: skip
COMPARED = ("runtime", "placement", "format", "fits", "decode_tps", "decode_tps_low", "prefill_tps",
            "ttft_s", "vram_bytes", "ram_bytes", "missing_bytes", "command")  # fmt: skip
Row = tuple[Any, ...]


def asked_for(random: Random) -> Request:
    """A request with some inputs stated."""
    values: dict[str, Any] = {"model": random.choice(MODELS)}
    if random.random() < 0.2:
        values["machine"] = random.choice(MACHINES)
    else:
        values |= {"gpu": random.choice(GPUS), "ram_gb": random.choice((16, 64, 256))}
    for name in random.sample(sorted(OPTIONAL), random.choice((0, 1, 2, 3))):
        values[name] = random.choice(OPTIONAL[name])
    return Request(**values)


def rows(records: list[dict[str, Any]]) -> list[Row]:
    """Compared values of records of `estimate --json`, with lists as tuples."""
    return [
        tuple(tuple(each[key]) if isinstance(each[key], list) else each[key] for key in COMPARED)
        for each in records
    ]


def by_python(request: Request) -> list[Row]:
    """Estimates as Python objects, in the words of the record."""
    return rows([estimate_answer(each) for each in estimates_of(request.nouns())])


def printed(request: Request) -> list[dict[str, Any]]:
    """Records of the command line in this process."""
    text = StringIO()
    with redirect_stdout(text):
        code = command(["estimate", *command_line.to_argv(request), "--json"])
    if code == 0:
        return list(json.loads(text.getvalue()))
    return []


def by_command(request: Request) -> list[Row]:
    """The command line."""
    return rows(printed(request))


def by_link(request: Request) -> list[Row]:
    """A link of the page, opened again."""
    opened = texts.from_address(texts.to_texts(request))
    if opened.problems:
        return []
    return by_python(opened.request)


def by_assistant(request: Request) -> list[Row]:
    """The tool of an assistant, which cuts long lists; what it left out is taken from Python."""
    record = mcp.answer("estimate", request.stated(), allow_files=False)[1]
    given = rows(record["estimates"])
    left_out = record.get("estimates_left_out", 0)
    if left_out:
        return given + by_python(request)[len(given) :]
    return given


def on_page(request: Request) -> list[str]:
    """Rows of the page's table of runtimes, from the request's address, as text."""
    page = AppTest.from_file(str(APP), default_timeout=120)
    page.session_state[TABS] = "All runtimes"
    for key, value in texts.to_texts(request).items():
        page.query_params[key] = value
    page.run()
    bodies = "".join(each.proto.body for each in page.get("html"))
    table = bodies.partition("aria-label='Runtimes, fastest first'")[2].partition("</table>")[0]
    lines = re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.DOTALL)[1:]  # the first has the headings
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", line)).split()) for line in lines]


def lacking(request: Request) -> list[str]:
    """Rows of the command line's record that the page, which shows every runtime, shows no digits
    of.
    """
    lines = on_page(request)
    absent = []
    for each in printed(request):
        if each["fits"]:
            low = each["decode_tps_low"]
            high = each["decode_tps_high"]
            first = each["ttft_s"]
            digits = (tokens_per_second(each["decode_tps"]), range_of(low, high), seconds(first))
            if not any(all(part in line for part in (each["runtime"], *digits)) for line in lines):
                absent.append(f"{each['runtime']} {each['placement']} {digits}")
    return absent


def pages_alike(requests: list[Request]) -> int:
    """Number of pages that show the command line's digits; prints the others."""
    alike = 0
    for request in requests:
        absent = lacking(request)
        alike += not absent
        if absent:
            print(f"page differs: {request.stated()}: {absent}")
    return alike


def checked(request: Request) -> dict[str, float | None]:
    """Figures of `check` for the same model and machine."""
    stated = request.stated()
    model = {
        "name": stated.pop("model"),
        **{key: stated.pop(key) for key in ("format",) if key in stated},
    }
    (result,) = run(scenarios({"models": [model], "machines": [stated]}))
    return {name: result.figures[name] for name in ("decode_tps", "prefill_tps", "ttft_s")}


DOORS: Mapping[str, Callable[[Request], list[Row]]] = {
    "command line": by_command,
    "link": by_link,
    "assistant": by_assistant,
}


def main() -> None:
    """Compare every door with Python."""
    numbers = [int(word) for word in sys.argv[1:]]
    count, pages = (*numbers, *(COUNT, PAGES)[len(numbers) :])
    answered: list[Request] = []
    random = Random("doors")
    equal = Counter[str]()
    refused = 0
    for _ in range(count):
        request = asked_for(random)
        with redirect_stderr(StringIO()):
            try:
                expected = by_python(request)
            except AdvisorError:
                refused += 1
                continue
            for name, door in DOORS.items():
                same = door(request) == expected
                equal[name] += same
                if not same:
                    print(f"{name} differs: {request.stated()}")
            fitting = {row[4:8:2] for row in expected if row[3]}
            figures = checked(request)
            pair = figures["decode_tps"], figures["prefill_tps"]
            if fitting:
                same = pair in fitting
            else:
                same = pair == (None, None)
        equal["check"] += same
        if not same:
            print(f"check differs: {request.stated()}: {pair}")
        answered.append(request)
    print(f"{count - refused} requests answered, {refused} refused")
    for name, number in equal.items():
        print(f"{name}: {number} of {count - refused} the same")
    with redirect_stderr(StringIO()):
        alike = pages_alike(answered[:pages])
    print(f"page: {alike} of {len(answered[:pages])} the same")


if __name__ == "__main__":
    main()
