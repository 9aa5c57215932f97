"""What both fits share: steps of weighted least squares with Gaussian priors, and how rows count.

Logarithms of constants are sought. Rows of one source on one machine err together, so a group of n
counts as n^0.65 rows; a row that is far off for a reason that no column states hardly counts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from advisor.model.model import Floats

GROUP_POWER = -0.35


@dataclass(frozen=True, kw_only=True)
class Prior:
    """What is expected of each term, shape (terms,).

    Attributes:
        value: logarithm expected.
        width: its standard deviation.
    """

    value: Floats
    width: Floats


def group_of(row: Mapping[str, str]) -> str:
    """Source and hardware of a published row."""
    return f"{row['source_url']} {row['gpu']} {row['cpu']}"


def counts(groups: Sequence[str]) -> Floats:
    """How much each row counts by the size of its group, shape (rows,)."""
    sizes = Counter(groups)
    return np.array([sizes[group] ** GROUP_POWER for group in groups])


def cauchy(residuals: Floats, far: float, noise: float) -> Floats:
    """Weight of each row, that of a Cauchy error (Holland and Welsch 1977, table 1), shape (rows,).

    Args:
        residuals: logarithms of measured over predicted.
        far: residual at which a row weighs half.
        noise: spread of honest rows; one that is met weighs 1 / noise^2.
    """
    return np.asarray(1.0 / (1.0 + (residuals / far) ** 2) / noise**2)


def newton(
    prior: Prior, values: Floats, slopes: Floats, weights: Floats, residuals: Floats
) -> Floats:
    """The step from values towards the best ones, shape (terms,)."""
    gradient = slopes.T @ (weights * residuals) - (values - prior.value) / prior.width**2
    return np.asarray(np.linalg.solve(_curvature(prior, slopes, weights), gradient))


def covariance(prior: Prior, slopes: Floats, weights: Floats) -> Floats:
    """Of the values about the best ones, shape (terms, terms)."""
    return np.asarray(np.linalg.inv(_curvature(prior, slopes, weights)))


def _curvature(prior: Prior, slopes: Floats, weights: Floats) -> Floats:
    return np.asarray(slopes.T @ (slopes * weights[:, None]) + np.diag(prior.width**-2))
