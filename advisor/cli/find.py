"""`find`: machines that reach a target speed for a model, or models that run well on a machine."""

import argparse
from datetime import UTC, date, datetime
from typing import Any

from advisor.advice.finder.combinations import SEARCHED, on_cluster, on_cores
from advisor.advice.finder.runnable import Runnable, quality_rows, runnable
from advisor.advice.finder.search import Hit, Target, find
from advisor.advice.table.question import Question, as_rented
from advisor.advice.table.timed_machines import cardless
from advisor.catalog.inputs import TARGET, in_usd
from advisor.cli import described, money_options, options
from advisor.cli.command import added, show
from advisor.cli.currency import currency_of
from advisor.cli.find_text import machine_text, model_text
from advisor.errors import InputError
from advisor.model import resolve
from advisor.request.ownership import Ownership, form_of
from advisor.runtimes import LLAMA_CPP, runtime
from advisor.units import several_tokens

Json = dict[str, Any]


def add(commands: Any) -> None:
    """Add the command."""
    parser = added(
        commands, "find", _find,
        "machines that reach a target for --model; without --model, models for a machine",
    )  # fmt: skip
    options.add_model(parser, positional=False, required=False)
    options.add_work(parser)
    parser.set_defaults(kv_type="")
    options.add_machine(parser)
    money_options.add_money(parser)
    target = parser.add_argument_group("target")
    for entry in TARGET:
        default = 0.0 if entry.name == "min_tps" else None
        target.add_argument(
            entry.option, type=float, default=default, metavar="TPS" if default == 0.0 else "USD",
            help=entry.help,
        )  # fmt: skip

    target.add_argument(
        "--contexts", type=options.typed(several_tokens), default=(), metavar="LIST",
        help="several contexts in place of --context, as 8k,32k,128k",
    )  # fmt: skip
    target.add_argument(
        "--own", choices=(money_options.NOTHING,), type=str.lower,
        help="there is no machine yet: cards come in a new desktop",
    )  # fmt: skip
    target.add_argument(
        "--scheduler", metavar="ADDRESS",
        help="address of a Dask scheduler to share the work (pip install 'offload-advisor[dask]')",
    )  # fmt: skip


def _find(args: argparse.Namespace) -> None:
    """Run `find`."""
    if args.model is None:
        _models(args)
        return
    compute = on_cluster(args.scheduler) if args.scheduler else on_cores
    runtimes = (runtime(args.runtime),) if args.runtime else SEARCHED
    resolved = resolve.find(args.model, args.quant)
    nothing = money_options.owns_nothing(args)
    machine = cardless() if nothing else described.machine_of(args)
    question = Question(
        model=resolved.model,
        machine=machine,
        work=described.work_of(args),
        runtimes=runtimes,
        money=money_options.money_of(args),
        ownership=as_rented(Ownership(form=form_of(machine), nothing=nothing), machine),
        today=today(),
    )
    stated = {entry.name: getattr(args, entry.name) for entry in TARGET}
    target = Target(**in_usd(stated, currency_of(args).usd))
    formats = (args.quant,) if args.quant else ()
    caches = (args.kv_type,) if args.kv_type else ()
    findings = find(question, target, runtimes, formats, caches, compute, args.contexts)
    answer = [hit_answer(hit, resolved.taken_as) for hit in findings.hits] if args.json else []
    show(args, answer, lambda: machine_text(findings))


def today() -> date:
    """Date by which the age of prices is judged."""
    return datetime.now(UTC).date()


def hit_answer(hit: Hit, taken_as: str = "") -> Json:
    """JSON record of a machine, with the model that the typed name was taken for."""
    return {
        "model": hit.model,
        "taken_as": taken_as or None,
        "format": hit.speed.format,
        "runtime": hit.runtime,
        "placement": hit.speed.strategy.value,
        "machine": hit.machine,
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
        "price_date": hit.price_date or None,
        "price_stale": hit.stale,
        "price_at_launch": hit.listed,
    }


def _quality(model: str) -> Json:
    row = quality_rows().get(model)
    if row is None:
        return {"quality": None, "quality_source": None}
    return {"quality": row.score, "quality_source": f"{row.scale}, {row.date}, {row.source}"}


def _models(args: argparse.Namespace) -> None:
    for name in ("min_tps", "max_usd_per_month", "max_usd", "contexts", "scheduler", "own"):
        if getattr(args, name):
            option = name.replace("_", "-")
            raise InputError(f"--{option} is for finding machines; say for what with --model NAME.")
    machine, work = described.machine_of(args), described.work_of(args)
    own = runtime(args.runtime) if args.runtime else LLAMA_CPP
    reading = money_options.money_of(args).reading_tps
    models = runnable(machine, work, reading_tps=reading, runtime=own)
    answer = [runnable_answer(model, machine.name, len(machine.gpus), args) for model in models]
    show(args, answer, lambda: model_text(models, reading))


def runnable_answer(runnable: Runnable, machine: str, count: int, args: argparse.Namespace) -> Json:
    """JSON record of a model that runs on the machine."""
    return {
        "model": runnable.model.name,
        "format": runnable.model.format,
        "runtime": runnable.runtime.name,
        "placement": runnable.speed.strategy.value,
        "machine": machine,
        "count": count,
        "context": runnable.context,
        "users": float(described.work_of(args).users),
        "kv_type": args.kv_type or "f16",
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
