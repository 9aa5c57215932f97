"""Notes on the prices of an answer."""

from advisor.advice.prices.price import odd_prices
from advisor.advice.table.question import Question, unknown_rent


def price_notes(question: Question) -> tuple[str, ...]:
    """Notes on typed prices far from those on record, and on a rent that nobody knows."""
    return *odd_prices(question.money), *unknown_rent(question.ownership, question.machine)
