"""Fit of serving engines: robust, hierarchical least squares, with predictions of left-out groups.

The logarithm of each constant is a sum of terms with Gaussian priors: one for all cases, and one
for each GPU family, engine or release that it may differ by. Outliers weigh little (Cauchy errors),
and a group of n cases weighs as n^0.65 cases.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor.evidence.fitting.engines.cases import PUBLISHED, SIMULATED, EngineCases
from advisor.evidence.fitting.engines.parameters import ENGINE_PARAMETERS, FIXED, IN_RUNS
from advisor.evidence.fitting.gauss_newton import Prior, cauchy, counts, covariance, newton
from advisor.model.model import Floats

EngineTerm = tuple[str, str, str]
"""Constant, column, and value of the column; the latter two empty for a term of all cases."""
NOISE = {SIMULATED: 0.1, PUBLISHED: 0.05}
"""Standard deviation of usual cases around the model, as a logarithm; a case at twice this distance
weighs half."""
STEP, ROUNDS, DAMPING, ENOUGH, LEFT_OUT_STEPS = 1e-4, 10, 0.9, 0.03, 3
BEARING = 1e-3
"""Smallest derivative of a case's log time by a constant's logarithm at which the case counts as
evidence for the constant."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineProblem:
    """Least-squares problem: terms, the cases they apply to, and their priors."""

    cases: EngineCases
    terms: tuple[EngineTerm, ...]
    applies: npt.NDArray[np.bool_]
    prior: Prior
    weights: Floats

    def constants(self, values: Floats) -> Mapping[str, Floats]:
        """Constants by name, each of shape (cases,)."""
        number = len(self.cases.cases)
        constants: dict[str, Floats] = {
            name: np.full(number, value) for name, value in FIXED.items()
        }
        for name, parameter in ENGINE_PARAMETERS.items():
            mine = [index for index, term in enumerate(self.terms) if term[0] == name]
            value = np.exp(self.applies[:, mine] @ values[mine])
            constants[name] = limited(value, parameter.low, parameter.high)
        simulated = self.cases.columns["evidence"] == SIMULATED
        for name in IN_RUNS:
            constants[name] = np.where(simulated, 0.0, constants[name])
        return constants

    def log_seconds(self, values: Floats) -> Floats:
        """Logarithm of the predicted time, shape (cases,)."""
        return np.log(self.cases.timed(self.constants(values)))

    def slopes(self, values: Floats) -> tuple[Floats, Floats]:
        """Log time and its derivatives by the terms, of shape (cases,) and (cases, terms).

        All terms of a constant share its derivative, each in the cases it applies to.
        """
        here = self.cases.timed(self.constants(values))
        slopes = np.zeros((len(here), len(values)))
        for name in ENGINE_PARAMETERS:
            mine = [index for index, term in enumerate(self.terms) if term[0] == name]
            moved = values.copy()
            moved[next(index for index in mine if not self.terms[index][1])] += STEP
            after = self.cases.changed(self.constants(moved), name, here)
            change = np.log(after / here) / STEP
            for index in mine:
                slopes[:, index] = np.where(self.applies[:, index], change, 0.0)
        return np.log(here), slopes


SHARPNESS = 12


def limited(value: Floats, low: float, high: float) -> Floats:
    """Value limited smoothly to its plausible interval; unchanged well inside it."""
    below: Floats = value * (1.0 + (value / high) ** SHARPNESS) ** (-1.0 / SHARPNESS)
    return np.asarray(np.maximum(below, low))


def problem(cases: EngineCases) -> EngineProblem:
    """Least-squares problem of cases."""
    terms: list[EngineTerm] = []
    columns: list[npt.NDArray[np.bool_]] = []
    widths: list[float] = []
    number = len(cases.cases)
    for name, parameter in ENGINE_PARAMETERS.items():
        terms.append((name, "", ""))
        columns.append(np.ones(number, dtype=bool))
        widths.append(parameter.width)
        for column, width in parameter.factors.items():
            stated = cases.columns[column]
            for value in sorted(set(stated.tolist()) - {""}):
                terms.append((name, column, value))
                columns.append(stated == value)
                widths.append(width)
    starts = [np.log(ENGINE_PARAMETERS[name].start) if not by else 0.0 for name, by, _ in terms]
    noise = np.array([NOISE[case.evidence] for case in cases.cases])
    return EngineProblem(
        cases=cases,
        terms=tuple(terms),
        applies=np.array(columns).T,
        prior=Prior(value=np.array(starts), width=np.array(widths)),
        weights=counts(cases.columns["group"].tolist()) * (NOISE[SIMULATED] / noise) ** 2,
    )


@dataclass(frozen=True, kw_only=True)
class EngineFit:
    """Result of the fit.

    Attributes:
        values: logarithm of each term's best estimate.
        rows: number of cases that are evidence for each term.
        spreads: standard deviation of each term.
        fitted: time of each case by the fit to all cases, shape (cases,) [s].
        predicted: time of each case by the fit without its group, shape (cases,) [s].
    """

    values: Mapping[EngineTerm, float]
    rows: Mapping[EngineTerm, int]
    spreads: Mapping[EngineTerm, float]
    fitted: Floats
    predicted: Floats


def solve(problem: EngineProblem) -> EngineFit:
    """Best values of all terms, and predictions of each group by the fit without it."""
    values, measured = problem.prior.value.copy(), np.log(problem.cases.seconds)
    for _ in range(ROUNDS):
        here, slopes = problem.slopes(values)
        weights = problem.weights * _trust(measured - here)
        change = newton(problem.prior, values, slopes, weights, measured - here)
        values = values + DAMPING * np.clip(change, -0.5, 0.5)
        if np.max(np.abs(change)) < ENOUGH:
            break
    here, slopes = problem.slopes(values)
    weights = problem.weights * _trust(measured - here)
    bearing = np.sum(problem.applies & (np.abs(slopes) > BEARING), axis=0)
    spreads = np.sqrt(np.diag(covariance(problem.prior, slopes, weights)))
    return EngineFit(
        values=dict(zip(problem.terms, values.tolist(), strict=True)),
        rows=dict(zip(problem.terms, bearing.tolist(), strict=True)),
        spreads=dict(zip(problem.terms, spreads.tolist(), strict=True)),
        fitted=np.exp(here),
        predicted=np.exp(_left_out(problem, values, here, slopes)),
    )


def _trust(residuals: Floats) -> Floats:
    return cauchy(residuals, 2 * NOISE[SIMULATED], NOISE[SIMULATED])


def _left_out(problem: EngineProblem, values: Floats, whole: Floats, slopes: Floats) -> Floats:
    """Log time of each case by the fit without its group, shape (cases,).

    Newton steps from the fit to all cases, with its slopes and the remaining residuals.
    """
    measured, groups = np.log(problem.cases.seconds), problem.cases.columns["group"]
    predicted = whole.copy()
    for group in dict.fromkeys(groups.tolist()):
        outside = groups != group
        without = values.copy()
        for _ in range(LEFT_OUT_STEPS):
            residuals = measured - (whole + slopes @ (without - values))
            weights = np.where(outside, problem.weights * _trust(residuals), 0.0)
            step = newton(problem.prior, without, slopes, weights, residuals)
            without = without + np.clip(step, -0.4, 0.4)
        predicted[~outside] = (whole + slopes @ (without - values))[~outside]
    return predicted
