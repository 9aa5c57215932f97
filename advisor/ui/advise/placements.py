"""The three placements in one row: the winner framed, with its range and reading speed."""

from collections.abc import Iterable

import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.compare import decode_tps
from advisor.advice.words.verdict import Judgement, duration, judgement
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import UNKNOWN, memory, number
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, joined, press

NAMES = {
    PlacementStrategy.GPU_RESIDENT: "In the graphics card",
    PlacementStrategy.CPU_OFFLOAD: "Offload to RAM",
    PlacementStrategy.NVME_OFFLOAD: "Offload to NVMe",
}
FOLDED = Markup("<details class='oa-more'><summary>Other placements</summary>{}</details>")
WHY = "why"
"""Key of the button that opens the winner's figures."""
SHARED = {
    PlacementStrategy.GPU_RESIDENT: "In shared memory",
    PlacementStrategy.NVME_OFFLOAD: "In shared memory, the rest from the drive",
}
"""Names of placements where processor and GPU have one memory."""
BADGES = {
    Judgement.FASTER: ("fast", "good"),
    Judgement.KEEPS_UP: ("keeps up", "good"),
    Judgement.SLOWER: ("slow", "partly"),
    Judgement.MINUTES: ("minutes per answer", "partly"),
    Judgement.UNUSABLE: ("not usable", "bad"),
    Judgement.NOTHING: ("does not run", "bad"),
}
"""Short words and tone of each judgement."""


def tone(level: Judgement) -> str:
    """Tone of a judgement: good, partly or bad."""
    return BADGES[level][1]


def row(answer: Answer) -> Markup:
    """Cards of the placements; where the model fits in the card, the others are folded."""
    best = answer.advice.best
    if best is not None and (
        best.strategy is PlacementStrategy.GPU_RESIDENT or answer.nouns.machine.unified
    ):
        others = (each for each in PlacementStrategy if each is not best.strategy)
        folded = block("oa-others", joined(_other(answer, each, "") for each in others))
        return block("oa-cards oa-placements", _winner(answer, best, FOLDED.format(folded)))
    cards = (
        _winner(answer, best, Markup())
        if best is not None and best.strategy is each
        else _other(answer, each, "oa-card")
        for each in PlacementStrategy
    )
    return block("oa-cards oa-placements", joined(cards))


def name(answer: Answer, strategy: PlacementStrategy) -> str:
    """Name of a placement on the machine."""
    return (SHARED if answer.nouns.machine.unified else NAMES).get(strategy, NAMES[strategy])


def head(title: str, words: str, look: str) -> Markup:
    """Title of a card, and its badge."""
    badge = Markup("<span class='oa-name'>{}</span><span class='oa-badge oa-{}'>{}</span>")
    return block("oa-head", badge.format(title, look, words))


def _winner(answer: Answer, best: Estimate, folded: Markup) -> Markup:
    """Speed, what it was, its range as a bar, and where it stands to reading."""
    speed, reading = decode_tps(best), answer.nouns.money.reading_tps
    words, look = BADGES[judgement(speed, reading)]
    figure = Markup("<span class='oa-figure'>{}</span> tokens a second{} {}")
    users = float(best.work.users)
    each = f" for each of {users:,.0f} users" if users > 1 else ""
    bound = f"{best.runtime}, {best.model.format}, bound by {best.bottleneck}"
    parts = (
        head(name(answer, best.strategy), words, look),
        block("oa-speed-line", figure.format(number(speed), each, _before(speed))),
        *_range(best, reading),
        _soft(bound),
        block("oa-foot", joined((folded, press(WHY, "Why this number?")))),
    )
    return block("oa-card oa-winner", joined(parts))


def _before(speed: float) -> Markup:
    """Speed under the request before, where it was another one."""
    state, text = st.session_state, number(speed)
    if state.get("shown_speed") != text:
        state["speed_before"], state["shown_speed"] = state.get("shown_speed", ""), text
    before = state.get("speed_before", "")
    return block("oa-was", f"was {before}", "span") if before else Markup()


def _range(best: Estimate, reading: float) -> Iterable[Markup]:
    if best.decode is None:
        return
    low, high, speed = float(best.decode.low), float(best.decode.high), decode_tps(best)
    end = max(1.15 * high, min(1.6 * reading, 6 * high))
    at = [100 * value / end for value in (low, high - low, speed)]
    mark = Markup("<u style='left:{:.1f}%'></u>").format(100 * reading / end)
    bar = Markup(
        "<div class='oa-span' aria-hidden='true'><i style='left:{:.1f}%;width:{:.1f}%'></i>"
        "<b style='left:{:.1f}%'></b>{}</div>"
    ).format(*at, mark if reading < end else Markup())
    yield bar
    beyond = "" if reading < end else ", far to the right"
    yield block(
        "oa-soft", f"4 times in 5 between {number(low)} and {number(high)}; dashed: reading speed, "
        f"{number(reading)}{beyond}",
    )  # fmt: skip


def _other(answer: Answer, strategy: PlacementStrategy, style: str) -> Markup:
    """What is missing, or how long an answer takes."""
    estimate = answer.advice.card(strategy)
    if estimate is None:
        shown = "Not possible" if answer.nouns.machine.gpus else "No GPU"
        badge, why = ("not possible", "none"), answer.advice.why_not(strategy) or UNKNOWN
    elif not bool(estimate.fits):
        badge, shown = ("does not fit", "none"), f"{memory(float(estimate.missing))} too big"
        why = f"{estimate.runtime}, {estimate.model.format}"
    else:
        speed = decode_tps(estimate)
        badge, shown = (
            BADGES[judgement(speed, answer.nouns.money.reading_tps)],
            f"{number(speed)} tokens/s",
        )
        why = f"{duration(float(estimate.reply))} for an answer"
    parts = head(name(answer, strategy), *badge), block("oa-grey", shown), _soft(why)
    return block(style, joined(parts))


def _soft(text: str) -> Markup:
    return block("oa-soft", explained(text))
