"""Claims of articles about offloading, each with an answer and computed numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping

import streamlit as st
from markupsafe import Markup

from advisor.errors import InputError
from advisor.evidence.claims import Claim, Finding, Verdict, claims
from advisor.machine.spec import MachineSpec
from advisor.request.values import from_values
from advisor.ui.parts.markup import block, head, heading, joined, outward, say, show, table
from advisor.ui.question import current

REMEMBERED = 3600  # seconds until all are computed again [s]
TONES = {Verdict.HOLDS: "good", Verdict.ONLY_IF: "partly", Verdict.DOES_NOT: "bad"}
EVERY = "all"
HOW = (
    "Each is computed now, from its scenario. It holds in a case where our estimate lies in the "
    "range claimed, widened by a tenth at each end; in brackets is our 80 % range."
)
NO_WAY = "No change that was tried makes it hold."


def claims_section() -> None:
    """Heading, number of claims that hold, filter, and one row per claim."""
    answers = _computed()
    counted = Counter(claim.verdict for claim in answers)
    held, partly, failed = (counted[verdict] for verdict in Verdict)
    summary = (
        f"Of {len(answers)} claims about offloading, {held} hold, {partly} hold under a condition, "
        f"{failed} do not."
    )
    show(heading("", summary, ""))
    say(HOW, "oa-way")
    chosen = st.segmented_control(
        "Show",
        [EVERY, *(verdict.value for verdict in Verdict)],
        default=EVERY,
        key="claims_shown",
        format_func=str.capitalize,
        required=True,
        bind="query-params",
    )
    more = Markup("<details class='oa-more'><summary>{}</summary>{}</details>")
    what = "Cases, assumptions and required changes"
    show(
        joined(
            block("oa-claim", joined((*_answer(claim), more.format(what, joined(_details(claim))))))
            for claim in answers
            if chosen in (EVERY, claim.verdict.value)
        )
    )


@st.cache_resource(max_entries=1, ttl=REMEMBERED, show_spinner="Checking claims of articles")
def _computed() -> tuple[Claim, ...]:
    return claims()


def _answer(claim: Claim) -> Iterable[Markup]:
    name = f"{claim.row.number}. {claim.row.topic}"
    yield head(name, claim.verdict, TONES[claim.verdict])
    yield block("oa-said", claim.row.claim, "p")
    if claim.condition:
        condition = Markup("<b>Holds only if</b> {}.")
        yield block("oa-answer", condition.format(claim.condition), "p")
    yield block("oa-answer", claim.why, "p")


def _details(claim: Claim) -> Iterable[Markup]:
    several = len(claim.parts) > 1
    rows = (_case(finding, with_range=several) for finding in claim.findings)
    yield table(("Case", "Our figure"), rows, label=f"Cases of claim {claim.row.number}")
    told: dict[str, object] = {
        "What they share": claim.scenario,
        "Assumed": claim.row.assumed,
        "What lies behind it": claim.row.mechanism,
    }
    if claim.verdict is not Verdict.HOLDS:
        told["What it would take"] = joined(block("", need) for need in claim.needs or (NO_WAY,))
    for title, text in told.items():
        yield block("oa-strong", title) + block("oa-part", text) if text else Markup()
    yield block("oa-soft", _sources(claim), "p")


def _case(finding: Finding, *, with_range: bool) -> tuple[Markup, Markup]:
    query = parameters(finding.scenario.inputs)
    first = [block("", finding.condition)]
    if query:
        first.append(block("oa-soft", outward(current.address("./", query), "open in Advise")))
    if finding.fits:
        result = f"{finding.words} {finding.claimed.figure}"
    else:
        result = finding.words
    if with_range and not finding.claimed.open:
        claimed = f" ({finding.claimed.words})"
    else:
        claimed = ""
    return joined(first), block("", result) + block("oa-soft", f"{finding.outcome}{claimed}")


def _sources(claim: Claim) -> Markup:
    named = [claim.row.source, *(finding.case.source for finding in claim.findings)]
    addresses = dict.fromkeys(part.strip() for text in named for part in text.split(";"))
    links = (outward(each, each.removeprefix("https://")) for each in addresses if each)
    return Markup("Facts from {}.").format(Markup(", ").join(links))


ELSEWHERE = ("upgrade",)  # inputs of a scenario that the Advise page shows side by side


def parameters(inputs: Mapping[str, object]) -> dict[str, str]:
    """Parameters of the link that opens a scenario on Advise; empty where that cannot show it."""
    if "model" not in inputs:
        return {}
    values = {key: value for key, value in inputs.items() if key not in ELSEWHERE}
    try:
        return current.parameters(from_values({"gpu": MachineSpec.NO_GPU, **values}))
    except InputError:
        return {}
