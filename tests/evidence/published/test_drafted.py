"""Drafted tokens of published rows, from their notes."""

import pytest

from advisor.cost_model.workload import Draft
from advisor.evidence.published.engines import drafting_of
from advisor.evidence.published.row import PublishedRow


@pytest.mark.parametrize(
    ("note", "draft", "drafted", "share"),
    [
        ("draft: MTP n=2, acceptance 74.8 %; plain 45.6 with -ncmoe 30", "mtp", 2, 0.748),
        ("draft: separate MTP drafter n=2, acceptance 55.6 %", "mtp", 2, 0.556),
        ("single stream; draft=mtp,3 (82/66/48 % per position, 2.96 tokens a pass)", "mtp", 3,
         1.96 / 3),
        ("one request a point; draft=mtp (EAGLE steps 3, topk 1)", "mtp", 3, 0.72),
        ("draft=dflash2,8 (bf16 drafter 3.51 GB)", "dflash", 8, 0.35),
        ("draft=ngram-mod; table on CPU", "ngram", 5, 0.1),
        ("median of 3 samples; draft=mtp (depth not stated)", "mtp", 2, 0.72),
    ],
)  # fmt: skip
def test_a_note_says_who_drafts(note: str, draft: str, drafted: int, share: float) -> None:
    stated = drafting_of(PublishedRow({"source_note": note}))
    assert (stated["draft"], stated["drafted"]) == (draft, drafted)
    # (1 - a^(k+1)) / (1 - a) tokens are 1 + k s
    a = float(stated["acceptance"])
    assert (1 - a ** (drafted + 1)) / (1 - a) == pytest.approx(1 + drafted * share, rel=1e-3)


@pytest.mark.parametrize("note", ["", "draft not stated", "draft: see folder bf16-spec"])
def test_a_note_without_a_drafter_drafts_nothing(note: str) -> None:
    assert drafting_of(PublishedRow({"source_note": note})) == {}


def test_one_draft_is_accepted_as_often_as_stated() -> None:
    assert Draft.chance(1, 0.85) == pytest.approx(0.85, rel=1e-3)
