"""Cards of the three placements."""

from collections.abc import Iterable
from itertools import count

from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.compare import decode_tps, usable
from advisor.advice.curves import page_cache_for
from advisor.advice.table.option import OptionKind
from advisor.advice.words.verdict import judgement
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import drafting_note
from advisor.formatting import UNKNOWN, memory, range_of, seconds, tokens_per_second
from advisor.ui.advise import placements
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, head, joined, show

# Text that appears as fast as the model would write it.
#
# CSS alone: each line is uncovered in steps of one token. Those who asked for less motion see the
# text at rest; the seconds for a reply stand beside it in words.

TOKEN = 4  # characters; about what a token of English takes
LINES = (
    "The quick brown fox jumps   ",
    "over the lazy dog, and every",
    "token takes as long as this.",
)
PAUSE = 2.5  # seconds at the end, so that a fast model does not flicker
_NUMBERS = count()


def typing(speed: float) -> Markup:
    """A few lines typed at a speed [tokens/s]."""
    name = f"oa-k{next(_NUMBERS) % 10_000}"
    each = len(LINES[0]) // TOKEN / speed
    whole = each * len(LINES) + PAUSE
    lines, frames = [], []
    for place, line in enumerate(LINES):
        start, end = (100 * at * each / whole for at in (place, place + 1))
        steps = len(line) // TOKEN
        frames.append(
            f"@keyframes {name}-{place} {{ 0%, {start:.3f}% {{ width: 0; "
            f"animation-timing-function: steps({steps}, end); }} "
            f"{end:.3f}%, 100% {{ width: {len(line)}ch; }} }} "
            f".{name}-{place} {{ animation: {name}-{place} {whole:.3f}s infinite; }}"
        )
        lines.append(Markup("<div class='{}-{}'>{}</div>").format(name, place, line))
    # Only numbers and fixed names are in the style, nothing that anybody typed.
    motion = f"@media (prefers-reduced-motion: no-preference) {{{' '.join(frames)}}}"
    style = Markup(f"<style>{motion}</style>")  # noqa: S704 - see above
    return Markup(
        "{}<div class='oa-type' aria-hidden='true'><span>at this speed</span>{}</div>"
    ).format(style, Markup("").join(lines))


PROMISED = 0.5
"""Least speed that articles promise for a 70B model on a drive of 7 GB/s [tokens/s]."""


def cards(answer: Answer) -> None:
    """The three cards, in a fixed order."""
    each = (_card(answer, strategy, answer.advice.card(strategy)) for strategy in PlacementStrategy)
    show(block("oa-cards oa-details", joined(block("oa-card", joined(card)) for card in each)))


def _card(
    answer: Answer, strategy: PlacementStrategy, estimate: Estimate | None
) -> Iterable[Markup]:
    name = placements.name(answer, strategy)
    if estimate is not None and bool(estimate.fits):
        level = judgement(decode_tps(estimate), answer.nouns.money.reading_tps)
        yield head(name, *placements.BADGES[level])
        yield from _running(answer, estimate)
        return
    yield head(name, "not possible" if estimate is None else "does not fit", "none")
    if estimate is None:
        yield block("oa-why", answer.advice.why_not(strategy) or UNKNOWN, "p")
    else:
        yield block("oa-speed oa-short", f"{memory(float(estimate.missing))} too big")
        yield block("oa-range", f"with {estimate.runtime}, {estimate.model.format}")
    if strategy is PlacementStrategy.GPU_RESIDENT:
        yield from _would_hold(answer)
    elif estimate is not None:
        yield block("oa-why", f"{memory(float(estimate.missing))} more RAM would hold it.", "p")


def _would_hold(answer: Answer) -> Iterable[Markup]:
    """Cheapest option per month that holds the whole model in GPUs."""
    holding = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.RENT)
    whole = [
        option
        for option in answer.advice.options
        if option.kind in holding and option.speed and option.speed.whole and option.monthly
    ]
    if whole:
        option = min(whole, key=lambda option: option.monthly or 0.0)
        speeds = range_of(option.speed.low, option.speed.high) if option.speed else UNKNOWN
        told = Markup("Would reach <b>{} tokens/s</b> with {}, the cheapest that holds it.")
        yield block("oa-why", told.format(speeds, option.name), "p")


def _running(answer: Answer, estimate: Estimate) -> Iterable[Markup]:
    speed, decode = decode_tps(estimate), estimate.decode
    amount, _, unit = tokens_per_second(speed).partition(" ")
    yield block("oa-speed", Markup("{}<span>{}</span>").format(amount, unit))
    if decode is not None:
        yield block("oa-range", f"{range_of(float(decode.low), float(decode.high))} tokens/s")
    yield _facts(answer, estimate)
    yield typing(speed)
    length = answer.nouns.request.output
    yield block("oa-caption", f"A reply of {length} tokens takes {seconds(float(estimate.reply))}.")
    yield from _remarks(answer, estimate)


def _facts(answer: Answer, estimate: Estimate) -> Markup:
    first = estimate.first_token
    facts: list[tuple[str, Markup | str]] = [
        ("First token", seconds(float(first.value)) if first else UNKNOWN),
        ("Bound by", explained(estimate.bottleneck)),
        ("Runtime", explained(f"{estimate.runtime}, {estimate.model.format}")),
    ]
    if (
        estimate.strategy is not PlacementStrategy.GPU_RESIDENT
        and answer.nouns.machine.gpus
        and estimate.placement
    ):
        kept, layers = int(estimate.placement.gpu_layers), estimate.model.layers
        facts.append(("On the GPU", f"{kept} of {layers} layers"))
    rows = (Markup("<span>{}</span><span>{}</span>").format(*fact) for fact in facts)
    return block("oa-facts", joined(rows))


def _remarks(answer: Answer, estimate: Estimate) -> Iterable[Markup]:
    """Remarks that matter when this card is compared with the others."""
    resident = answer.advice.card(PlacementStrategy.GPU_RESIDENT)
    whole_fits = resident is not None and bool(resident.fits)
    remarks: list[Markup | str] = []
    if estimate.strategy is PlacementStrategy.CPU_OFFLOAD:
        if whole_fits:
            remarks.append("Nothing needs offloading; this is what RAM would give.")
        remarks += _other_ways(answer, estimate)
    if estimate.strategy is PlacementStrategy.NVME_OFFLOAD and estimate.placement is not None:
        in_ram = answer.advice.card(PlacementStrategy.CPU_OFFLOAD)
        cache = float(estimate.placement.page_cache)
        if in_ram is not None and bool(in_ram.fits):
            speed = tokens_per_second(decode_tps(estimate))
            remarks.append(f"Your RAM holds this; from the drive it would be {speed}.")
        elif cache > 0:
            remarks.append(f"{memory(cache)} of RAM keep parts of the file cached.")
        remarks += _what_half_a_token_takes(estimate)
    if estimate.format_note:
        note = estimate.format_note.removesuffix(".")
        remarks.append(f"{note[0].upper()}{note[1:]}.")
    remarks += filter(None, [drafting_note(estimate.work)])
    if remarks:
        yield block("oa-ways", joined(block("", remark, "p") for remark in remarks))


def _what_half_a_token_takes(estimate: Estimate) -> Iterable[str]:
    """RAM that half a token per second from a drive, as articles promise, would take."""
    if decode_tps(estimate) >= PROMISED:
        return
    needed = page_cache_for(estimate, PROMISED)
    takes = "no page cache reaches that here"
    takes = takes if needed is None else f"that takes {memory(needed)} of the file in RAM"
    yield f"Articles promise {PROMISED} tokens/s from a drive; {takes}."


def _other_ways(answer: Answer, shown: Estimate) -> Iterable[Markup]:
    """Speed of the other way to use weights in RAM, and why it differs."""
    in_place = Route.STREAMED not in shown.routes
    others = usable(answer.advice.placed(PlacementStrategy.CPU_OFFLOAD))
    other = next((other for other in others if (Route.STREAMED in other.routes) == in_place), None)
    if other is None:
        return
    text = Markup("{} instead: <b>{}</b> ({}, {}), bound by {}.")
    yield text.format(
        "Streamed to the GPU" if in_place else "Computed in place",
        tokens_per_second(decode_tps(other)), other.runtime, explained(other.model.format),
        other.bottleneck,
    )  # fmt: skip
    yield explained(
        "In place, the processor reads the weights where they lie. Streamed, they are copied over "
        "the link for each token."
    )
