"""Model requests, machines and placements described by the options of a command."""

import argparse
import sys

from advisor.advice.edits.drafting import drafting
from advisor.calibration import local_machine
from advisor.calibration.imported_machine import named_machine
from advisor.calibration.imported_store import is_imported
from advisor.catalog.inputs import MACHINE, PLACEMENT, REQUEST
from advisor.catalog.limits import check_all
from advisor.cli import options
from advisor.cost_model.placement import Settings, stated
from advisor.cost_model.workload import Workload, cached_tokens
from advisor.errors import InputError
from advisor.machine import from_spec
from advisor.machine.from_name import machine_by_name
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a model, a request and a machine."""
    options.add_model(parser, positional=False)
    options.add_work(parser)
    options.add_machine(parser)


def work_of(args: argparse.Namespace) -> Workload:
    """Workload described by the options.

    Raises:
        InputError: a number out of range, an unknown cache type.
    """
    given = options.given(args, REQUEST)
    prompt = given.get("prompt", Workload.prompt)
    given["cached"] = cached_tokens(prompt, given.get("cached"), args.cached_share)
    return Workload(
        kv_type=args.kv_type or "f16",
        swa_full=args.swa_full,
        **given,
        **drafting(args.draft, args.acceptance, args.drafted),
    )


def machine_of(args: argparse.Namespace) -> Machine:
    """Machine named or described by the options; this machine without any of them.

    Raises:
        InputError: a number out of range, an unknown name.
        StoreError: what was measured on the named machine cannot be read.
    """
    inputs = MachineSpec(**options.given(args, MACHINE), bridge=args.nvlink)
    for name in ("gpu_count", "vram_gb", "nvlink"):
        if getattr(args, name) and args.gpu is None and args.machine is None:
            option = name.replace("_", "-")
            raise InputError(f"--{option} describes a GPU; say which with --gpu NAME.")
    machine, notes = _described(args, inputs)
    for note in notes:
        print(f"advisor: {note}", file=sys.stderr)
    return machine


def _described(args: argparse.Namespace, inputs: MachineSpec) -> tuple[Machine, tuple[str, ...]]:
    """Machine of the options, and what is told of it: of a measured one, of its software alone."""
    if args.machine is None and inputs.empty:
        here = local_machine.this_machine()
        return here, here.software_notes
    if args.machine is not None and is_imported(args.machine):
        measured = _imported(args.machine, inputs)
        return measured, measured.software_notes
    machine = (
        from_spec.machine(inputs) if args.machine is None else machine_by_name(args.machine, inputs)
    )
    return machine, machine.notes


def _imported(name: str, inputs: MachineSpec) -> Machine:
    if inputs.machines > 1:
        raise InputError(
            f"--machines joins machines that are described, and {name!r} is a measured one; leave "
            "one of them out."
        )
    return named_machine(name, inputs)


def settings_of(args: argparse.Namespace) -> Settings:
    """Settings of the placement that the options fix.

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
        expert_parallel=args.expert_parallel,
        attention_by_user=args.attention_by_user,
    )
