"""`estimate`: speed of each runtime and placement."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace

import numpy as np

from advisor.advice.arrivals.server import first_token_within
from advisor.advice.compare import context_notes, decode_tps, estimates_of, title_of, usable
from advisor.advice.start_files import StartFile, start_file
from advisor.catalog.records import as_record
from advisor.cli import session
from advisor.cli.command import Json, aligned, show, tell
from advisor.cost_model.estimate import Assumption, Estimate
from advisor.cost_model.placement import Tier
from advisor.cost_model.timing import CROSSINGS, HIDDEN, LAYERS
from advisor.cost_model.workload import drafting_note
from advisor.errors import Refusal
from advisor.formatting import memory, range_of, seconds, tokens_per_second
from advisor.request import command_line


def run(args: argparse.Namespace) -> None:
    """Run `estimate`."""
    nouns = command_line.from_args(args).nouns()
    resolved = nouns.resolved
    tell(nouns.notes)
    estimates = estimates_of(nouns)
    if args.start is not None:
        print(_start(StartFile(args.start), estimates), end="")
        return
    if not args.json:
        for note in (*resolved.notes, *context_notes(resolved.model, nouns.work)):
            print(f"note: {note}", file=sys.stderr)
    records = (
        estimate_answer(each, resolved.taken_as)
        | session.record(session.task(each, nouns.session), nouns.session)
        for each in estimates
    )
    title = title_of(resolved.model, nouns.machine)
    show(
        args,
        [*records] if args.json else [],
        lambda: "\n".join(
            (title, "", *estimate_lines(estimates), *session.compared(estimates, nouns.session))
        ),
    )


def _start(kind: StartFile, estimates: Sequence[Estimate]) -> str:
    """File that starts the fastest server that can be started so."""
    refusals = []
    for estimate in usable(estimates):
        try:
            return start_file(kind, estimate)
        except Refusal as refusal:
            refusals.append(str(refusal))
    raise Refusal(refusals[0] if refusals else "Nothing fits, so there is nothing to start.")


def estimate_answer(estimate: Estimate, taken_as: str = "") -> Json:
    """Record of one runtime and placement; no speed where the model does not fit."""
    fits = bool(np.all(estimate.fits))
    limits = context_notes(estimate.model, estimate.work)
    notes = (estimate.format_note, drafting_note(estimate.work))
    if estimate.refusal:
        notes = (estimate.refusal, "")
    sizes = {tier: [float(size) for size in estimate.held.get(tier, ())] for tier in Tier}
    return as_record(
        "estimate",
        SimpleNamespace(all=estimate, run=estimate if fits else None),
        taken_as=taken_as or None,
        note=" ".join(filter(None, (*notes, *limits))),
        fits=fits,
        decode_tps_total=decode_tps(estimate) * float(estimate.work.users) if fits else None,
        ttft_p50_s=first_token_within(estimate, 0.5) if fits else None,
        ttft_p95_s=first_token_within(estimate, 0.95) if fits else None,
        vram_bytes=sizes[Tier.VRAM],
        ram_bytes=sum(sizes[Tier.RAM]),
        disk_bytes=sum(sizes[Tier.DISK]),
        seconds=_seconds(estimate),
        assumptions=[_assumption(assumed) for assumed in estimate.assumptions],
    )


def _seconds(estimate: Estimate) -> Mapping[str, float | None]:
    if estimate.step is None:
        return dict.fromkeys((LAYERS, CROSSINGS, HIDDEN))
    parts = {str(name): float(seconds) for name, seconds in estimate.step.parts.items()}
    return {**parts, HIDDEN: float(estimate.step.hidden)}


def _assumption(assumption: Assumption) -> Json:
    value = float(np.ravel(assumption.figure.value)[0])
    return as_record("assumption", assumption, value=value)


def estimate_lines(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Estimates as lines of text, and which runtimes take another format than the one asked for."""
    yield from aligned(
        (each.runtime, each.strategy.value, each.model.format, _speed_words(each))
        for each in estimates
    )
    taken: dict[str, list[str]] = {}
    for each in estimates:
        if each.format_note and not each.refusal:
            taken.setdefault(each.format_note, []).append(each.runtime)
    if taken:
        yield ""
    for note, runtimes in taken.items():
        yield f"{', '.join(dict.fromkeys(runtimes))}: {note}"


def _speed_words(result: Estimate) -> str:
    if result.refusal or result.decode is None or result.first_token is None:
        return result.refusal
    if not bool(result.fits):
        return f"does not fit: {memory(float(result.missing))} short"
    low, high = float(result.decode.low), float(result.decode.high)
    return (
        f"{tokens_per_second(float(result.decode.value))} ({range_of(low, high)}), "
        f"first token {seconds(float(result.first_token.value))}, bound by {result.bottleneck}"
    )
