"""The three placements in one row: the winner framed, with its range and reading speed."""

from collections.abc import Iterable

from markupsafe import Markup, escape

from advisor.advice.advise import Answer
from advisor.advice.judgement import Judgement, judged
from advisor.advice.speeds import speed_of
from advisor.advice.words.phrases import duration
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.runtimes.compare import decode_tps
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, head, joined, press
from advisor.units import UNKNOWN, memory, number

FOLDED = Markup("<details class='oa-more'><summary>Other placements</summary>{}</details>")
JUMP = Markup("<a class='oa-jump' href='#run-it'>Run it</a>")
"""Link of a phone to the commands below."""
WHY = "why"  # key of the button that opens the winner's figures
SHARED = {
    PlacementStrategy.GPU_RESIDENT: "In shared memory",
    PlacementStrategy.CPU_OFFLOAD: "In shared memory, the rest on the processor",
    PlacementStrategy.NVME_OFFLOAD: "In shared memory, the rest from the drive",
}
"""Names of placements where processor and GPU have one memory."""
BADGES = {
    Judgement.FASTER: ("fast", "good"),
    Judgement.KEEPS_UP: ("keeps up", "good"),
    Judgement.SLOWER: ("slow", "partly"),
    Judgement.MINUTES: ("minutes per answer", "partly"),
    Judgement.THINKS: ("thinks first", "partly"),
    Judgement.DRIVE: ("from the drive", "bad"),
    Judgement.UNUSABLE: ("not usable", "bad"),
    Judgement.NOTHING: ("does not run", "bad"),
}
"""Short words and tone of each judgement."""
TOO_BIG = ("does not fit", "none")
IMPOSSIBLE = ("not possible", "none")
"""The same of a placement that lacks memory, and of one that machine or runtime does not have."""


def tone(level: Judgement) -> str:
    """Tone of a judgement: good, partly or bad."""
    return BADGES[level][1]


def row(answer: Answer, before: str = "") -> Markup:
    """Cards of the placements; where the GPU holds the whole model, the other cards are folded."""
    best = answer.advice.best
    if best is not None and (
        best.strategy is PlacementStrategy.GPU_RESIDENT or answer.nouns.machine.unified
    ):
        others = (each for each in PlacementStrategy if each is not best.strategy)
        folded = block("oa-others", joined(_other(answer, each, "") for each in others))
        framed = _winner(answer, best, before, FOLDED.format(folded))
        return block("oa-cards oa-placements", framed)
    cards = (
        _winner(answer, best, before)
        if best is not None and best.strategy is each
        else _other(answer, each, "oa-card")
        for each in PlacementStrategy
    )
    return block("oa-cards oa-placements", joined(cards))


def name(answer: Answer, strategy: PlacementStrategy) -> str:
    """Name of a placement on the machine."""
    if answer.nouns.machine.unified:
        return SHARED.get(strategy, strategy.heading)
    return strategy.heading


def _winner(answer: Answer, best: Estimate, before: str, folded: Markup | str = "") -> Markup:
    """Fastest placement: what it was under the request before, and what bounds it."""
    speed = decode_tps(best)
    users = float(best.work.users)
    if users > 1:
        each = f" for each of {users:,.0f} users"
    else:
        each = ""
    if best.decode:
        ends = (float(best.decode.low), float(best.decode.high))
    else:
        ends = None
    bound = f"{best.runtime.name}, {best.model.format}, limited by {best.bottleneck}"
    foot = block("oa-foot", escape(folded) + press(WHY, "Why this number?") + JUMP)
    reading = answer.nouns.money.reading_tps
    was = block("oa-was", f"was {before}", "span") if before else ""
    return winner(
        head(name(answer, best.strategy), *badge(answer, best)),
        speed,
        ends,
        reading,
        [bound],
        beside=Markup("{} {}").format(each, was),
        foot=foot,
    )


def badge(answer: Answer, best: Estimate) -> tuple[str, str]:
    """Words and tone of the fastest placement, as in the verdict, with its drawback."""
    words = answer.advice.summary
    if answer.advice.elsewhere:
        return BADGES[judged(speed_of(best), answer.nouns.money.reading_tps)]
    if words.reserve and tone(words.judgement) != "bad":
        return words.reserve, "partly"
    return BADGES[words.judgement]


def winner(
    top: Markup,
    speed: float,
    ends: tuple[float, float] | None,
    reading: float,
    lines: Iterable[str],
    *,
    beside: Markup | str = "",
    foot: Markup | str = "",
) -> Markup:
    """Framed card with its title: speed, its range as a bar, and the mark of reading speed
    [tokens/s].
    """
    figure = Markup("<span class='oa-figure'>{}</span> tokens a second{}")
    parts = (
        top,
        block("oa-speed-line", figure.format(number(speed), beside)),
        *(_range(ends, speed, reading) if ends else ()),
        *map(_soft, lines),
        escape(foot),
    )
    return block("oa-card oa-winner", joined(parts))


def _range(ends: tuple[float, float], speed: float, reading: float) -> Iterable[Markup]:
    low, high = ends
    end = max(1.15 * high, min(1.6 * reading, 6 * high))
    at = [100 * value / end for value in (low, high - low, speed)]
    mark = Markup("<u style='left:{:.1f}%'></u>").format(100 * reading / end)
    yield Markup(
        "<div class='oa-span' aria-hidden='true'><i style='left:{:.1f}%;width:{:.1f}%'></i>"
        "<b style='left:{:.1f}%'></b>{}</div>"
    ).format(*at, mark if reading < end else Markup())
    if reading < end:
        beyond = ""
    else:
        beyond = ", far to the right"
    told = f"4 times in 5 between {number(low)} and {number(high)}; dashed: reading speed"
    yield block("oa-soft", f"{told}, {number(reading)}{beyond}")


def _other(answer: Answer, strategy: PlacementStrategy, style: str) -> Markup:
    """Card of a placement other than the fastest: its speed and the time of an answer, or its
    missing memory.
    """
    title = name(answer, strategy)
    estimate = answer.advice.card(strategy)
    if estimate is None:
        if answer.nouns.machine.gpus:
            figure = "Not possible"
        else:
            figure = "No GPU"
        why = answer.advice.why_not(strategy) or UNKNOWN
        return grey(title, IMPOSSIBLE, figure, [why], style)
    if not bool(estimate.fits):
        why = f"{estimate.runtime.name}, {estimate.model.format}"
        figure = f"{memory(float(estimate.missing))} too big"
        return grey(title, TOO_BIG, figure, [why], style)
    speed = decode_tps(estimate)
    by = "" if estimate.runtime.mainstream else f" in {estimate.runtime.name}"
    best = answer.advice.best
    if by and best is not None and speed > decode_tps(best):
        by += ", which few run"
    takes = f"{duration(float(estimate.reply))} for an answer{by}"
    words = BADGES[judged(speed_of(estimate), answer.nouns.money.reading_tps)]
    return grey(title, words, f"{number(speed)} tokens/s", [takes], style)


def grey(
    title: str, badge: tuple[str, str], figure: str, lines: Iterable[str], style: str = "oa-card"
) -> Markup:
    """Card of a placement other than the fastest, with the words and look of its badge."""
    parts = head(title, *badge), block("oa-grey", figure), *map(_soft, lines)
    return block(style, joined(parts))


def _soft(text: str) -> Markup:
    return block("oa-soft", explained(text))
