"""`here`: this machine, what it runs well, and what to type next; also without any command."""

import argparse

from advisor.advice.finder.runnable import Runnable, runnable
from advisor.calibration.imported_store import THIS
from advisor.cli.command import program, show
from advisor.cli.find import runnable_answer
from advisor.formatting import aligned, memory, number
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance
from advisor.request.request import Request
from advisor.runtimes import LLAMA_CPP

FIRST = 5
"""Number of models that are named."""


def run(args: argparse.Namespace) -> None:
    """Run `here`."""
    nouns = Request(machine=THIS).nouns()
    reading = nouns.money.reading_tps
    models = runnable(nouns.machine, nouns.work, reading_tps=reading, runtime=LLAMA_CPP)
    well = [model for model in models if model.keeps_up][:FIRST]
    answer = {
        "machine": nouns.machine.name,
        "notes": list(nouns.machine.notes),
        "models": [runnable_answer(model, nouns) for model in well],
    }
    show(args, answer, lambda: "\n".join(_lines(nouns.machine, well, reading)))


def _lines(machine: Machine, well: list[Runnable], reading: float) -> list[str]:
    pace = f"{number(reading)} tokens/s"
    lines = [f"This machine: {_parts(machine)}.", ""]
    if well:
        lines += [f"It runs well, at reading speed ({pace}) or faster, the best first:"]
        lines += [f"  {line}" for line in aligned(map(_cells, well))]
    else:
        lines += [f"No model on record reaches reading speed ({pace}) on it."]
    name = well[0].model.name if well else "Llama-3.2-1B"
    start = program()
    following = {
        f'{start} advise --machine this --model "{name}"': "would a bigger GPU pay?",
        f"{start} find --machine this": "every model that runs here",
        f"{start} probe --save --quick": "measure RAM and drive, in under 20 s",
        f"{start} app": "the same in a browser",
        f"{start} --help": "the other commands",
    }
    return [*lines, "", "Next:", *(f"  {line}" for line in aligned(following.items()))]


def _cells(model: Runnable) -> tuple[str, ...]:
    tight = ", tight: close other programs" if model.tight else ""
    return model.model.name, model.model.format, f"{model.speed.words}{tight}"


def _parts(machine: Machine) -> str:
    """GPUs, processor, RAM and how sure its speed is."""
    host = machine.host
    ram = "measured" if host.bandwidth.kind is Provenance.MEASURED else "assumed"
    parts = [
        machine.name,
        f"{host.cores} cores",
        f"{memory(float(host.memory.value))} of RAM, its speed {ram}",
    ]
    return ", ".join(parts if machine.gpus else [*parts, "no graphics card that can be seen"])
