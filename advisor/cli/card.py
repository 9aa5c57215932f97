"""`card`: the verdict as a picture for a README, a model card or a forum."""

import argparse
from collections.abc import Callable, Mapping

from advisor.advice.advise import answer
from advisor.cli.command import output, remark, tell
from advisor.errors import InputError
from advisor.reports.card import Card, card_of
from advisor.reports.files import picture


def run(args: argparse.Namespace) -> None:
    """Run `card`."""
    ending = args.file.suffix.casefold()
    if ending not in KINDS:
        raise InputError(
            f"{args.file} ends in {ending or 'nothing'!r}; a card is written as "
            f"{' or '.join(KINDS)}."
        )
    if args.badge and ending != SVG:
        raise InputError(f"A badge is written as {SVG}; {args.file} is not.")
    nouns = args.request.nouns()
    tell(nouns.notes)
    answered = answer(nouns)
    args.json = False
    remark(args, answered.caveats)
    card = card_of(answered)
    drawn = picture.badge(card).encode() if args.badge else KINDS[ending](card)
    with output(args.file, "wb") as file:
        file.write(drawn)
    print(f"{args.file}: {card.text}")


def _svg(card: Card) -> bytes:
    return picture.svg(card).encode()


SVG = ".svg"
KINDS: Mapping[str, Callable[[Card], bytes]] = {SVG: _svg, ".png": picture.png}
"""How a card is drawn, by the end of its file's name."""
