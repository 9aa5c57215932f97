"""Options of the command line, and the nouns they describe."""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from advisor.advice.arrivals.question import LoadQuestion
from advisor.advice.diagnosis.causes.table import this_system
from advisor.advice.diagnosis.diagnose import Measured
from advisor.advice.diagnosis.reported_speeds import reported_in
from advisor.advice.offers import MoneyInputs, money_in_usd
from advisor.advice.options.prices import priced_name
from advisor.advice.ownership import Form, Ownership, form_of
from advisor.calibration import local_machine
from advisor.calibration.imported_machine import named_machine
from advisor.calibration.imported_store import is_imported
from advisor.catalog.inputs import (
    CURRENCY,
    DRAFT,
    LOAD,
    MACHINE,
    MONEY,
    OWNERSHIP,
    PLACEMENT,
    REQUEST,
    Input,
    check_all,
    in_usd,
)
from advisor.cost_model.placement import LOAD_MODES, PlacementStrategy, Settings, stated
from advisor.cost_model.workload import ACCEPTED, DRAFT_MODEL, DRAFTED, DRAFTS, DraftModel, Workload
from advisor.errors import AdvisorError, InputError
from advisor.formatting import Currency
from advisor.machine import from_spec
from advisor.machine.catalog import find_gpu
from advisor.machine.from_name import machine_by_name
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.units import gibibytes, gigabytes_per_second, tokens

MODEL_HELP = "name, FILE.gguf, config.json, or owner/name on the Hugging Face Hub"


def add_model(parser: argparse.ArgumentParser, *, positional: bool, required: bool = True) -> None:
    """Options that name a model and how its cache is kept."""
    if positional:
        parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    else:
        parser.add_argument("--model", required=required, help=MODEL_HELP)
    parser.add_argument("--quant", metavar="FORMAT", help="format (the file's own, else Q4_K_M)")
    parser.add_argument(
        "--kv-type", type=str.lower, default="f16", metavar="TYPE",
        help=f"cache: {', '.join(KV_BYTES_PER_VALUE)}",
    )  # fmt: skip


def add_work(parser: argparse.ArgumentParser) -> None:
    """Options that say what is asked of the model."""
    group = parser.add_argument_group("request")
    _add(group, REQUEST, Workload)
    group.add_argument(
        "--draft", default="", metavar="WHO",
        help=f"who drafts tokens that the model checks: {', '.join(DRAFTS)}, or a smaller model",
    )  # fmt: skip
    _add(group, DRAFT)
    group.add_argument(
        "--swa-full", action="store_true", help="window layers keep the whole context (llama.cpp)"
    )


def add_load(parser: argparse.ArgumentParser) -> None:
    """Options about many users of one server."""
    _add(parser.add_argument_group("many users"), LOAD, LoadQuestion)


def load_of(args: argparse.Namespace) -> LoadQuestion:
    """What is asked about many users.

    Raises:
        InputError: a number out of its limits.
    """
    return LoadQuestion(**_given(args, LOAD))


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Options that describe a machine and a split; none of the first means this machine."""
    group = parser.add_argument_group("machine (none given: this one)")
    group.add_argument(
        "--machine",
        metavar="NAME",
        help="one that was imported, a usual one (Mac Studio M3 Ultra 512GB, g6e.xlarge), or its "
        "parts in words (2x 3090 Threadripper)",
    )
    _add(group, MACHINE, MachineSpec)
    group.add_argument("--nvlink", action="store_true", help="a bridge joins two cards of a kind")
    split = parser.add_argument_group("placement")
    split.add_argument("--runtime", metavar="NAME", help="one runtime only")
    _add(split, PLACEMENT)
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
    group = parser.add_argument_group("time and money")
    _add(group, MONEY, MoneyInputs)
    group.add_argument(
        "--own-rent", type=own_rent, action="append", default=[], metavar="GPU=USD",
        help="rent of a GPU by the hour that replaces the price on record",
    )  # fmt: skip
    group.add_argument(
        "--own-price", type=own_price, action="append", default=[], metavar="NAME=USD",
        help="price of a GPU, a whole machine or a part (psu, dock, ram ...) that replaces the one "
        "on record",
    )  # fmt: skip
    group.add_argument(
        "--currency", type=currency_code, default="USD", metavar="CODE",
        help="of all amounts that you type and read; needs --usd-rate (USD)",
    )  # fmt: skip
    _add(group, (CURRENCY,))


def _add(
    group: argparse._ArgumentGroup, inputs: tuple[Input, ...], noun: type[Any] | None = None
) -> None:
    """One option for each input, with the noun's default behind its help."""
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
"""How a number with a unit is read, by the unit."""


def _type_of(entry: Input) -> Callable[[str], Any]:
    if entry.limits is None:
        return str
    if entry.unit in READERS:
        return typed(READERS[entry.unit])
    return int if entry.whole and entry in MACHINE else float


Typed = TypeVar("Typed")


def typed(read: Callable[[str], Typed]) -> Callable[[str], Typed]:
    """A reader of one option, whose error argparse prints beside the option's name."""

    def value(text: str) -> Typed:
        try:
            return read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return value


def add_ownership(parser: argparse.ArgumentParser) -> None:
    """Options on what a person has."""
    group = parser.add_argument_group("what you have")
    group.add_argument("--own", metavar="GPU", help="GPUs that you own (those of the machine)")
    _add(group, OWNERSHIP, Ownership)
    group.add_argument(
        "--form", type=str.lower, choices=list(Form), help="of the machine (by its parts)"
    )


def ownership_of(args: argparse.Namespace, machine: Machine) -> Ownership:
    """How the machine is had.

    Raises:
        InputError: an amount out of range, resale of what is rented.
    """
    form = Form(args.form) if args.form else form_of(machine)
    return Ownership(form=form, **in_usd(_given(args, OWNERSHIP), currency_of(args).usd))


def owned_machine(args: argparse.Namespace, machine: Machine) -> Machine:
    """The machine with the GPUs that `--own` names; as it is where it is left out.

    Raises:
        UnknownName: a GPU that the catalogue does not hold.
    """
    if args.own is None:
        return machine
    own = from_spec.machine(MachineSpec(gpu=args.own))
    if own.unified:
        return own
    name = from_spec.name_of(own.gpus, machine.host)
    return replace(machine, name=name, gpus=own.gpus)


def own_rent(text: str) -> tuple[str, float]:
    """A GPU and its rent by the hour, from "RTX 4090=0.4".

    Raises:
        ArgumentTypeError: no such form, or no rent of zero or more.
    """
    return _name_and_usd(text, "rent", "RTX 4090=0.4", lambda name: find_gpu(name).name)


def own_price(text: str) -> tuple[str, float]:
    """What is bought and its price, from "RTX 4090=1800" or "dock=110".

    Raises:
        ArgumentTypeError: no such form, or no price of zero or more.
    """
    return _name_and_usd(text, "price", "RTX 4090=1800", priced_name)


def _name_and_usd(
    text: str, what: str, example: str, read: Callable[[str], str]
) -> tuple[str, float]:
    name, _, usd = text.rpartition("=")
    try:
        amount = float(usd)
    except ValueError:
        amount = math.nan
    if name and 0 < amount < MOST_TYPED:
        return typed(read)(name), amount
    raise argparse.ArgumentTypeError(
        f"{text!r} is no {what}; write NAME=AMOUNT with an amount above 0, as {example!r}."
    )


MOST_TYPED = 1e9
"""No amount that is typed reaches this, in any currency."""


def currency_code(text: str) -> str:
    """Three letters, as "EUR".

    Raises:
        ArgumentTypeError: something else.
    """
    code = text.strip().upper()
    if len(code) == 3 and code.isascii() and code.isalpha():
        return code
    raise argparse.ArgumentTypeError(f"{text!r} is no currency; write its three letters, as EUR.")


def currency_of(args: argparse.Namespace) -> Currency:
    """What amounts are typed and shown in.

    Raises:
        InputError: another currency than the dollar without what it is worth, or the reverse.
    """
    code, rate = args.currency, args.usd_rate
    if (code == "USD") != (rate is None):
        raise InputError(
            f"--currency {code} goes with --usd-rate, what one unit is worth in US dollars today; "
            "no rate is assumed. Give both, or leave both out."
        )
    CURRENCY.check(rate)
    return Currency(code=code, usd=rate or 1.0)


def work_of(args: argparse.Namespace) -> Workload:
    """The workload that the options describe.

    Raises:
        InputError: a number out of range, an unknown cache type.
    """
    return Workload(
        kv_type=args.kv_type or "f16",
        swa_full=args.swa_full,
        **_given(args, REQUEST),
        **_drafting(args),
    )


def _drafting(args: argparse.Namespace) -> dict[str, Any]:
    """Numbers of drafting, where somebody drafts.

    Raises:
        UnknownName: neither a drafting method nor a model.
        InputError: no acceptance is given, and none is published for who drafts.
    """
    if not args.draft:
        return {}
    method = args.draft.lower()
    smaller = None if method in DRAFTS else _draft_model(args.draft)
    method = method if smaller is None else DRAFT_MODEL
    acceptance = args.acceptance if args.acceptance is not None else ACCEPTED.get(method)
    if acceptance is None:
        raise InputError(
            f"--draft {args.draft} needs --acceptance, the share of drafted tokens that the model "
            "accepts, 0 to 1; engines print it as they run."
        )
    drafted = args.drafted if args.drafted is not None else DRAFTED[method]
    return {
        "draft": method, "draft_model": smaller, "drafted": drafted, "acceptance": acceptance,
    }  # fmt: skip


def _draft_model(name: str) -> DraftModel:
    """A smaller model that drafts, in the format of its name.

    Raises:
        InputError: no such model, and no drafting method of that name.
    """
    try:
        model = resolve.find(name, None).model
    except AdvisorError as error:
        raise InputError(
            f"--draft {name!r} is neither one of {', '.join(DRAFTS)} nor a model. {error}"
        ) from error
    return DraftModel(
        name=model.name, form=model.format, read=model.read_bytes_per_token, layers=model.layers
    )


def measured_of(args: argparse.Namespace) -> Measured:
    """What was measured, typed or in another tool's file.

    Raises:
        InputError: a speed out of range, or a file that tells none.
    """
    if args.results is None:
        return Measured(decode=args.measured, prompt=args.measured_prompt)
    measured = reported_in(args.results).measured
    return (
        measured if args.measured_prompt is None else replace(measured, prompt=args.measured_prompt)
    )


def machine_of(args: argparse.Namespace) -> Machine:
    """The machine that the options name or describe; this one where none is given.

    Raises:
        InputError: a number out of range, an unknown name.
        StoreError: what was measured on the named machine cannot be read.
    """
    inputs = MachineSpec(**_given(args, MACHINE), bridge=args.nvlink)
    for name in ("gpu_count", "vram_gb", "nvlink"):
        if getattr(args, name) and args.gpu is None and args.machine is None:
            option = name.replace("_", "-")
            raise InputError(f"--{option} describes a GPU; say which with --gpu NAME.")
    if args.machine is None and inputs.empty:
        return local_machine.this_machine()
    if args.machine is not None and is_imported(args.machine):
        return _imported(args.machine, inputs)
    machine = (
        from_spec.machine(inputs) if args.machine is None else machine_by_name(args.machine, inputs)
    )
    for note in machine.notes:
        print(f"advisor: {note}", file=sys.stderr)
    return machine


def _imported(name: str, inputs: MachineSpec) -> Machine:
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
        InputError: a number out of its limits.
    """
    check_all(PLACEMENT, vars(args))
    return stated(
        gpu_layers=args.gpu_layers,
        cpu_moe=args.cpu_moe,
        cache_gb=args.cache_gb,
        kv_in_ram=True if args.no_kv_offload else None,
        load_mode=args.load_mode,
    )


def money_of(args: argparse.Namespace) -> MoneyInputs:
    """What the options say about time and money, in US dollars.

    Raises:
        InputError: a number out of range.
    """
    usd = currency_of(args).usd
    return money_in_usd(_given(args, MONEY), args.own_rent, args.own_price, usd)


def _given(args: argparse.Namespace, inputs: tuple[Input, ...]) -> dict[str, Any]:
    values = {entry.name: getattr(args, entry.name, None) for entry in inputs}
    return {name: value for name, value in values.items() if value is not None}
