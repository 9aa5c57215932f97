"""Answers of the command line for varied inputs, kept and compared after a change.

    python -m benchmarks.answers keep FILE.json
    python -m benchmarks.answers compare FILE.json

Every input names its machine, so the answers do not depend on where they are computed.
"""

import argparse
import contextlib
import io
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from advisor.cli.main import main

MODELS = (
    "Llama-3.1-70B", "Llama-3.1-8B", "Qwen3-30B-A3B", "gpt-oss-120b", "DeepSeek-V3", "Gemma-3-27B",
    "Mixtral-8x7B", "Qwen3-Next-80B-A3B", "GLM-4.5-Air", "Nemotron-H-56B", "OPT-30B",
)  # fmt: skip
FORMATS = ("Q4_K_M", "Q8_0", "BF16", "AWQ", "IQ2_XS", "MXFP4")
MACHINES = (
    ("--gpu", "RTX 3090", "--ram-gb", "64"),
    ("--gpu", "RTX 4090", "--gpu-count", "2", "--cpu", "EPYC 9355", "--ram-gb", "384"),
    ("--gpu", "none", "--ram-gb", "128", "--ram-gbs", "60"),
    ("--gpu", "Apple M2 Ultra 76c", "--ram-gb", "192"),
    ("--gpu", "H100 SXM", "--gpu-count", "8", "--ram-gb", "1024"),
    ("--gpu", "2x RTX 3090 + RTX 4090", "--ram-gb", "64", "--disk-gbs", "5"),
    ("--gpu", "RX 7900 XTX", "--ram-gb", "32", "--ram-gbs", "70", "--pcie-gbs", "24"),
)
REQUESTS = (
    (),
    ("--context", "32768", "--prompt", "8000", "--users", "4", "--kv-type", "q8_0"),
    ("--gpu-layers", "10", "--ubatch", "1024"),
)
TABLES = ("llama_cpp.csv", "offload_papers.csv")


def inputs() -> Iterator[tuple[str, ...]]:
    """Arguments of every command that is run."""
    for name, form in itertools.product(MODELS, FORMATS):
        yield "model", name, "--quant", form, "--json"
    situations = list(itertools.product(MODELS, MACHINES, REQUESTS))
    for number, (name, machine, request) in enumerate(situations):
        form = FORMATS[number % 3]
        yield "estimate", "--model", name, "--quant", form, *machine, *request, "--json"
        if number % 5 == 0:
            yield "advise", "--model", name, "--quant", form, *machine, *request, "--json"
    measurements = Path(__file__).parents[1].glob("data/**/*.csv")
    for path in sorted(path for path in measurements if path.name in TABLES):
        yield "predict", str(path)


def answer(arguments: tuple[str, ...]) -> Any:
    """What the command prints; a table's text as it is."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = main(arguments)
    if arguments[0] == "predict":
        return {"code": code, "text": output.getvalue()}
    return {"code": code, "json": json.loads(output.getvalue() or "null")}


def answers() -> dict[str, Any]:
    """Answers by the command that gives them; paths as their last part alone."""
    return {
        " ".join(Path(word).name if "/" in word else word for word in arguments): answer(arguments)
        for arguments in inputs()
    }


def keep(path: Path) -> None:
    """Write all answers."""
    kept = answers()
    path.write_text(json.dumps(kept, indent=0), encoding="utf-8")
    print(f"{len(kept)} answers kept.")


def compare(path: Path) -> int:
    """Count and name the answers that differ from those kept; floats to the last digit."""
    before, now = json.loads(path.read_text(encoding="utf-8")), answers()
    changed = [name for name in before if before[name] != json.loads(json.dumps(now.get(name)))]
    print(f"{len(before) - len(changed)} of {len(before)} answers are the same.")
    for name in changed[:20]:
        print(f"  changed: {name}")
    return len(changed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("keep", "compare"))
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "keep":
        keep(arguments.file)
    else:
        sys.exit(min(compare(arguments.file), 1))
