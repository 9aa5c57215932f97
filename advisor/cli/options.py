"""Options of the command line, and the nouns they describe."""

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from advisor.advice.diagnosis.causes.table import this_system
from advisor.advice.diagnosis.diagnose import Measured
from advisor.advice.diagnosis.reported_speeds import reported_in
from advisor.advice.offers import MoneyInputs
from advisor.calibration import local_machine
from advisor.calibration.imported_machine import named_machine
from advisor.cost_model.placement import LOAD_MODES, PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine import from_spec
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.units import GIB

MODEL_HELP = "name, FILE.gguf, config.json, or owner/name on the Hugging Face Hub"
MACHINE = (
    ("--gpu", str, "NAME", 'GPU of the catalogue, or none; several kinds as "2x A + B"'),
    ("--gpu-count", int, "N", "GPUs of that kind"),
    ("--vram-gb", float, "GIB", "memory of each GPU, as sold"),
    ("--cpu", str, "NAME", "CPU or platform of the catalogue"),
    ("--ram-gb", float, "GIB", "main memory, as sold"),
    ("--ram-gbs", float, "GB/S", "sustained RAM read rate, used as it is"),
    ("--pcie-gbs", float, "GB/S", "sustained rate of the link to the GPU, used as it is"),
    ("--disk-gbs", float, "GB/S", "sustained read rate of the drive, used as it is"),
    ("--machines", int, "N", "machines of that kind, joined by a network"),
    ("--network-gbs", float, "GB/S", "sustained rate between them, one way"),
)
WORK = (
    ("--context", float, "TOKENS", "cache allocated for each user (8192)"),
    ("--prompt", float, "TOKENS", "prompt (512)"),
    ("--output", float, "TOKENS", "reply (256)"),
    ("--users", float, "N", "sequences decoded together (1)"),
    ("--ubatch", float, "TOKENS", "prompt tokens computed together (512)"),
)
MONEY = (
    ("--replies-per-day", float, "N", "replies that people wait for (40)"),
    ("--usd-per-hour-of-time", float, "USD", "worth of an hour of waiting (30)"),
    ("--rented-hours-per-day", float, "H", "hours a day a rented GPU is kept (24)"),
    ("--purchase-months", float, "N", "months a purchase is spread over (36)"),
    ("--usd-per-kwh", float, "USD", "price of electricity (0.18)"),
)


def add_model(parser: argparse.ArgumentParser, *, positional: bool) -> None:
    """Options that name a model and how its cache is kept."""
    if positional:
        parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    else:
        parser.add_argument("--model", required=True, help=MODEL_HELP)
    parser.add_argument("--quant", metavar="FORMAT", help="format (the file's own, else Q4_K_M)")
    parser.add_argument(
        "--kv-type", type=str.lower, default="f16", metavar="TYPE",
        help=f"cache: {', '.join(KV_BYTES_PER_VALUE)}",
    )  # fmt: skip


def add_work(parser: argparse.ArgumentParser) -> None:
    """Options that say what is asked of the model."""
    group = parser.add_argument_group("request")
    _add(group, WORK)
    group.add_argument(
        "--swa-full", action="store_true", help="window layers keep the whole context (llama.cpp)"
    )


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Options that describe a machine and a split; none of the first means this machine."""
    group = parser.add_argument_group("machine (none given: this one)")
    group.add_argument("--machine", metavar="NAME", help="one that `calibration list` names")
    _add(group, MACHINE)
    group.add_argument("--nvlink", action="store_true", help="a bridge joins two cards of a kind")
    split = parser.add_argument_group("placement")
    split.add_argument("--runtime", metavar="NAME", help="one runtime only")
    split.add_argument("--gpu-layers", type=float, metavar="N", help="repeating layers on the GPU")
    split.add_argument(
        "--cpu-moe", type=float, metavar="N", help="layers whose experts stay in RAM"
    )
    split.add_argument("--cache-gb", type=float, metavar="GIB", help="RAM for the page cache")
    split.add_argument(
        "--load-mode", type=str.lower, default="auto", metavar="MODE",
        help=f"llama.cpp: {', '.join(LOAD_MODES)}",
    )  # fmt: skip
    split.add_argument(
        "--no-kv-offload", action="store_true", help="the cache stays in RAM (llama.cpp)"
    )


def add_measured(parser: argparse.ArgumentParser) -> None:
    """Options that say what was measured, and of which placement."""
    group = parser.add_argument_group("measured")
    speed = group.add_mutually_exclusive_group(required=True)
    speed.add_argument("--measured", type=float, metavar="TPS", help="generation of each user")
    speed.add_argument(
        "--results",
        type=Path,
        metavar="FILE.json",
        help="of llama-bench, Ollama, LM Studio or vLLM, in place of both speeds",
    )
    group.add_argument("--measured-prompt", type=float, metavar="TPS", help="the prompt, if known")
    group.add_argument(
        "--placement",
        type=str.lower,
        choices=list(PlacementStrategy),
        help="the one measured (the fastest that fits, in llama.cpp)",
    )


def add_money(parser: argparse.ArgumentParser) -> None:
    """Options on time and money."""
    _add(parser.add_argument_group("time and money"), MONEY)


def _add(group: argparse._ArgumentGroup, options: tuple[tuple[str, type, str, str], ...]) -> None:
    for name, kind, metavar, text in options:
        group.add_argument(name, type=kind, metavar=metavar, help=text)


def work_of(args: argparse.Namespace) -> Workload:
    """The workload that the options describe.

    Raises:
        InputError: a number out of range, an unknown cache type.
    """
    return Workload(kv_type=args.kv_type, swa_full=args.swa_full, **_given(args, WORK))


def measured_of(args: argparse.Namespace) -> Measured:
    """What was measured, typed or in another tool's file.

    Raises:
        InputError: a speed out of range, or a file that tells none.
    """
    if args.results is None:
        return Measured(decode=args.measured, prompt=args.measured_prompt)
    found = reported_in(args.results).measured
    return found if args.measured_prompt is None else replace(found, prompt=args.measured_prompt)


def machine_of(args: argparse.Namespace) -> Machine:
    """The machine that the options name or describe; this one where none is given.

    Raises:
        InputError: a number out of range, an unknown name.
        StoreError: what was measured on the named machine cannot be read.
    """
    inputs = MachineSpec(**_given(args, MACHINE), bridge=args.nvlink)
    for name in ("gpu_count", "vram_gb", "nvlink"):
        if getattr(args, name) and args.gpu is None:
            option = name.replace("_", "-")
            raise InputError(f"--{option} describes a GPU; say which with --gpu NAME.")
    if args.machine is not None:
        return _named(args.machine, inputs)
    return local_machine.this_machine() if inputs.empty else from_spec.machine(inputs)


def _named(name: str, inputs: MachineSpec) -> Machine:
    if inputs.machines > 1:
        raise InputError(
            f"--machines joins machines that are described, and {name!r} is a measured one; leave "
            "one of them out."
        )
    return named_machine(name, inputs)


def system_of(args: argparse.Namespace) -> str:
    """The operating system of the machine described, where it is this one; else empty."""
    return "" if args.machine or _given(args, MACHINE) else this_system()


def settings_of(args: argparse.Namespace) -> Settings:
    """The split that the options fix.

    Raises:
        InputError: a number of layers or a cache below zero.
    """
    for name in ("gpu_layers", "cpu_moe", "cache_gb"):
        value = getattr(args, name)
        if value is not None and not (value >= 0 and math.isfinite(value)):
            raise InputError(f"--{name.replace('_', '-')} is {value:g}; give 0 or more.")
    cache = None if args.cache_gb is None else args.cache_gb * GIB
    return Settings(
        gpu_layers=args.gpu_layers,
        cpu_moe=args.cpu_moe,
        page_cache=cache,
        head_first=args.gpu_layers is None,
        kv_in_ram=args.no_kv_offload,
        load_mode=args.load_mode,
    )


def money_of(args: argparse.Namespace) -> MoneyInputs:
    """What the options say about time and money.

    Raises:
        InputError: a number out of range.
    """
    return MoneyInputs(**_given(args, MONEY))


def _given(
    args: argparse.Namespace, options: tuple[tuple[str, type, str, str], ...]
) -> dict[str, Any]:
    names = [option[0].removeprefix("--").replace("-", "_") for option in options]
    values = {name: getattr(args, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
