"""Uncertainty of a predicted time: its 80 % interval.

Machines of the same name differ by driver, build, power limit, cooling and other load, which no
datasheet states. The width of the range is fitted to sources that were left out of the prediction
(`python -m lab`), its level to the publishers that lab/publishers.csv sets apart for it. A range is
wider for runs with less evidence; too fast and too slow are treated alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from advisor.catalog.constants import Constants, names_of
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import OF_CARD, ON_GPU, FixedTime, StepTime
from advisor.machine import backends
from advisor.machine.machine import Machine
from advisor.model.architecture import OPERATORS
from advisor.model.model import Floats
from advisor.units import Array, Provenance, Quantity

Shares = Sequence[tuple[str, Array]]  # parts of a time with their shares of it
SPLIT, THIN, SEVERAL, TOGETHER, UNKNOWN, OPERATOR, NEW, SERVED, SHORT = TRAITS = (
    "split",
    "thin",
    "several",
    "together",
    "unknown backend",
    "operator",
    "new",
    "served",
    "short",
)
"""Traits of a run: layers divided between processors, a GPU family with few sources, several GPUs,
several users, an unknown backend, a kind of layer that few timed on the backend, kinds of layers
that few timed together on any, a prompt that a server reads rather than a bench, and a short one.
Routed experts and a deep context widen no range: errors there are not larger than those of the
parts that they take."""
OF_GPUS = (THIN, SEVERAL, UNKNOWN)


@dataclass(frozen=True, kw_only=True)
class Range:
    """Value with its 80 % interval."""

    value: Array  # predicted value
    low: Array  # lower end
    high: Array  # upper end

    def times(self, factor: Array) -> "Range":
        """Range multiplied by a factor."""
        return Range(value=self.value * factor, low=self.low * factor, high=self.high * factor)

    @property
    def inverse(self) -> "Range":
        """Range of the reciprocal."""
        return Range(value=1 / self.value, low=1 / self.high, high=1 / self.low)

    def fields(self, name: str) -> dict[str, float]:
        """Value and ends of a range of numbers as `name`, `name_low`, `name_high`, in its unit."""
        ends = {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}
        return {key: float(end) for key, end in ends.items()}


@dataclass(frozen=True, kw_only=True)
class Margins:
    """Distances from a predicted speed to the ends of its range, as logarithms of factors."""

    IN_DECODE: ClassVar = "spread"  # constant with the half widths of a token, by part of its time
    IN_PROMPT: ClassVar = "spread_prompt"  # the same of a prompt

    below: Array  # distance on the slow side
    above: Array  # distance on the fast side

    def around(self, rate: Array) -> Range:
        """Range around a predicted speed."""
        return Range(value=rate, low=rate * np.exp(-self.below), high=rate * np.exp(self.above))

    def times(self, factor: Array) -> "Margins":
        """Margins multiplied by a factor."""
        return Margins(below=self.below * factor, above=self.above * factor)

    def informed(self, information: Array) -> "Margins":
        """Margins with further information, which adds to 1 / margin^2."""
        below, above = (
            side / np.sqrt(1.0 + information * np.square(side)) for side in (self.below, self.above)
        )
        return Margins(below=below, above=above)

    def wider(self, by: Array) -> "Margins":
        """Margins with an additional, independent uncertainty; squares add."""
        if np.ndim(by) == 0 and by == 0:
            return self
        return Margins(below=np.hypot(self.below, by), above=np.hypot(self.above, by))


BY_TRAIT = {Margins.IN_DECODE: "spread_by", Margins.IN_PROMPT: "spread_prompt_by"}
"""Constants with the factors on the half width, by trait of a run."""


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """Properties of a run that widen its range."""

    on_gpu: bool  # GPUs take part, so that the fixed costs are theirs
    traits: Mapping[str, Array]  # degree of each of `TRAITS`, 0 to 1, but for `SPLIT`
    unmeasured: Mapping[str, Array]  # 1 for each part of the time with an unmeasured rate, else 0


def circumstances(
    machine: Machine,
    constants: Constants,
    *,
    users: Array,
    kinds: frozenset[str] = frozenset(),
    fresh: Array = np.inf,
    served: bool = False,
) -> Circumstances:
    """Properties of a run that widen its range, by the constants in its scope.

    `kinds` are the kinds of the model's layers (`architecture.OPERATORS`).

    Where the prompt's time is asked, its length is `fresh` [tokens], and a server may read it.
    """
    rates = _rates_behind(machine)
    gpu = bool(machine.gpus)
    unknown = gpu and constants.scope.backend == backends.Backend.UNKNOWN
    thin: Array = 0.0
    if gpu:
        thin = _few_sources(machine, constants)
    operator: Array = 1.0
    if not (unknown and kinds):
        operator = rarity(_publishers(kinds, constants))
    new: Array = 0.0
    if kinds:
        new = rarity(constants.value(PUBLISHERS, joined_name(kinds)))
    traits: dict[str, Array] = {
        THIN: thin,
        SEVERAL: np.asarray(machine.gpu_count > 1, dtype=float),
        TOGETHER: np.asarray(np.asarray(users) > 1, dtype=float),
        UNKNOWN: float(unknown),
        OPERATOR: operator,
        NEW: new,
        SERVED: float(served),
        SHORT: shortness(fresh),
    }
    unmeasured: dict[str, Array] = {part: float(not _is_known(rates.get(part))) for part in BEHIND}
    return Circumstances(on_gpu=gpu, traits=traits, unmeasured=unmeasured)


PUBLISHERS = "publishers"
"""Constant with the number of publishers who timed a kind of layer on a backend, by kind, or kinds
together on any backend, by their joined name."""


def joined_name(kinds: frozenset[str]) -> str:
    """Name of all kinds of a model's layers, under which whole architectures are counted."""
    return " + ".join(kind for kind in OPERATORS if kind in kinds)


def rarity(publishers: Array) -> Floats:
    """Degree to which hardware or layers are unmeasured: 1 / (1 + publishers), 1 without any
    publisher.
    """
    return np.asarray(1.0 / (1.0 + np.asarray(publishers, dtype=float)))


def _publishers(kinds: frozenset[str], constants: Constants) -> Array:
    """Number of publishers who timed the least measured kind of a model's layers on the backend."""
    counts = [np.asarray(constants.value(PUBLISHERS, kind)) for kind in sorted(kinds)]
    return np.min(np.broadcast_arrays(*counts), axis=0) if counts else np.inf


def unmeasured_kinds(kinds: frozenset[str], constants: Constants) -> tuple[str, ...]:
    """Kinds of a model's layers that fewer than `ENOUGH` publishers timed on the backend."""
    return tuple(
        kind
        for kind in OPERATORS
        if kind in kinds and np.any(np.asarray(constants.value(PUBLISHERS, kind)) < ENOUGH)
    )


ENOUGH = 2
"""Number of sources from which a GPU family's constants are as certain as other families'."""
BEHIND = (Route.IN_PLACE, Route.STREAMED, Route.PAGED, Route.STAGED)
"""Parts of the time that depend on a rate of the individual machine."""
STARTS = (FixedTime.LAYERS, FixedTime.TOKEN)
"""Fixed costs of a GPU's own work: starting kernels and waiting for them."""
FIXED = (*STARTS, FixedTime.CROSSINGS)
"""Fixed costs: of the GPU where there is one, else of the processor."""


SHORTEST = 100.0
SHORTER = 300.0
"""Longest prompt that is short to the degree 1, and the further tokens down to a degree of 0: what
a server does beside reading takes as long as some hundred tokens [tokens]."""


def shortness(fresh: Array) -> Array:
    """Degree to which a prompt is short, 0 to 1."""
    longer = (np.asarray(fresh, dtype=float) - SHORTEST) / SHORTER
    return 1.0 - np.clip(longer, 0.0, 1.0)


def _few_sources(machine: Machine, constants: Constants) -> Array:
    """Rarity of the GPUs' families in the evidence; of several families, that of the rarest."""
    families = sorted({gpu.lookup_family for gpu in machine.gpus}, key=names_of)
    rarities = [rarity(constants.value("sources", family)) for family in families]
    return np.max(np.broadcast_arrays(*rarities), axis=0) if len(rarities) > 1 else rarities[0]


def margins(
    time: StepTime, circumstances: Circumstances, constants: Constants, constant: str
) -> Margins:
    """Distances from the speed of a predicted time to the ends of its range, by `Margins.IN_DECODE`
    or `Margins.IN_PROMPT`.

    Errors to either side are treated alike: below = above = `half_width`.
    """
    half = half_width(_shares(time, circumstances), circumstances, constants, constant)
    return Margins(below=half, above=half)


def half_width(
    shares: Shares, circumstances: Circumstances, constants: Constants, constant: str
) -> Array:
    """Half width of the 80 % interval of a time, as the logarithm of a factor.

    w = sum over parts of share hypot(w_part, u_part), widened by traits (`widened`), and where few
    publishers timed the engine (`of_few`)

    The errors of all parts are assumed to be correlated, so their spreads add by share of time; u
    is added in a token's time for parts whose rate was not measured. Traits of `OF_GPUS` count by
    the GPUs' share of the time.
    """
    total: Array = 0.0
    for name, share in shares:
        width: Array = constants.value(constant, name)
        if constant == Margins.IN_DECODE and name in circumstances.unmeasured:
            behind = constants.value("spread_unmeasured", name)
            width = np.hypot(width, behind * circumstances.unmeasured[name])
        total = total + share * width
    traits = degrees(circumstances.traits, _gpu_share(shares))
    factors = {trait: constants.value(BY_TRAIT[constant], trait) for trait in traits}
    return widened(total, factors, traits) * of_few(constants.value("engine_publishers"))


NORMAL = 1.2816  # 90 % point of a normal distribution, between which and its negative lie 80 %
FEWEST = 3  # fewest publishers from whose differences a width is told


def of_few(publishers: Array) -> Floats:
    """Factor on a half width, where few publishers set its level.

    t(0.9, n - 1) / z sqrt(1 + 1 / n), n publishers

    The next publisher differs from the mean of n others, whose own spread is not known well
    (Student's prediction interval); t by Cornish's and Fisher's expansion (1937). Three publishers
    widen a range 1.7 times, ten 1.13 times.
    """
    count = np.maximum(np.asarray(publishers, dtype=float), FEWEST)
    z = NORMAL
    free = count - 1.0
    first = (z**3 + z) / (4.0 * free)
    second = (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / (96.0 * free**2)
    third = (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / (384.0 * free**3)
    return np.asarray((z + first + second + third) / z * np.sqrt(1.0 + 1.0 / count))


TOLD = 6.0  # publishers of an engine from which nothing is said of their number


def few_note(engine: str, constants: Constants) -> str:
    """Sentence on an engine that few publishers timed; empty for others."""
    count = float(np.max(np.asarray(constants.value("engine_publishers"))))
    if count >= TOLD:
        return ""
    if count <= 1:
        who = "One publisher"
    else:
        who = f"{count:.0f} publishers"
    return f"{who} timed {engine}: the range is wide, as a next one may differ from so few."


def degrees(traits: Mapping[str, Array], gpu: Array) -> Mapping[str, Array]:
    """Degree of every trait, `SPLIT` included, 0 to 1.

    Traits of `OF_GPUS` count by the GPUs' share of the time.
    """
    return {
        trait: reached * (gpu if trait in OF_GPUS else 1.0)
        for trait, reached in {**traits, SPLIT: divided(gpu)}.items()
    }


def widened(half: Array, factors: Mapping[str, Array], traits: Mapping[str, Array]) -> Array:
    """Half width with the uncertainties that traits add by their degrees.

    The uncertainties are independent, so squares add.

    w sqrt(1 + sum over traits of degree (factor^2 - 1)), where a factor is the whole widening of a
    run with that trait alone
    """
    added = [reached * (factors[trait] ** 2 - 1.0) for trait, reached in traits.items()]
    return half * np.sqrt(1.0 + sum(added, start=np.zeros(())))


def on_gpu(time: StepTime, circumstances: Circumstances) -> Array:
    """Share of a time for GPUs and their link."""
    return _gpu_share(_shares(time, circumstances))


def of_cards(time: StepTime, circumstances: Circumstances) -> Array:
    """Share of a time for the work of the cards themselves."""
    return _share_of(OF_CARD, _shares(time, circumstances))


def of_starts(time: StepTime, circumstances: Circumstances) -> Array:
    """Share of a time for starting the kernels of a GPU."""
    return _share_of(STARTS, _shares(time, circumstances))


def _gpu_share(shares: Shares) -> Array:
    return _share_of(ON_GPU, shares)


def _share_of(parts: Sequence[str], shares: Shares) -> Array:
    return sum((share for name, share in shares if name in parts), start=np.zeros(()))


def divided(share: Array) -> Array:
    """Degree to which a run is divided between processors: 1 where each takes half of the time."""
    return np.asarray(4.0 * np.asarray(share) * (1.0 - np.asarray(share)))


def _shares(time: StepTime, circumstances: Circumstances) -> Shares:
    return list(shares_by_part(time, on_gpu=circumstances.on_gpu).items())


def shares_by_part(time: StepTime, *, on_gpu: bool) -> Mapping[str, Array]:
    """Shares of a time by its parts; without a GPU, fixed costs count for the processor."""
    shares: dict[str, Array] = {}
    for name, seconds in time.parts.items():
        part = str(Route.IN_PLACE if name in FIXED and not on_gpu else name)
        shares[part] = shares.get(part, 0.0) + seconds / time.total
    return shares


def _rates_behind(machine: Machine) -> Mapping[Route, Quantity]:
    """Rates of the individual machine, by the part of the time that depends on each [B/s]."""
    rates = {Route.IN_PLACE: machine.host.bandwidth}
    if machine.gpus:
        rates[Route.STREAMED] = machine.gpus[0].link.pinned
    if machine.disk:
        rates[Route.PAGED] = machine.disk.for_pages
        rates[Route.STAGED] = machine.disk.sequential
    return rates


def _is_known(rate: Quantity | None) -> bool:
    """Whether a rate of the machine was measured or given, or there is none."""
    return rate is None or rate.kind in (Provenance.MEASURED, Provenance.GIVEN)
