"""Command line that gives the answer of the page."""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from advisor.catalog.inputs import BY_NAME, CURRENCY, LOAD, MACHINE, MONEY, OWNERSHIP, REQUEST
from advisor.catalog.limits import Input
from advisor.formatting import US_DOLLAR
from advisor.machine.spec import MachineSpec
from advisor.request.ownership import Ownership
from advisor.ui.sidebar import uploads
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.fields import LOADED, SPENT, WORK
from advisor.ui.sidebar.option_words import ANY, BY_PARTS


def command(
    choices: Choices, name: str = "advise", more: Iterable[tuple[str, float | str | None]] = ()
) -> str:
    """Command that gives the same answer, without defaults.

    Args:
        choices: choices of the page.
        name: of the command.
        more: further options of the command.
    """
    spec = choices.machine_inputs()
    rents, prices = choices.typed_prices()
    here = "this" if choices.this_machine and not spec.empty else choices.named
    named = {
        "--model": uploads.as_file(choices.model) if choices.model else None,
        "--quant": choices.form,
        "--machine": here,
        "--runtime": None if choices.runtime == ANY else choices.runtime,
        "--kv-type": None if choices.kv == WORK.kv_type else choices.kv,
        "--draft": choices.drafter(),
        BY_NAME["acceptance"].option: choices.acceptance,
        BY_NAME["drafted"].option: choices.drafted,
    }
    options = [
        *named.items(),
        *_stated(MACHINE, vars(spec), MachineSpec()),
        *_stated(REQUEST, vars(choices.workload()) | {"cached": choices.cached}, WORK),
        (BY_NAME["cached_share"].option, choices.cachedshare),
        *(_stated(LOAD, choices.typed_load(), LOADED) if name == "advise" else ()),
        ("--gpu-layers", choices.layers),
        ("--cpu-moe", choices.experts),
        ("--cache-gb", choices.cache),
        *_stated(MONEY, choices.typed_amounts(), SPENT),
        *_currency(choices),
        *(_ownership(choices) if name == "advise" else ()),
        *(("--own-price", f"{name}={amount:.12g}") for name, amount in prices),
        *(("--own-rent", f"{gpu}={amount:.12g}") for gpu, amount in rents),
        *more,
    ]
    words = (
        f"{option} {shlex.quote(f'{value:.12g}' if isinstance(value, float) else str(value))}"
        for option, value in options
        if value is not None
    )
    flags = {
        "--nvlink": spec.bridge,
        "--expert-parallel": choices.whole_experts,
        "--attention-by-user": choices.attention_by_user,
    }
    meant = (flag for flag, stated_so in flags.items() if stated_so)
    return " ".join((f"python -m advisor {name}", *words, *meant))


def _ownership(choices: Choices) -> Iterable[tuple[str, float | str | None]]:
    return (
        ("--own", "nothing" if choices.nothing else None),
        *_stated(OWNERSHIP, choices.typed_ownership(), Ownership()),
        ("--form", None if choices.formfactor == BY_PARTS else choices.formfactor),
    )


def _currency(choices: Choices) -> Iterable[tuple[str, float | str]]:
    paying = choices.paying()
    return () if paying == US_DOLLAR else (
        ("--currency", paying.code), (CURRENCY.option, paying.usd)
    )  # fmt: skip


def _stated(
    inputs: Iterable[Input], values: Mapping[str, Any], default: object
) -> Iterable[tuple[str, float | str]]:
    """Options of the values that differ from their defaults."""
    for entry in inputs:
        value = values.get(entry.name, getattr(default, entry.name))
        if value != getattr(default, entry.name):
            yield entry.option, value
