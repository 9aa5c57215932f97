"""How long answers, names, the Python interface, headers of files and lists of reports take.

    python -m benchmarks.durations [answers|names|interface|header|reports ...]

`answers`: an answer with its options after a change, a redraw of the first page, and one estimate
on the command line. `names`: a name of a model, GPU, processor or machine in a new process: the
first, which loads its list, and the others after it; 150 ms and 20 ms are promised. `interface`:
importing the Python interface and a first estimate, in a new process. `header`: a GGUF header with
a vocabulary of 250,000 tokens, beside gguf.GGUFReader. `reports`: a list of 10,000 reports, copies
of a real one, and the Reports page. Prints the median of several runs with the least and the most:
processor time, so that a busy machine counts little; for whole processes the time on the clock.
"""

import json
import logging
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from gguf import GGUFReader, GGUFWriter
from sqlalchemy import create_engine, text
from streamlit.testing.v1 import AppTest

from advisor.advice.advise import advise
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog, resolve
from advisor.model.gguf.read import describe_path
from advisor.reports.from_advice import document
from advisor.reports.store.store import ReportQuery, ReportStore, open_store
from advisor.request.money import MoneyInputs

ROOT = Path(__file__).resolve().parent.parent
RUNS = 9
Act = Callable[[], object]


def timed(act: Act, clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of one run [s]."""
    start = clock()
    act()
    return clock() - start


def line(name: str, times: Sequence[float]) -> str:
    """A line of result, from seconds."""
    least, median, most = (1000 * bound(times) for bound in (min, statistics.median, max))
    return f"{name}: {median:.1f} ms median, {least:.1f} to {most:.1f} ms of {len(times)}"


def process(*words: str) -> str:
    """What a new Python prints."""
    command = (sys.executable, *words)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def page(name: str = "") -> AppTest:
    """The dashboard, run once on a page."""
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    test.run()
    if name:
        test.switch_page(f"advisor/ui/pages/{name}.py")
    return test


# Answers.

ESTIMATE = (
    "-m", "advisor", "estimate", "--model", "Llama-3.1-70B", "--gpu", "RTX 3090", "--ram-gb", "64",
)  # fmt: skip


def answer(work: Workload, money: MoneyInputs | None = None) -> None:
    """A 70B model on a machine with an RTX 3090."""
    here = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    advise(catalog.model("Llama-3.1-70B", "Q4_K_M"), here, work, money=money)


def answers() -> Iterator[str]:
    """Answers by what changed since the one before, redraws after a change, whole commands."""
    changes: dict[str, list[Act]] = {
        "context": [partial(answer, Workload(context=4100 + 500 * run)) for run in range(RUNS)],
        "prompt": [partial(answer, Workload(prompt=600 + 50 * run)) for run in range(RUNS)],
        "number of users": [partial(answer, Workload(users=2 + run)) for run in range(RUNS)],
        "use": [
            partial(answer, Workload(users=1 + RUNS), MoneyInputs(replies_per_day=50 + run))
            for run in range(RUNS)
        ],
    }
    answer(Workload())  # machines are stacked once for all answers
    answer(Workload(context=4000))
    for change, acts in changes.items():
        yield line(f"answer with options, another {change}", list(map(timed, acts)))
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    app = page()
    times = []
    for run in range(RUNS):
        app.query_params["context"] = ("4k", "8k", "16k")[run % 3]
        app.query_params["replies"] = str(40 + run)
        times.append(timed(app.run))
    yield line("redraw after a changed input", times)
    whole = [timed(partial(process, *ESTIMATE), time.perf_counter) for _ in range(RUNS)]
    yield line("python -m advisor estimate", whole)


# Names; those of the list of the Hub and unknown ones are among them.

NAMES = {
    "model": (
        "advisor.model.by_name.named", "named",
        "bartowski/Qwen2.5-VL-7B-Instruct-GGUF", "EXAONE-4.0-32B", "gemma4:e4b", "my-own-35B-A3B",
        "qwen3:30b-a3b-q4_K_M", "Hermes-4-70B", "internlm3 8b",
    ),
    "GPU": (
        "advisor.machine.catalog", "GPUS.named",
        "NVIDIA GeForce RTX 4070 Ti SUPER", "2x 3090 24GB", "AMD Radeon Graphics (RADV GFX1151)",
        "5090 laptop", "Apple M4 Max (40 cores)",
    ),
    "processor": (
        "advisor.machine.catalog", "HOSTS.named",
        "AMD EPYC 7532 32-Core Processor", "i7-12700KF", "2x E5-2699 v3", "8845HS",
    ),
    "machine": (
        "advisor.machine.catalog", "MACHINES.named",
        "Legion Pro 7 5090", "4x3090 EPYC 7532 512GB", "mbp m1 max 64gb", "NC40ads_H100_v5",
    ),
}  # fmt: skip
"""Module, function and names of each kind."""
TIMED_NAMES = """
import importlib, json, operator, sys, time
module, function, *names = sys.argv[1:]
resolve = operator.attrgetter(function)(importlib.import_module(module))
times = []
for name in names:
    start = time.process_time()
    resolve(name)
    times.append(time.process_time() - start)
print(json.dumps(times))
"""


def names() -> Iterator[str]:
    """The first name of each kind, and the others."""
    for kind, words in NAMES.items():
        runs = [json.loads(process("-c", TIMED_NAMES, *words)) for _ in range(RUNS)]
        first, *others = zip(*runs, strict=True)
        yield line(f"first name of a {kind}", first)
        yield line(f"other names of a {kind}", list(map(statistics.median, others)))


# The Python interface.

FIRST_ANSWER = """
import time
wall, processor = time.perf_counter(), time.process_time()
from advisor import describe_machine, estimate
machine = describe_machine(gpu="RTX 3090", ram_gb=64)
assert estimate("Llama-3.1-70B", machine).decode is not None
print(time.perf_counter() - wall, time.process_time() - processor)
"""


def interface() -> Iterator[str]:
    """From after Python's own start to the answer, by the clock and of the processor."""
    runs = [map(float, process("-c", FIRST_ANSWER).split()) for _ in range(RUNS)]
    for name, times in zip(("clock", "processor"), zip(*runs, strict=True), strict=True):
        yield line(f"import and first estimate, {name}", times)


# A GGUF header.

TOKENS = 250_000


def write_header(path: Path) -> None:
    """A file with the arrays of a large vocabulary and one layer."""
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_embedding_length(64)
    writer.add_head_count(4)
    writer.add_token_list([f"token{number}" for number in range(TOKENS)])
    writer.add_token_types([1] * TOKENS)
    for name in ("token_embd.weight", "blk.0.attn_q.weight"):
        writer.add_tensor_info(name, (64, 64), np.dtype(np.float32), 64 * 64 * 4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + 2 * 64 * 64 * 4 + 64)


def header() -> Iterator[str]:
    """Time and memory of a header, and the time of the reader of the gguf package."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vocabulary.gguf"
        write_header(path)
        yield line(
            f"gguf header, {TOKENS:,} tokens",
            [timed(lambda: describe_path(path)) for _ in range(7)],
        )
        yield line("the same by gguf.GGUFReader", [timed(lambda: GGUFReader(path))])
        tracemalloc.start()
        describe_path(path)
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        size = path.stat().st_size
        yield f"gguf header, peak memory: {memory / 1e6:.1f} MB of {size / 1e6:.1f}"


# Reports.

REPORTS = 10_000
COPY = """
    INSERT INTO reports (id, name, created_at, notes, app_version, summary, author, model, gpu,
                         document_text, annotation_text, digest, owner, share)
    SELECT :id, :name, created_at, notes, app_version, summary, author, :model, gpu,
           document_text, :words, :digest, owner, share FROM reports WHERE id = 1
"""
CONTENTS = """
    INSERT INTO report_contents SELECT r.id, c.document, c.results FROM reports r,
        report_contents c WHERE c.report_id = 1 AND r.id > 1
"""
TAGS = "INSERT INTO report_tags SELECT id, 'tag ' || (id % 7) FROM reports"
NOTES = "some notes of a usual length, a line or two"


def reports() -> Iterator[str]:
    """Reading the list, searching it, and the page; each run of a page is a click of a visitor."""
    with TemporaryDirectory() as folder:
        os.environ["ADVISOR_DATA_DIR"] = folder  # for the page, which opens the person's store
        url = f"sqlite:///{Path(folder) / 'reports.sqlite'}"
        store = open_store(url)
        fill(store, url)
        acts: dict[str, Act] = {
            "first page": store.page,
            "last page": lambda: store.page(offset=REPORTS - 20),
            "search, some": lambda: store.page(ReportQuery(words="report 77")),
            "search, none": lambda: store.page(ReportQuery(words="absent words here")),
            "tag and model": lambda: store.page(ReportQuery(tag="tag 3", model="model 13")),
            "filters offered": store.choices,
            "open one": lambda: store.load(REPORTS // 2),
            "page, the list": reports_page().run,
            "page, a search": reports_page(search="report 77").run,
            "page, a report": reports_page(report="5000").run,
        }
        for name, act in acts.items():
            yield line(name, [timed(act) for _ in range(20)])


def reports_page(report: str = "", search: str = "") -> AppTest:
    """The Reports page with a report or a search."""
    test = page("reports")
    if report:
        test.query_params["report"] = report
    test.run()
    if search:
        test.text_input(key="report_search").set_value(search).run()
    if test.exception:
        raise SystemExit(test.exception[0].message)
    return test


def fill(store: ReportStore, url: str) -> None:
    """Save a report, and copies of it whose names, tags and models differ."""
    model = resolve.find("Llama-3.1-70B", None).model
    here = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    store.save(
        document(advise(model, here, Workload(), money=MoneyInputs()), here, {}), "report 1", NOTES
    )
    engine = create_engine(url)
    with engine.begin() as connection:
        rows = [
            {
                "id": number,
                "name": f"report {number}",
                "model": f"model {number % 40}",
                "words": f"report {number}\n{NOTES}",
                "digest": str(number),
            }
            for number in range(2, REPORTS + 1)
        ]
        connection.execute(text(COPY), rows)
        connection.execute(text(CONTENTS))
        connection.execute(text(TAGS))
    engine.dispose()


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "answers": answers, "names": names, "interface": interface, "header": header,
    "reports": reports,
}  # fmt: skip

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        for result in PARTS[part]():
            print(result, flush=True)
