"""Text that appears as fast as the model would write it.

CSS alone: each line is uncovered in steps of one token. Those who asked for less motion see the
text at rest; the seconds for a reply stand beside it in words.
"""

from itertools import count

from markupsafe import Markup

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
