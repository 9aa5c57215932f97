"""Makers' launch prices in comparisons of costs."""

from advisor.units import Array

LAUNCH_MARGIN = 1.5
"""Factor on makers' launch prices where costs are compared: nine in ten GPUs with both
prices in data/prices/prices.csv cost less than that; new ones are 1.5 to 2 times as dear (May 2026,
https://www.promptquorum.com/power-local-llm/local-ai-workstation-build-guide-2026).
"""


def with_margin(monthly: Array, at_launch: Array, usd: Array) -> Array:
    """Monthly cost of a purchase for comparisons, its part at launch prices `LAUNCH_MARGIN` times
    [USD/month].

    monthly x (1 + (margin - 1) at_launch / usd)

    Args:
        monthly: purchase spread over its months [USD/month].
        at_launch: part of the price that is a maker's list price at launch [USD].
        usd: the whole price, above 0 [USD].
    """
    return monthly * (1.0 + (LAUNCH_MARGIN - 1.0) * at_launch / usd)
