"""Parts common to both fits: weighted least squares with Gaussian priors, and weights of the rows.

Logarithms of constants are sought. Rows of one source on one machine err together, so a group of n
rows counts as fewer; a row that is far off for a reason that no column states hardly counts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.model.model import Floats

GROUP_POWER = -0.35


@dataclass(frozen=True, kw_only=True)
class Prior:
    """Expected value and spread of each term, shape (terms,).

    Attributes:
        value: logarithm expected.
        width: its standard deviation.
    """

    value: Floats
    width: Floats


def counts(groups: Sequence[str], power: float = GROUP_POWER) -> Floats:
    """Weight of each row by the size of its group, shape (rows,).

    Args:
        groups: of each row.
        power: rows of a group of n weigh n^power each; -1 makes all groups weigh the same.
    """
    sizes = Counter(groups)
    return np.array([sizes[group] ** power for group in groups])


def cauchy(residuals: Floats, far: Floats | float, noise: Floats | float) -> Floats:
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
    """Covariance of the values about the best ones, shape (terms, terms)."""
    return np.asarray(np.linalg.inv(_curvature(prior, slopes, weights)))


def _curvature(prior: Prior, slopes: Floats, weights: Floats) -> Floats:
    return np.asarray(slopes.T @ (slopes * weights[:, None]) + np.diag(prior.width**-2))


LONGEST = 1.5
"""Largest change of a logarithm when rows are left out: a step is true near the best values."""


def without_each(
    prior: Prior,
    values: Floats,
    slopes: Floats,
    weights: Floats,
    residuals: Floats,
    clusters: Sequence[str],
) -> Floats:
    """Values that a fit without each row's cluster would find, shape (rows, terms).

    One Newton step from the best values, at which the gradient is zero: taking rows c away leaves
    -S_c' W_c r_c of it and the curvature H - S_c' W_c S_c, inverted by Woodbury's identity (Cook
    and Weisberg 1982, section 3.2, for rows of a linear fit).

    Args:
        prior: of the terms.
        values: best ones, shape (terms,).
        slopes: of the rows there, shape (rows, terms).
        weights: of the rows there, shape (rows,).
        residuals: logarithms of measured over predicted, shape (rows,).
        clusters: what is left out with each row.
    """
    inverse = covariance(prior, slopes, weights)
    without = np.empty_like(slopes)
    names = np.array(clusters)
    for cluster in dict.fromkeys(clusters):
        inside = np.flatnonzero(names == cluster)
        own, weight = slopes[inside], weights[inside]
        plain = inverse @ (own.T @ (weight * residuals[inside]))
        between = np.linalg.inv(np.diag(1.0 / weight) - own @ inverse @ own.T)
        change = -(plain + inverse @ (own.T @ (between @ (own @ plain))))
        without[inside] = values + np.clip(change, -LONGEST, LONGEST)
    return without
