"""Tables of the Advise page: bigger GPUs and cheaper changes."""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime

import streamlit as st
from markupsafe import Markup

from advisor.advice.compare import decode_tps
from advisor.advice.upgrades import Upgrade
from advisor.formatting import hours, money, money_per_hour, number, range_of, tokens_per_second
from advisor.formatting import short as shortened
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.markup import block, joined, show, table, two_lines

OLD = 90  # days after which a price is called old
FIRST = 8  # rows shown before the rest is asked for
UPGRADE_HEADINGS = (
    "GPU", "Speed", "A month", "Saves a month", "Worth it above", "Break-even", "Pays for you",
)  # fmt: skip


def upgrades(answer: AdviseAnswer) -> None:
    """GPUs that are faster, cheapest month first."""
    found = answer.advice.upgrades
    if not found:
        nothing, chosen = answer.advice.best is None, answer.advice.chosen
        who = f"{chosen.name} does not run it on any" if nothing and chosen else "No"
        known = "GPU with a known price"
        why = f"{who} {known}." if nothing else f"{who} {known} is faster than what you have."
        show(block("oa-soft", why, "p"))
        return
    show(_upgrade_table(found[:FIRST]))
    if len(found) > FIRST:
        with st.expander(f"{len(found) - FIRST} more GPUs, dearer by the month"):
            show(_upgrade_table(found[FIRST:]))


def _upgrade_table(found: Sequence[Upgrade]) -> Markup:
    rows = (_upgrade_row(one) for one in found)
    return table(UPGRADE_HEADINGS, rows, label="Bigger GPUs", numeric=(1, 2, 3, 4, 5))


def _upgrade_row(one: Upgrade) -> Sequence[object]:
    decode, offer = one.estimate.decode, one.offer
    speeds = range_of(float(decode.low), float(decode.high)) if decode else ""
    whole = "holds all of it" if one.holds_all else "holds more of it, not all"
    return (
        two_lines(one.name, whole),
        two_lines(number(decode_tps(one.estimate)) + " tokens/s", speeds),
        two_lines(money(offer.monthly), offer.kind) if offer else "no price on record",
        hours(one.hours_saved) if one.hours_saved else "",
        _threshold(one.worth, money_per_hour, " an hour"),
        _threshold(one.break_even, shortened, "tokens a month"),
        two_lines(_pays(one), price_note(offer.note) if offer else "type your rent under Money"),
    )


def _threshold(value: float | None, say: Callable[[float], str], unit: str) -> Markup | str:
    if value is None or not math.isfinite(value):
        return ""
    return two_lines(say(value).removesuffix(unit), unit.strip())


def _pays(one: Upgrade) -> str:
    return {True: "yes", False: "no", None: "no price known"}[one.pays]


def price_note(note: str, today: date | None = None) -> str:
    """A price's note, with a warning where it is old."""
    found = re.search(r"(?:priced|read) (\d{4})(?:-(\d\d))?(?:-(\d\d))?", note)
    if not found:
        return note
    year, month, day = (int(part) if part else None for part in found.groups())
    # A date without day or month counts from its end: only what is surely old is called so.
    when = date(year or 1970, month or 12, day or 28)
    age = (today or datetime.now(UTC).date()) - when
    return f"old price: {note}" if age.days > OLD else note


def what_ifs(answer: AdviseAnswer) -> None:
    """Changes short of a bigger GPU, largest gain first."""
    found = answer.advice.what_ifs
    if not found:
        show(block("oa-soft", "No smaller change makes it notably faster.", "p"))
        return
    row = Markup("<div><span>{}</span><span>{}</span><b>{}</b></div>")
    rows = (
        row.format(two_lines(one.change, one.cost), f"+{100 * (one.gain - 1):.0f} %",
                   tokens_per_second(one.decode))
        for one in found[:7]
    )  # fmt: skip
    show(block("oa-list", joined(rows)))
