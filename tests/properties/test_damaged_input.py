"""Damaged configs, results of tools and addresses: an answer or a sentence, whatever they hold.

`ADVISOR_FUZZ=100000` sets how many of each kind are tried, drawn with a seed; then none may take a
second of a processor, or 200 MB.
"""

import copy
import csv
import json
import math
import os
import random
import resource
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import result_samples

from advisor.calibration import measurement_file
from advisor.catalog.csv_tables import DATA
from advisor.catalog.inputs import INPUTS
from advisor.cli import mcp
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, InputError
from advisor.evidence.published.predict import predictions
from advisor.evidence.published.row import STATED
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import hub
from advisor.model.catalog import in_format
from advisor.model.config.read import describe
from advisor.probes.llama_cpp.result_files import read
from advisor.probes.server import METRICS, ServerReading, from_metrics, from_ollama
from advisor.reports import plain_yaml
from advisor.reports.document import to_json
from advisor.reports.scenarios import scenarios
from advisor.reports.store.saved import read_report
from advisor.request import texts
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import compare

TRIED = int(os.environ.get("ADVISOR_FUZZ", "2000"))
MEASURED = "ADVISOR_FUZZ" in os.environ  # a usual run of the tests looks at no clock
FEW = TRIED if MEASURED else 100  # questions that are answered whole, 7 to 9 ms each
LONGEST = 1.0  # processor's time of one input [s]
LARGEST = 200_000  # memory that one input may take more than all before it [kB]
SAMPLES = Path(__file__).parents[1] / "samples"
CONFIGS = [
    json.loads(path.read_text(encoding="utf-8"))["config"]
    for path in sorted((SAMPLES / "configs").glob("*.json"))
]
RESULTS = [
    row for name, row in vars(result_samples).items() if name.isupper() and isinstance(row, dict)
]
DESKTOP = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
WRONG = (
    None, True, False, 0, 1, -1, 2, 3, 7, 0.5, -0.0, 255, 2**31, 2**53, 2**63, 10**30, 10**400,
    1e308, 5e-324, math.inf, -math.inf, math.nan, "", " ", "x", "1", "inf", "9" * 5000, "\0",
    "é\u202e", [], {}, [[]], [None], [1, 2, 3], ["full_attention"], {"x": 1}, [0] * 200,
)  # fmt: skip
"""What stands in for a value."""
TYPED = (
    "inf", "-inf", "nan", "1e999", "-1", "0", "1e-300", "1e26", "9" * 400, "0x10", "١٢", "1,5",
    "1_0", " ", "\0", "a" * 3000, "true", "=1+1", "<b>", "../../etc/passwd", "{}", "[1]", "1;2",
)  # fmt: skip
"""What stands in for a text of an address."""


def test_damaged_configs_end_in_a_model_or_a_sentence() -> None:
    def built(draw: random.Random) -> None:
        described = describe(spoilt_text(draw.choice(CONFIGS), draw), "damaged")
        architecture = described.architecture
        assert 0 < architecture.params < 1e18
        if draw.random() < 0.1:
            model = described.model or in_format(architecture, "Q4_K_M")
            assert 0 < model.file_bytes < 1e18
            for result in compare(model, DESKTOP, Workload(), runtimes=(LLAMA_CPP,)):
                assert result.refusal or result.decode is not None

    assert not failures(built)


def test_damaged_results_end_in_runs_or_a_sentence() -> None:
    def taken(draw: random.Random) -> None:
        rows = [draw.choice(RESULTS) for _ in range(draw.randint(1, 2))]
        for run in read(spoilt_text(rows, draw)):
            for speed in (run.prompt, run.decode):
                assert speed is None or 0 <= speed < math.inf

    assert not failures(taken)


def test_an_address_is_answered_whatever_its_values() -> None:
    names = [entry.name for entry in INPUTS.values()]
    former = ("ctx", "gpus", "q", "m", "vram", "ram", "users", "what", "page", "x" * 300)

    def opened(draw: random.Random) -> None:
        chosen = draw.sample((*names, *former), draw.randint(1, 6))
        address = {name: draw.choice(TYPED) for name in chosen}
        request = texts.from_address(address).request
        for value in vars(request).values():
            assert not isinstance(value, float) or math.isfinite(value)

    assert not failures(opened)


SCENARIO: dict[str, Any] = {
    "models": ["Llama-3.1-8B", {"name": "Qwen3-30B-A3B", "format": "Q4_K_M"}],
    "machines": [
        {"name": "workstation", "gpu": "RTX 3090", "ram_gb": 64},
        {"gpu": "RTX 4090", "gpu_count": 2, "promises": {"decode_tps": ">= 40"}},
        "Mac Studio M3 Ultra 512GB",
    ],
    "request": {"context": 8192, "own_price": {"RTX 3090": 700}, "contexts": ["8k", 1024]},
    "runtime": "llama.cpp",
    "promises": {"decode_tps": ">= 10", "fits": True},
    "conditions": {"max_ttft_s": 5},
}
MARKS = ("&a ", "*a", "!!float ", "!!python/name:os.system ", "? ", "- ", "2026-13-45", "|\n", "%")
"""Signs of YAML that no scenario needs."""


def test_damaged_scenarios_end_in_pairs_or_a_sentence() -> None:
    def paired(draw: random.Random) -> None:
        text = spoilt_text(SCENARIO, draw)
        if draw.random() < 0.3:
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice(MARKS) + text[at:]
        assert scenarios(plain_yaml.read(text).value)

    assert not failures(paired, answered_at_least=0.05)


def counters(names: Sequence[str]) -> str:
    """A page of counters."""
    return "".join(f'{name}{{model_name="a/b",engine="0"}} 300\n' for name in names)


def test_damaged_pages_of_servers_end_in_a_reading_or_a_sentence() -> None:
    pages = [
        counters([row.metric for row in METRICS if row.server == server])
        for server in sorted({row.server for row in METRICS})
    ]
    ollama = {"models": [{"name": "a", "size": 8e9, "size_vram": 6e9, "context_length": 8192}]}

    def read_page(draw: random.Random) -> None:
        if draw.random() < 0.3:
            reading: ServerReading | None = from_ollama(spoilt_text(ollama, draw))
        else:
            reading = from_metrics(spoilt_page(draw.choice(pages), draw))
        for value in vars(reading).values() if reading else ():
            assert not isinstance(value, float) or 0 <= value < math.inf

    assert not failures(read_page)


def spoilt_page(page: str, draw: random.Random) -> str:
    """A page with parts of its lines replaced."""
    for _ in range(draw.randint(1, 4)):
        at, end = sorted((draw.randrange(len(page)), draw.randrange(len(page))))
        page = (
            page[:at] + draw.choice((*TYPED, "\n", '"', "{", "}", "#")) + page[min(end, at + 9) :]
        )
    return page


LISTING = {
    "sha": "a" * 40,
    "siblings": [{"rfilename": "config.json", "size": 700}, {"rfilename": "a/b.gguf", "size": 9}],
    "safetensors": {"parameters": {"BF16": 8_030_261_248}, "total": 8_030_261_248},
}


def test_damaged_answers_of_the_hub_end_in_a_repository_or_a_sentence() -> None:
    def listed(draw: random.Random) -> None:
        told = hub.json_object(spoilt_text(LISTING, draw).encode(errors="replace"), "owner/name")
        repo = hub._from_listing("owner/name", told)
        assert all(size >= 0 for size in repo.files.values())
        assert not any(".." in name for name in repo.files)

    assert not failures(listed)


def test_damaged_measurements_end_in_a_history_or_a_sentence() -> None:
    exported = json.loads((SAMPLES / "calibration-2026-11-23.json").read_text(encoding="utf-8"))

    def imported(draw: random.Random) -> None:
        history = measurement_file.imported(spoilt_text(exported, draw), "damaged")
        assert all(each.value > 0 for each in history.history)

    assert not failures(imported, answered_at_least=0.05)


def test_an_assistant_is_answered_whatever_it_sends() -> None:
    names = [entry.name for entry in INPUTS.of("what machine work draft").values()]
    sound: dict[str, Any] = {"model": "Llama-3.1-8B", "gpu": "RTX 3090", "ram_gb": 64}
    tools = (*["estimate"] * 12, "describe_model", "describe_machine", "diagnose", "x" * 99)

    def called(draw: random.Random) -> None:
        wrong = {draw.choice(names): draw.choice((*WRONG, *TYPED))}
        text, record = mcp.answer(draw.choice(tools), {**sound, **wrong}, allow_files=False)
        assert text
        assert record

    assert not failures(called, FEW, 0.05)


def test_damaged_reports_end_in_a_report_or_a_sentence() -> None:
    report = json.loads((SAMPLES / "report.json").read_text(encoding="utf-8"))

    def restored(draw: random.Random) -> None:
        file = read_report(loaded(spoilt_text(report, draw)))
        again = read_report(to_json(file.document))
        assert again.document == file.document

    assert not failures(restored, answered_at_least=0.05)


def loaded(text: str) -> Any:
    """Content of a JSON text; raises InputError as the reader of files does."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"This is no JSON: {error}.") from None


def test_damaged_rows_end_in_a_speed_or_a_reason() -> None:
    whole = [
        {name: cell for name, cell in row.items() if cell}
        for row in csv.DictReader((DATA / "measurements/llama_cpp.csv").read_text().splitlines())
    ][::40]

    def predicted(draw: random.Random) -> None:
        rows = []
        for row in draw.sample(whole, 3):
            wrong = draw.choice((*row, *STATED))
            rows.append(row | {wrong: draw.choice(TYPED)})
        for answer in predictions(rows, {}):
            speed = answer["tg_tps"]
            assert answer["note"] or speed
            assert not speed or 0 < float(str(speed)) < math.inf

    assert not failures(predicted, FEW)


def failures(
    tried: Callable[[random.Random], None], count: int = TRIED, answered_at_least: float = 0.2
) -> str:
    """Kinds of errors that are no sentences of this program, by their last line of code."""
    kinds: Counter[str] = Counter()
    answered = 0
    for seed in range(count):
        before = _used()
        try:
            tried(random.Random(seed))
            answered += 1
        except AdvisorError as error:
            if not 10 < len(str(error)) < 1000 or "\n" in str(error):
                kinds[f"a sentence of {len(str(error))} letters"] += 1
        except Exception as error:  # noqa: BLE001 - what is looked for
            last = traceback.extract_tb(error.__traceback__)[-1]
            kinds[f"{error!r:.90} in {last.filename}:{last.lineno}, e.g. seed {seed}"] += 1
        seconds, memory = (after - early for after, early in zip(_used(), before, strict=True))
        if MEASURED and seed and (seconds > LONGEST or memory > LARGEST):
            kinds[f"{seconds:.1f} s and {memory / 1000:.0f} MB, seed {seed}"] += 1
    assert answered > count * answered_at_least, f"{answered} of {count} were read"
    return "\n".join(f"{count} times {what}" for what, count in kinds.most_common(20))


def _used() -> tuple[float, float]:
    """Time of the processor until now [s], and the most memory that was held [kB]."""
    return time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def spoilt_text(value: Any, draw: random.Random) -> str:
    """JSON of a value with one to three parts replaced, left out or cut."""
    value = json.loads(json.dumps(value))
    for _ in range(draw.choice((1, 1, 2, 3))):
        spoil(value, draw)
    text = json.dumps(value)
    if draw.random() < 0.1:
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice(("", "{", "]", "1e999", "\0", text)) + text[at + 1 :]
    return text


def spoil(value: Any, draw: random.Random) -> None:
    """Change one part of an object or list, at any depth."""
    if isinstance(value, dict):
        keys = list(value)
    else:
        keys = list(range(len(value)))
    if not keys:
        return
    key = draw.choice(keys)
    if isinstance(value[key], dict | list) and draw.random() < 0.7:
        spoil(value[key], draw)
    elif draw.random() < 0.15:
        del value[key]
    elif isinstance(value[key], int | float) and abs(value[key]) < 1e30 and draw.random() < 0.3:
        value[key] = value[key] * draw.choice((-1, 0, 2, 1.5, 10**6, 1e-9))
    else:
        value[key] = copy.deepcopy(draw.choice(WRONG))


@pytest.mark.parametrize("spoiler", range(3))
def test_the_same_seed_spoils_alike(spoiler: int) -> None:
    first, again = (spoilt_text(CONFIGS[spoiler], random.Random(5)) for _ in range(2))
    assert first == again != json.dumps(CONFIGS[spoiler])
