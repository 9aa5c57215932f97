"""`accuracy` and `claims`: predictions compared with published figures."""

import argparse

from advisor.cli.command import show


def accuracy(args: argparse.Namespace) -> None:
    """Run `accuracy`."""
    from advisor.catalog.csv_tables import read
    from advisor.evidence.accuracy.scoring import HISTORY, HistoryRow, shipped_ledger
    from advisor.evidence.accuracy.text import front_page, history_markdown, markdown, plain, record

    scores = shipped_ledger()
    if args.markdown:
        if args.markdown == "README.md":
            print(front_page(scores))
            return
        print(f"{markdown(scores)}\n\n{history_markdown(read(HISTORY, HistoryRow))}")
        return
    show(args, record(scores), lambda: plain(scores))


def claims(args: argparse.Namespace) -> None:
    """Run `claims`."""
    from advisor.evidence.claims import claims as computed

    answers = computed()
    lines = (
        f"{claim.row.number}. {claim.row.claim}\n   {claim.answer}. {claim.why}"
        for claim in answers
    )
    show(args, [claim.plain for claim in answers], lambda: "\n".join(lines))
