"""Table of cheaper changes, and the age of a price."""

import re
from datetime import UTC, date, datetime

from markupsafe import Markup

from advisor.advice.prices.rows import is_stale
from advisor.formatting import tokens_per_second
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.glossary import explained_in_turn
from advisor.ui.parts.markup import block, joined, show, two_lines


def price_note(note: str, today: date | None = None) -> str:
    """Price note of a report, with a warning for an old price."""
    dated = re.search(r"(?:priced|read) (\d{4}(?:-\d\d){0,2})", note)
    old = dated is not None and is_stale(dated[1], today or datetime.now(UTC).date())
    return f"old price: {note}" if old else note


def what_ifs(answer: AdviseAnswer) -> None:
    """Changes other than a bigger GPU, largest gain first."""
    changes = answer.advice.what_ifs
    if not changes:
        show(block("oa-soft", "No smaller change makes it notably faster.", "p"))
        return
    row = Markup("<div><span>{}</span><span>{}</span><b>{}</b></div>")
    names = explained_in_turn(change.words for change in changes[:7])
    rows = (
        row.format(
            two_lines(name, change.cost),
            f"+{100 * (change.gain - 1):.0f} %",
            tokens_per_second(change.speed.decode),
        )
        for name, change in zip(names, changes[:7], strict=True)
    )
    show(block("oa-list", joined(rows)))
