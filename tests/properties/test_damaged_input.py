"""Damaged configs, results of tools and addresses: an answer or a sentence, whatever they hold.

`ADVISOR_FUZZ=100000` sets how many of each kind are tried, drawn with a seed.
"""

import copy
import json
import math
import os
import random
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import result_samples

from advisor.advice.compare import compare
from advisor.catalog.inputs import INPUTS
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model.catalog import in_format
from advisor.model.config.read import describe
from advisor.probes.llama_cpp.result_files import read
from advisor.request import texts
from advisor.runtimes import LLAMA_CPP

TRIED = int(os.environ.get("ADVISOR_FUZZ", "2000"))
CONFIGS = [
    json.loads(path.read_text(encoding="utf-8"))["config"]
    for path in sorted((Path(__file__).parents[1] / "samples" / "configs").glob("*.json"))
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
    names = [entry.name for entry in INPUTS]
    former = ("ctx", "gpus", "q", "m", "vram", "ram", "users", "what", "page", "x" * 300)

    def opened(draw: random.Random) -> None:
        chosen = draw.sample((*names, *former), draw.randint(1, 6))
        address = {name: draw.choice(TYPED) for name in chosen}
        request = texts.from_address(address).request
        for value in vars(request).values():
            assert not isinstance(value, float) or math.isfinite(value)

    assert not failures(opened)


def failures(tried: Callable[[random.Random], None]) -> str:
    """Kinds of errors that are no sentences of this program, by their last line of code."""
    kinds: Counter[str] = Counter()
    answered = 0
    for seed in range(TRIED):
        try:
            tried(random.Random(seed))
            answered += 1
        except AdvisorError as error:
            if not 10 < len(str(error)) < 1000 or "\n" in str(error):
                kinds[f"a sentence of {len(str(error))} letters"] += 1
        except Exception as error:  # noqa: BLE001 - what is looked for
            last = traceback.extract_tb(error.__traceback__)[-1]
            kinds[f"{error!r:.90} in {last.filename}:{last.lineno}, e.g. seed {seed}"] += 1
    assert answered > TRIED / 5, f"{answered} of {TRIED} were read: the rest tests one refusal"
    return "\n".join(f"{count} times {what}" for what, count in kinds.most_common(20))


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
