"""Gauss-Newton steps of all fits: weighted least squares with Gaussian priors, and weights of rows.

The unknowns are logarithms of constants. Rows of one source on one machine share their error, so a
group of n rows weighs less than n rows; outliers weigh little.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.model.model import Floats

GROUP_POWER = -0.35


@dataclass(frozen=True, kw_only=True)
class Prior:
    """Gaussian prior of each term, shape (terms,)."""

    value: Floats  # expected logarithm
    width: Floats  # standard deviation


def counts(groups: Sequence[str], power: float = GROUP_POWER) -> Floats:
    """Weight of each row by the size of its group, shape (rows,).

    Args:
        groups: group of each row.
        power: each row of a group of n weighs n^power; with -1 all groups weigh the same.
    """
    sizes = Counter(groups)
    return np.array([sizes[group] ** power for group in groups])


def cauchy(residuals: Floats, far: Floats | float, noise: Floats | float) -> Floats:
    """Weight of each row for Cauchy errors (Holland and Welsch 1977, table 1), shape (rows,).

    Args:
        residuals: log(measured / predicted) of each row.
        far: residual at which a row weighs half.
        noise: standard deviation of usual rows; a row without residual weighs 1 / noise^2.
    """
    return np.asarray(1.0 / (1.0 + (residuals / far) ** 2) / noise**2)


def newton(
    prior: Prior, values: Floats, slopes: Floats, weights: Floats, residuals: Floats
) -> Floats:
    """Gauss-Newton step towards the best values, shape (terms,)."""
    gradient = slopes.T @ (weights * residuals) - (values - prior.value) / prior.width**2
    return np.asarray(np.linalg.solve(_curvature(prior, slopes, weights), gradient))


def covariance(prior: Prior, slopes: Floats, weights: Floats) -> Floats:
    """Covariance of the fitted values, shape (terms, terms)."""
    return np.asarray(np.linalg.inv(_curvature(prior, slopes, weights)))


def _curvature(prior: Prior, slopes: Floats, weights: Floats) -> Floats:
    return np.asarray(slopes.T @ (slopes * weights[:, None]) + np.diag(prior.width**-2))


LONGEST = 1.5
"""Largest change of a logarithm when rows are left out, as one step is exact only nearby."""


def without_each(
    prior: Prior,
    values: Floats,
    slopes: Floats,
    weights: Floats,
    residuals: Floats,
    clusters: Sequence[str],
) -> Floats:
    """Values fitted without each row's cluster, shape (rows, terms).

    One Newton step from the best values, where the gradient is zero: without rows c the gradient is
    -S_c' W_c r_c and the curvature H - S_c' W_c S_c, inverted by Woodbury's identity (Cook and
    Weisberg 1982, section 3.2, for rows of a linear fit).

    Args:
        prior: prior of the terms.
        values: best values of the terms, shape (terms,).
        slopes: derivatives of the rows at the best values, shape (rows, terms).
        weights: weights of the rows, shape (rows,).
        residuals: log(measured / predicted) of the rows, shape (rows,).
        clusters: cluster of each row; its rows are left out together.
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
