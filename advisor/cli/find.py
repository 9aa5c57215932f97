"""`find`: machines that reach a target speed for a model, or models that run well on a machine."""

import argparse
from typing import Any

from advisor.advice.answer import findings_of
from advisor.advice.finder.combinations import on_cluster, on_cores
from advisor.advice.finder.runnable import Runnable, quality_rows, runnable
from advisor.advice.finder.search import Hit
from advisor.catalog.inputs import BY_NAME
from advisor.cli.command import added, show, told
from advisor.cli.find_text import machine_text, model_text
from advisor.errors import InputError
from advisor.request import command_line
from advisor.request.request import DEFAULTS, Nouns, Request
from advisor.runtimes import LLAMA_CPP

Json = dict[str, Any]
SEARCHED = (*(group for group in command_line.FULL if group != "load"), "target")
"""Groups of inputs of a search."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = added(
        commands, "find", _find,
        "machines that reach a target for --model; without --model, models for a machine",
    )  # fmt: skip
    command_line.add_options(
        parser, SEARCHED, required=(), without=("placement", "form", "resale", "rented_at"),
    )  # fmt: skip
    parser.add_argument(
        "--scheduler", metavar="ADDRESS",
        help="address of a Dask scheduler to share the work (pip install 'offload-advisor[dask]')",
    )  # fmt: skip


def _find(args: argparse.Namespace) -> None:
    """Run `find`."""
    request = command_line.from_args(args)
    if not request.model:
        _models(args, request)
        return
    compute = on_cluster(args.scheduler) if args.scheduler else on_cores
    nouns = request.nouns()
    if not request.nothing:
        told(nouns)
    findings = findings_of(nouns, compute)
    taken_as = nouns.resolved.taken_as
    answer = [hit_answer(hit, taken_as) for hit in findings.hits] if args.json else []
    show(args, answer, lambda: machine_text(findings))


def hit_answer(hit: Hit, taken_as: str = "") -> Json:
    """JSON record of a machine, with the model that the typed name was taken for."""
    return {
        "model": hit.model,
        "taken_as": taken_as or None,
        "format": hit.speed.format,
        "runtime": hit.speed.runtime,
        "placement": hit.speed.strategy.value,
        "machine": hit.name,
        "count": hit.count,
        "machines": hit.machines,
        "context": hit.context,
        "users": hit.users,
        "kv_type": hit.kv_type,
        "decode_tps": hit.speed.decode,
        "decode_tps_low": hit.speed.low,
        "decode_tps_high": hit.speed.high,
        "ttft_s": hit.speed.first_token,
        **_quality(hit.model),
        "monthly_usd": hit.monthly,
        "upfront_usd": hit.upfront,
        "offer": hit.offer,
        "price_date": hit.price.date or None,
        "price_stale": hit.stale,
        "price_at_launch": hit.price.listed,
    }


def _quality(model: str) -> Json:
    row = quality_rows().get(model)
    if row is None:
        return {"quality": None, "quality_source": None}
    return {"quality": row.score, "quality_source": f"{row.scale}, {row.date}, {row.source}"}


def _models(args: argparse.Namespace, request: Request) -> None:
    for name in ("min_tps", "max_usd_per_month", "max_usd", "contexts", "cards_owned"):
        if getattr(request, name) != DEFAULTS[name]:
            raise _for_machines(BY_NAME[name].option)
    if args.scheduler:
        raise _for_machines("--scheduler")
    nouns = request.nouns()
    machine, work = told(nouns), nouns.work
    own = nouns.runtime or LLAMA_CPP
    reading = nouns.money.reading_tps
    models = runnable(machine, work, reading_tps=reading, runtime=own)
    answer = [runnable_answer(model, nouns) for model in models]
    show(args, answer, lambda: model_text(models, reading))


def _for_machines(option: str) -> InputError:
    return InputError(f"{option} is for finding machines; say for what with --model NAME.")


def runnable_answer(runnable: Runnable, nouns: Nouns) -> Json:
    """JSON record of a model that runs on the machine."""
    return {
        "model": runnable.model.name,
        "format": runnable.model.format,
        "runtime": runnable.runtime.name,
        "placement": runnable.speed.strategy.value,
        "machine": nouns.machine.name,
        "count": len(nouns.machine.gpus),
        "context": runnable.context,
        "users": float(nouns.work.users),
        "kv_type": nouns.work.kv_type,
        "decode_tps": runnable.speed.decode,
        "decode_tps_low": runnable.speed.low,
        "decode_tps_high": runnable.speed.high,
        "ttft_s": runnable.speed.first_token,
        **_quality(runnable.model.name),
        "quality_lost": runnable.lost,
        "quality_in_format": runnable.score,
        "monthly_usd": None,
        "upfront_usd": None,
    }
