"""The three placements in one row: the winner framed, with its range and reading speed."""

from collections.abc import Iterable

import streamlit as st
from markupsafe import Markup

from advisor.advice.compare import decode_tps
from advisor.advice.words.verdict import Judgement, duration, judgement
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import UNKNOWN, memory, number
from advisor.ui.advise import explanation
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, joined, show

NAMES = {
    PlacementStrategy.GPU_RESIDENT: "In the graphics card",
    PlacementStrategy.CPU_OFFLOAD: "Offload to RAM",
    PlacementStrategy.NVME_OFFLOAD: "Offload to NVMe",
}
FOLDED = Markup("<details class='oa-more'><summary>Other placements</summary>{}</details>")
SHARED = "In shared memory"
"""Name of the first placement where processor and GPU have one memory."""
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


def row(answer: AdviseAnswer, best: Estimate | None) -> None:
    """Cards of the placements; where the model fits in the card, the others are folded."""
    whole = best is not None and best.strategy is PlacementStrategy.GPU_RESIDENT
    if best is not None and (whole or answer.machine.unified):
        with st.container(key="placements"), st.container(border=True, key="winner"):
            others = [strategy for strategy in PlacementStrategy if strategy is not best.strategy]
            folded = block("oa-others", joined(_other(answer, strategy) for strategy in others))
            show(joined((_winner(answer, best), FOLDED.format(folded))))
            explanation.button(best)
        return
    widths = [1.5 if best is not None and _is(best, each) else 1.0 for each in PlacementStrategy]
    with st.container(key="placements"):
        for column, strategy in zip(
            st.columns(widths, gap="small"), PlacementStrategy, strict=True
        ):
            won = best is not None and _is(best, strategy)
            key = "winner" if won else f"other_{strategy.name}"
            with column, st.container(border=True, height="stretch", key=key):
                if best is not None and won:
                    show(_winner(answer, best))
                    explanation.button(best)
                else:
                    show(_other(answer, strategy))


def _is(best: Estimate, strategy: PlacementStrategy) -> bool:
    return best.strategy is strategy


def _name(answer: AdviseAnswer, strategy: PlacementStrategy) -> str:
    first = strategy is PlacementStrategy.GPU_RESIDENT
    return SHARED if first and answer.machine.unified else NAMES[strategy]


def _head(name: str, words: str, look: str) -> Markup:
    badge = Markup("<span class='oa-name'>{}</span><span class='oa-badge oa-{}'>{}</span>")
    return block("oa-head", badge.format(name, look, words))


def _winner(answer: AdviseAnswer, best: Estimate) -> Markup:
    """Speed, what it was, its range as a bar, and where it stands to reading."""
    speed = decode_tps(best)
    reading = answer.money.reading_tps
    words, look = BADGES[judgement(speed, reading)]
    figure = Markup("<span class='oa-figure'>{}</span> tokens a second {}").format(
        number(speed), _before(speed)
    )
    return joined((
        _head(_name(answer, best.strategy), words, look),
        block("oa-speed-line", figure),
        *_range(best, reading),
        block("oa-soft", explained(f"{best.runtime}, {best.model.format}, bound by "
                                   f"{best.bottleneck}")),
    ))  # fmt: skip


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


def _other(answer: AdviseAnswer, strategy: PlacementStrategy) -> Markup:
    """What is missing, or how long an answer takes."""
    estimate, name = answer.advice.card(strategy), _name(answer, strategy)
    if estimate is None:
        why = answer.advice.why_not(strategy) or UNKNOWN
        shown = "No graphics card" if not answer.machine.gpus else "Not possible"
        return joined((_head(name, "not possible", "none"), _line(shown), _why(why)))
    if not bool(estimate.fits):
        short, kept = float(estimate.missing), f"{estimate.runtime}, {estimate.model.format}"
        line = _line(f"{memory(short)} too big")
        return joined((_head(name, "does not fit", "none"), line, _why(kept)))
    speed = decode_tps(estimate)
    words, look = BADGES[judgement(speed, answer.money.reading_tps)]
    figure = f"{number(speed)} tokens/s"
    return joined((
        _head(name, words, look), _line(figure),
        _why(f"{duration(float(estimate.reply))} for an answer"),
    ))  # fmt: skip


def _line(text: str) -> Markup:
    return block("oa-grey", text)


def _why(text: str) -> Markup:
    return block("oa-soft", explained(text))
