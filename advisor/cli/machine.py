"""`machine NAME`: the hardware that a name is taken for."""

import argparse
from collections.abc import Iterator
from typing import Any

from advisor.catalog.records import as_record
from advisor.cli.command import program, show
from advisor.errors import InputError
from advisor.machine.identify import Identified, identified


def run(args: argparse.Namespace) -> None:
    """Run `machine NAME`."""
    if args.name.strip().casefold() == "this":
        raise InputError(
            f"`{program()} here` describes this machine, `{program()} calibration show this` what "
            "is measured of it."
        )
    answer = machine_answer(identified(args.name), args.name)
    show(args, answer, lambda: "\n".join(_lines(answer)))


def machine_answer(taken: Identified, name: str) -> dict[str, Any]:
    """Record of `machine`; datasheet rates, theoretical for RAM [GB/s]."""
    host, preset = taken.host, taken.preset
    theory = taken.channels * 8 * taken.mts / 1000 if taken.channels and taken.mts else None
    gpu = taken.gpus[0] if taken.gpus else None
    of_ram = gpu is not None and gpu.of_ram and theory is not None
    priced = preset if preset and taken.ram_gib == preset.ram_gib else None
    row = preset or gpu or host
    return as_record(
        "machine",
        taken,
        taken_as=None if taken.name == name else taken.name,
        gpus=[row.name for row in taken.gpus],
        bandwidth_gbs=theory if of_ram else gpu.bandwidth_gbs if gpu else None,
        ram_gbs=theory or (host.bandwidth_gbs if host else None),
        usd=priced.usd if priced else None,
        per=priced.per if priced and priced.usd is not None else None,
        source=row.source if row else None,
    )


def _memory(answer: dict[str, Any]) -> Iterator[str]:
    if answer["channels"] and answer["mts"]:
        channels = f"{answer['channels']:g} channels of {answer['mts']:g} MT/s"
        yield f"  RAM: {channels}, {answer['ram_gbs']:,.0f} GB/s in theory"
    elif answer["ram_gbs"]:
        yield f"  RAM: {answer['ram_gbs']:,.0f} GB/s"
    if answer["ram_gib"]:
        yield f"  memory: {answer['ram_gib']:.4g} GiB"


def _lines(answer: dict[str, Any]) -> list[str]:
    """The record as a few lines of text, without unknown values."""
    gpus = " + ".join(answer["gpus"])
    if answer["count"] > len(answer["gpus"]):
        gpus = f"{answer['count']}x {gpus}"
    lines = [f"{answer['name']} ({answer['kind']})"]
    if gpus:
        size, rate = answer["memory_gib"], answer["bandwidth_gbs"]
        first = " (the first)" if len(answer["gpus"]) > 1 else ""
        lines.append(f"  GPU: {gpus}, {size:.4g} GiB, {rate:,.0f} GB/s{first}")
    if answer["cpu"]:
        lines.append(f"  processor: {answer['cpu']}, {answer['cores']} cores")
    lines += _memory(answer)
    if answer["usd"] is not None:
        lines.append(
            f"  price: {answer['usd']:,g} USD {'an hour' if answer['per'] == 'hour' else ''}"
        )
    lines += [f"  note: {note}" for note in answer["notes"]]
    if answer["alternatives"]:
        lines.append(f"  or: {', '.join(answer['alternatives'])}")
    lines.append(f"  source: {answer['source']}")
    return lines
