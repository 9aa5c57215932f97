"""Drafted tokens of a published row, from its note: method, number and acceptance.

Notes say `draft=mtp,3`, "draft: MTP n=2, acceptance 74.8 %", "82/66/48 % per position, 2.96 tokens
a pass". Engines print the share of all drafted tokens that was accepted.
"""

import re

import numpy as np

from advisor.cost_model.workload import DRAFTED, Workload
from advisor.evidence.published.row import PublishedRow

STATED = re.compile(
    r"\bdraft\s*[:=]\s*(?:separate )?([a-z][\w-]*)(?: drafter)?(?:[,\s]*(?:n\s*=\s*)?(\d+)\b)?"
)
STEPS = re.compile(r"\bsteps (\d+)")
SHARE = re.compile(r"\bacceptance (?:of )?(\d+(?:\.\d+)?) ?%")
PER_PASS = re.compile(r"(\d+(?:\.\d+)?) tokens a pass")
METHODS = (
    (r"mtp|nextn|eagle(?!3)", "mtp"), (r"eagle3", "eagle"), (r"dflash|dspark", "dflash"),
    (r"ngram", "ngram"),
)  # fmt: skip
"""Patterns of a drafter, with its method; DSpark drafts a block at once, as DFlash does."""
USUAL_SHARE = {"mtp": 0.72, "eagle": 0.5, "dflash": 0.35, "ngram": 0.1}
"""Share of drafted tokens that is accepted where a note states none: the median of those that state
it for two to five tokens by MTP (data/measurements/drafting.csv and drafted_2026.csv); assumed for
others."""
UNSTATED = {"mtp": 2}
"""Tokens drafted by a row that states no number: the usual one of those that do, where servers
draft more than a model's paper."""


def drafting_of(row: PublishedRow) -> dict[str, str | float]:
    """Drafting fields of a `Workload`; empty for a row without drafting."""
    note = row.source_note.casefold()
    stated = STATED.search(note)
    if stated is None:
        return {}
    named = (method for words, method in METHODS if re.match(words, stated[1]))
    method = next(named, "")
    if not method:
        return {}
    number = stated[2] or (steps[1] if (steps := STEPS.search(note)) else None)
    drafted = float(number) if number else float(UNSTATED.get(method, DRAFTED[method]))
    passed, share = PER_PASS.search(note), SHARE.search(note)
    if passed:
        accepted = (float(passed[1]) - 1.0) / drafted
    else:
        accepted = float(share[1]) / 100.0 if share else USUAL_SHARE[method]
    return {
        "draft": method,
        "drafted": drafted,
        "acceptance": chance(drafted, min(accepted, 1.0)),
    }


def chance(drafted: float, accepted_share: float) -> float:
    """Probability that a draft is accepted, from the share of all drafts that is.

    The solution a of (1 - a^(k+1)) / (1 - a) = 1 + k s (`Workload.tokens_per_step`).
    """
    chances = np.linspace(0.0, 0.999, 1000)
    tokens = (1.0 - chances ** (drafted + 1.0)) / (1.0 - chances)
    return float(np.interp(1.0 + drafted * accepted_share, tokens, chances))


def with_drafts(row: PublishedRow, work: Workload) -> Workload:
    """Request with the drafted tokens of a row."""
    return work.with_numbers(**drafting_of(row))
