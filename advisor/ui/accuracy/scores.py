"""Tables of the Accuracy page: errors by kind of run, public formulas, method."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from advisor.evidence.accuracy.regimes import ALL, REGIMES, description
from advisor.evidence.accuracy.scoring import PeerScore, Score
from advisor.evidence.accuracy.shipped import Ledger
from advisor.evidence.accuracy.text import allowed, floor_sentence, percent
from advisor.evidence.peers import PEERS, Peer
from advisor.ui.parts.glossary import term
from advisor.ui.parts.markup import block, show, table, two_lines

ENOUGH = 20
"""Figures from which a kind of run is named in the verdict."""
WITHIN = term("Median error", "Median of the error, relative to the measured speed.")
BY_GROUP = term(
    "By group",
    "Median of the groups' median errors. A group is one source on one machine.",
)
HELD = term("In the range", "Share of measured speeds within the predicted 80 % range.")
HELD_BY_GROUP = term("In range, by group", "The same share, with equal weight for each group.")
WIDTH = term("Range width", "Upper end of the range divided by its lower end.")
HEADINGS = (
    "Kind of run", "Figures", WITHIN, BY_GROUP, HELD, HELD_BY_GROUP, WIDTH, "Best public formula",
)  # fmt: skip


def verdict(ledger: Ledger) -> None:
    """Accuracy in two sentences."""
    *kinds, every = ledger.scores
    known = [score for score in kinds if score.rows >= ENOUGH]
    best, *_, worst = sorted(known, key=lambda score: score.median)
    show(
        block(
            "oa-verdict",
            f"Of {every.rows:,} measured speeds, half are predicted within "
            f"{percent(every.median)}, and {percent(every.covered)} lie in the predicted range, "
            f"which should contain 80 %. Of kinds of run with {ENOUGH} figures and more, the "
            f"smallest median error is {percent(best.median)} ({best.regime}), the largest "
            f"{percent(worst.median)} ({worst.regime}).",
            "p",
        )
    )


def regimes(ledger: Ledger) -> None:
    """One line per kind of run, beside the best public formula."""
    st.subheader("By kind of run", anchor="regimes")
    rows = (_row(score) for score in ledger.scores)
    show(table(HEADINGS, rows, label="Errors by kind of run", numeric=range(1, 7)))
    with st.expander("Kinds of run explained"):
        kinds = ((regime.name, regime.text) for regime in REGIMES)
        show(table(("Kind of run", "What it is"), kinds, label="Kinds of run"))
    show(
        block(
            "oa-why",
            "A range should contain what you would measure in four cases of five. The line under "
            "the share is what chance allows if that is true; it is wide for few groups. A group "
            "is one source on one machine, whose figures share their error. By group, a long "
            "sweep counts as much as a single figure. " + floor_sentence(ledger.floor),
            "p",
        )
    )


def _row(score: Score) -> Sequence[object]:
    return (
        _explained(score.regime),
        two_lines(f"{score.rows:,}", f"{score.groups} groups" if score.groups > 1 else "1 group"),
        percent(score.median, 1),
        percent(score.group_median, 1),
        two_lines(percent(score.covered), allowed(score)),
        percent(score.group_covered),
        f"{score.width:.2f}",
        _best(score),
    )


def _explained(name: str) -> Markup | str:
    if name == ALL:
        return "all together"
    text = description(name)
    return term(name, text) if text else name


def _best(score: Score) -> Markup | str:
    peer = score.best_peer
    if peer is None:
        few = "none covers most of them" if score.peers else "none covers it"
        return "" if score.regime == ALL else few
    return two_lines(f"{percent(peer.median, 1)}, {peer.name}", _beside(peer, score))


def _beside(peer: PeerScore, score: Score) -> str:
    """Error of the advisor on the same rows, where those are fewer."""
    if peer.rows == score.rows:
        return ""
    return f"on {peer.rows} of them; ours {percent(peer.own_median, 1)}"


def formulas(ledger: Ledger) -> None:
    """Each public formula on the rows that it can answer."""
    st.subheader("Public formulas on the same figures", anchor="formulas")
    show(
        block(
            "oa-why",
            "Rewritten from their source code and given the same facts as our model: bytes of the "
            "file, bandwidths of the datasheet, RAM as stated or as we assume it. They were not "
            "made for these rows, and some are meant as bounds. Shown are median errors; where a "
            "formula covers only some figures, their number and our error on them.",
            "p",
        )
    )
    headings = ("Kind of run", "This advisor", *(peer.name for peer in PEERS))
    scored = [score for score in ledger.scores if score.peers]
    rows = map(_compared, scored)
    numeric = range(1, len(headings))
    with st.container(key="ledger_formulas"):
        show(table(headings, rows, label="Median errors of public formulas", numeric=numeric))
    with st.expander("Formulas and sources"):
        show(table(("Advisor", "Formula", "Read"), map(_formula, PEERS), label="Public formulas"))


def _compared(score: Score) -> Sequence[object]:
    by_name = {scored.name: scored for scored in score.peers}
    own = two_lines(percent(score.median, 1), "")
    return (score.regime, own, *(_cell(by_name.get(peer.name), score) for peer in PEERS))


def _cell(peer: PeerScore | None, score: Score) -> Markup | str:
    if peer is None:
        return ""
    part = "" if peer.rows == score.rows else f"{peer.rows}; ours {percent(peer.own_median, 1)}"
    return two_lines(percent(peer.median, 1), part)


def _formula(peer: Peer) -> Sequence[object]:
    link = Markup("<a href='{}' target='_blank' rel='noopener noreferrer'>{}</a>")
    return link.format(peer.source, peer.name), peer.formula, f"{peer.version}, {peer.date}"


def method() -> None:
    """Method of the comparison in two sentences."""
    st.subheader("How it is judged", anchor="method")
    show(
        block(
            "oa-why",
            "Each figure is predicted from constants fitted without its source (for LocalScore's "
            "hundreds of machines: without the machine), so no prediction is tested on figures "
            "that it was fitted to. On the command line, python -m advisor accuracy prints the "
            "same tables.",
            "p",
        )
    )
