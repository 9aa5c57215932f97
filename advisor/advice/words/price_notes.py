"""Notes on the prices of an answer."""

from advisor.advice.options.prices import odd_prices
from advisor.advice.options.question import Question
from advisor.advice.options.rented import unknown_rent


def price_notes(question: Question) -> tuple[str, ...]:
    """Notes on typed prices far from those on record, and on a rent that nobody knows."""
    return *odd_prices(question.money), *unknown_rent(question.ownership, question.machine)
