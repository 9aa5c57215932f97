"""Options shared by several commands, and their types."""

import argparse
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from advisor.catalog.inputs import CACHED_SHARE, DRAFT, LOAD, MACHINE, PLACEMENT, REQUEST
from advisor.catalog.limits import Input
from advisor.cost_model.placement import LOAD_MODES, PlacementStrategy
from advisor.cost_model.workload import DRAFTS, Workload
from advisor.errors import InputError
from advisor.formatting import US_DOLLAR
from advisor.machine.spec import MachineSpec
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.request.load import LoadQuestion
from advisor.units import gibibytes, gigabytes_per_second, tokens

MODEL_HELP = "name, FILE.gguf, config.json, or owner/name on the Hugging Face Hub"


def add_model(parser: argparse.ArgumentParser, *, positional: bool, required: bool = True) -> None:
    """Add the options that name a model and the format of its cache."""
    if positional:
        parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    else:
        parser.add_argument("--model", required=required, help=MODEL_HELP)
    parser.add_argument("--quant", metavar="FORMAT", help="format (the file's own, else Q4_K_M)")
    parser.add_argument(
        "--kv-type", type=str.lower, default="f16", metavar="TYPE",
        help=f"format of the KV cache: {', '.join(KV_BYTES_PER_VALUE)}",
    )  # fmt: skip


def add_work(parser: argparse.ArgumentParser) -> None:
    """Add the options of the request."""
    group = parser.add_argument_group("request")
    add_inputs(group, REQUEST, Workload)
    add_inputs(group, (CACHED_SHARE,))
    group.add_argument(
        "--draft", default="", metavar="WHO",
        help=f"speculative decoding: {', '.join(DRAFTS)}, or the name of a draft model",
    )  # fmt: skip
    add_inputs(group, DRAFT)
    group.add_argument(
        "--swa-full",
        action="store_true",
        help="layers with a sliding window cache the whole context (llama.cpp)",
    )


def add_load(parser: argparse.ArgumentParser) -> None:
    """Add the options about many users of one server."""
    add_inputs(parser.add_argument_group("many users"), LOAD, LoadQuestion)


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a machine and a placement; without them, this machine."""
    group = parser.add_argument_group("machine (none given: this one)")
    group.add_argument(
        "--machine",
        metavar="NAME",
        help="imported machine, product (Mac Studio M3 Ultra 512GB, g6e.xlarge), or "
        "parts in words (2x 3090 Threadripper)",
    )
    add_inputs(group, MACHINE, MachineSpec)
    group.add_argument(
        "--nvlink", action="store_true", help="an NVLink bridge joins two cards of a kind"
    )
    split = parser.add_argument_group("placement")
    split.add_argument("--runtime", metavar="NAME", help="one runtime only")
    add_inputs(split, PLACEMENT)
    split.add_argument(
        "--load-mode", type=str.lower, default="auto", metavar="MODE",
        help=f"llama.cpp: {', '.join(LOAD_MODES)}",
    )  # fmt: skip
    split.add_argument(
        "--no-kv-offload", action="store_true", help="the KV cache stays in RAM (llama.cpp)"
    )
    split.add_argument(
        "--expert-parallel", action="store_true",
        help="each GPU holds whole experts (vLLM, SGLang, TensorRT-LLM)",
    )  # fmt: skip
    split.add_argument(
        "--attention-by-user", action="store_true",
        help="each GPU holds whole experts, all other weights, and the cache of its own users "
        "(attention data parallel in vLLM, SGLang, TensorRT-LLM)",
    )  # fmt: skip


def add_measured(parser: argparse.ArgumentParser) -> None:
    """Add the options for measured speeds and their placement."""
    group = parser.add_argument_group("measured")
    speed = group.add_mutually_exclusive_group(required=True)
    speed.add_argument(
        "--measured", type=float, metavar="TPS", help="measured decode speed per user"
    )
    speed.add_argument(
        "--results", type=Path, metavar="FILE.json",
        help="output of llama-bench, Ollama, LM Studio or vLLM instead of both speeds",
    )  # fmt: skip
    group.add_argument("--measured-prompt", type=float, metavar="TPS", help="measured prompt speed")
    group.add_argument(
        "--measured-prompt-tokens", type=float, metavar="N",
        help="length of that prompt (--prompt)",
    )  # fmt: skip
    group.add_argument(
        "--placement", type=str.lower, choices=list(PlacementStrategy),
        help="measured placement (the first that fits)",
    )  # fmt: skip


def add_inputs(
    group: argparse._ArgumentGroup, inputs: tuple[Input, ...], noun: type[Any] | None = None
) -> None:
    """Add one option per input, with the dataclass's default in its help."""
    defaults = {entry.name: entry.default for entry in fields(noun)} if noun else {}
    for entry in inputs:
        default = defaults.get(entry.name)
        group.add_argument(
            entry.option,
            dest=entry.name,
            type=_type_of(entry),
            metavar=entry.unit.upper() or ("N" if entry.limits else "NAME"),
            help=entry.help if default is None else f"{entry.help} ({default:g})",
        )


READERS = {
    "tokens": tokens,
    "GiB": gibibytes,
    "GB": gibibytes,
    "GB/s": gigabytes_per_second,
}
"""Reader of a number with a unit, by unit."""


def _type_of(entry: Input) -> Callable[[str], Any]:
    if entry.limits is None:
        return str
    if entry.unit in READERS:
        return typed(READERS[entry.unit])
    return typed(lambda text: _number(text, entry))


def _number(text: str, entry: Input) -> float:
    """Number without a unit; whole where the machine has so many of something.

    Raises:
        InputError: anything else; the message says what is taken.
    """
    whole = entry.whole and entry in MACHINE
    with suppress(ValueError):
        return int(text) if whole else float(text)
    kind = "a whole number" if whole else "a number"
    money = entry.unit.startswith(US_DOLLAR.sign)
    currency = "; its currency is that of --currency" if money else ""
    raise InputError(
        f"{text!r} cannot be read; give {kind} alone, without unit or separators of "
        f"thousands{currency}."
    )


Typed = TypeVar("Typed")


def typed(read: Callable[[str], Typed]) -> Callable[[str], Typed]:
    """Reader of one option's value; argparse prints its error after the option's name."""

    def value(text: str) -> Typed:
        try:
            return read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return value


def given(args: argparse.Namespace, inputs: tuple[Input, ...]) -> dict[str, Any]:
    """Typed values by the name of their input."""
    values = {entry.name: getattr(args, entry.name, None) for entry in inputs}
    return {name: value for name, value in values.items() if value is not None}
