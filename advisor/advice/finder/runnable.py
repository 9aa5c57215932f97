"""Models that run well on a machine, each in its best format and placement there.

The best format is the one with the smallest loss that lies in memory, leaves other programs room
and writes at ease, at twice reading speed, since much of what a model writes is its thinking; if
no faithful one does, the one that loses least at reading speed; else the fastest in memory; if none
lies there, the smallest, from the drive. Models at ease come first, then those at reading speed,
slower ones, and those that are read from the drive, each ordered by the lower end of score less
loss, the newest of equals first. Before them all stands the fastest of those that the leaderboard
cannot tell from the first, since their margins overlap; after them all older models of a shape
that stands above.
A model without a published score counts with its predecessor's, or with one from a second board
(`joined_scores`), marked; others are listed separately, by speed. A loss is published in nats per
token, scores are points of a leaderboard: what a nat is worth is taken from families in two sizes,
of which the larger has a lower perplexity and a higher score.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from itertools import islice
from typing import TypeAlias

import numpy as np

from advisor.advice.edits.changes import IN_MEMORY, LAST_RESORTS
from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table.stack import Stack
from advisor.advice.table.timed_machines import TimedStack
from advisor.catalog import renewed
from advisor.catalog.csv_tables import DATA, read, texts
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.architecture import ArchitectureSpec
from advisor.model.by_name.hub_list import HubRow, hub_list
from advisor.model.by_name.named import GGUF_OF_NATIVE, USUAL, named, native_format, usual_format
from advisor.model.formats import Format
from advisor.model.model import Floats, Model
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import decode_tps

BY_LOSS = (
    "BF16", "BF16-hf", "Q8_0", "FP8", "Q6_K", "Q5_K_M", "Q5_0", "Q4_K_M", "AWQ", "IQ4_XS", "Q4_0",
    "Q3_K_M", "Q3_K_S",
)  # fmt: skip
"""Weight formats tried for a target, smallest loss first."""
AS_TRAINED = ("MXFP4", "MXFP4-hf", "Q4_0")
"""Formats tried for a target of a model whose experts all files keep as trained: GGUF, safetensors,
and that of the size of MLX's four bits."""


SCORES = "scores"
"""Renewed table of scores (`refresh`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QualityRow:
    """One row of data/models/quality.csv: a score of a leaderboard, and the model's name there."""

    model: str
    score: float
    plus_minus: float
    scale: str
    rated_as: str
    date: str
    retrieved: str
    source: str


@cache
def quality_rows() -> Mapping[str, QualityRow]:
    """Scores by the model's name in the catalogue, highest first; a fetched score replaces an older
    one.
    """
    rows = {row.model: row for row in read(DATA / "models/quality.csv", QualityRow)}
    newer = {
        row.model: row
        for row in renewed.rows(SCORES, QualityRow)
        if row.model not in rows or row.date > rows[row.model].date
    }
    if not newer:
        return rows
    ranked = sorted({**rows, **newer}.values(), key=lambda row: -row.score)
    return {row.model: row for row in ranked}


def predecessors() -> Mapping[str, str]:
    """Predecessor of each model without a score: the earlier model of its family and size."""
    return texts("models/predecessors.csv", "model", "predecessor")


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondScoreRow:
    """One row of data/models/second_scores.csv: Artificial Analysis' indexes of tests."""

    model: str
    index: float  # of intelligence
    coding: float | None  # of coding and terminals; None where it was not tested
    rated_as: str
    date: str
    retrieved: str
    source: str


JOINED = "LMArena text, from Artificial Analysis' index"
"""Scale of a score that the second board gives."""


@cache
def joined_scores() -> Mapping[str, QualityRow]:
    """Scores of models that only the second board rates, on the scale of the first board.

    The conversion is the straight line through the models that both boards rate; the margin is
    twice the scatter about it.
    """
    first = quality_rows()
    second = read(DATA / "models/second_scores.csv", SecondScoreRow)
    both = [(row.index, first[row.model].score) for row in second if row.model in first]
    index, score = np.array(both).T
    line = np.polynomial.Polynomial.fit(index, score, 1)
    scatter = float(np.std(score - line(index)))
    return {
        row.model: QualityRow(
            model=row.model,
            score=round(float(line(row.index))),
            plus_minus=round(2 * scatter),
            scale=JOINED,
            rated_as=row.rated_as,
            date=row.date,
            retrieved=row.retrieved,
            source=row.source,
        )
        for row in second
        if row.model not in first
    }


def rating(name: str) -> QualityRow | None:
    """Published score of a model, of its predecessor, or of the second board, in this order; None
    without one.
    """
    rows = quality_rows()
    return rows.get(name) or rows.get(predecessors().get(name, "")) or joined_scores().get(name)


@cache
def index_of_tests() -> Mapping[str, float]:
    """Indexes of tests, Artificial Analysis', by the model's name."""
    rows = read(DATA / "models/second_scores.csv", SecondScoreRow)
    return {row.model: row.index for row in rows}


def tested(name: str) -> float | None:
    """Index of a model's tests, or of its predecessor's; None without one."""
    return _own_or_predecessors(index_of_tests(), name)


@cache
def coding_indexes() -> Mapping[str, float]:
    """Indexes of coding tests, Artificial Analysis', by the model's name."""
    rows = read(DATA / "models/second_scores.csv", SecondScoreRow)
    return {row.model: row.coding for row in rows if row.coding is not None}


def coding_index(name: str) -> float | None:
    """Index of a model's coding tests, or of its predecessor's; None without one."""
    return _own_or_predecessors(coding_indexes(), name)


def _own_or_predecessors(indexes: Mapping[str, float], name: str) -> float | None:
    own = indexes.get(name)
    if own is None:
        return indexes.get(predecessors().get(name, ""))
    return own


def codes_as_well(name: str, other: str) -> bool:
    """Whether coding tests rate a model as high as another; false where either was not tested, nor
    its predecessor.
    """
    own = coding_index(name)
    others = coding_index(other)
    return own is not None and others is not None and own >= others


def reads_images() -> Mapping[str, str]:
    """Pages that say that a model reads images, by the model's name."""
    return texts("models/vision.csv", "model", "source")


def ranked_models() -> tuple[str, ...]:
    """Names that are ranked: the catalogue's, and the Hub's with a score."""
    scored = (*quality_rows(), *joined_scores())
    return (*catalog.model_rows(), *(name for name in scored if "/" in name))


_model_named = cache(named)
"""Ranked model of a name, which is "owner/name" for one of the Hub's list."""
SIZES = (("Llama-2-7B", "Llama-2-70B"), ("Llama-3-8B", "Llama-3-70B"))
"""Smallest and largest models of families with published perplexities and scores; each family
counts once."""


def perplexity(model: str) -> float:
    """Perplexity of a model in 16 bits."""
    return float(texts("models/perplexity.csv", "model", "perplexity")[model])


@cache
def points_per_nat() -> float:
    """Points of the score for a nat per token, the mean of the families [points/nat].

    (score of the large - score of the small) / ln(perplexity of the small / of the large)
    """
    rows = quality_rows()
    each = [
        (rows[large].score - rows[small].score) / math.log(perplexity(small) / perplexity(large))
        for small, large in SIZES
    ]
    return sum(each) / len(each)


@cache
def points_lost(form: str) -> float | None:
    """Points that a format loses against 16 bits; None where no loss is published [points].

    Formats of serving engines lose as much as the next smaller GGUF format.
    """
    rows = Format.losses()
    if form in BY_LOSS:
        smaller = BY_LOSS[BY_LOSS.index(form) :]
    else:
        smaller = (form,)
    row = next((rows[name] for name in smaller if name in rows), None)
    if row is None:
        return None
    return points_per_nat() * row.kl_divergence


def lost_by(model: Model) -> float | None:
    """Points that a model's format loses; 0 in the format in which its maker publishes it."""
    native = native_format(model.name)
    unchanged = native and model.format in (native, GGUF_OF_NATIVE.get(native))
    if unchanged:
        return 0.0
    return points_lost(model.format)


FORMATS = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "IQ3_XXS", "Q2_K")
"""Formats that are tried, smallest loss first."""
FAITHFUL = tuple(form for form in FORMATS if form not in LAST_RESORTS)
"""Formats in which another model is offered."""
IN_GPU = (PlacementStrategy.GPU_RESIDENT,)
ON_DRIVE = (PlacementStrategy.NVME_OFFLOAD,)
CONTEXTS = (131_072, 65_536, 32_768, 16_384, 8192, 4096)
"""Contexts that are tried, longest first [tokens]."""


Strategies: TypeAlias = Sequence[PlacementStrategy]


class Standing(Enum):
    """Comparison of a model's tests with those of another model whose score is no higher
    (LMArena).
    """

    BOTH = "rated as high by votes and by tests"
    LIKED = "rated as high by people's votes"
    WEAKER = "liked as much, weaker in tests"
    CODES = "rated as high by coding tests"


@dataclass(frozen=True, kw_only=True)
class Runnable:
    """Model that runs on the machine."""

    model: Model  # model in its best format
    runtime: Runtime  # runtime
    speed: Speed  # speed in its best placement
    context: float  # longest of `CONTEXTS` that fits in that placement [tokens]
    quality: QualityRow | None  # published score in 16 bits, or a predecessor's; or None
    lost: float | None  # points that the format loses; None where no loss is published
    reading_tps: float  # speed at which a reader need not wait [tokens/s]
    tight: bool  # other programs must be closed for it
    for_code: bool = False  # it was looked for by coding tests

    def standing_beside(self, name: str) -> "Standing":
        """Comparison by tests with another model whose score is no higher."""
        if self.for_code:
            return Standing.CODES
        own = tested(self.model.name)
        others = tested(name)
        if own is None or others is None:
            return Standing.LIKED
        if own >= others:
            return Standing.BOTH
        return Standing.WEAKER

    @property
    def keeps_up(self) -> bool:
        """Whether the model reaches reading speed."""
        return self.speed.decode >= self.reading_tps

    @property
    def pace(self) -> int:
        """Grade of the speed: 0 at ease, 1 at reading speed, 2 slower."""
        return 2 - self.keeps_up - (self.speed.decode >= AT_EASE * self.reading_tps)

    @property
    def predecessor(self) -> str:
        """Model whose score is used in place of a missing one; empty for a model with a score."""
        if self.quality:
            rated = self.quality.model
        else:
            rated = ""
        if rated == self.model.name:
            return ""
        return rated

    @property
    def joined(self) -> bool:
        """Whether the score comes from the second board."""
        return self.quality is not None and self.quality.scale == JOINED

    @property
    def score(self) -> float | None:
        """Published score less the loss of the format; None without a published score."""
        if self.quality is None:
            return None
        return self.quality.score - (self.lost or 0.0)

    @property
    def least_score(self) -> float:
        """Lower end of the range of the score: its margin, and twice the loss of the format."""
        if self.quality:
            margin = self.quality.plus_minus
        else:
            margin = 0.0
        return (self.score or 0.0) - margin - (LOSS_SPREAD - 1) * (self.lost or 0.0)

    @property
    def most_score(self) -> float:
        """Upper end of the range of the score: its margin, and half the loss of the format."""
        if self.quality:
            margin = self.quality.plus_minus
        else:
            margin = 0.0
        return (self.score or 0.0) + margin + (1 - 1 / LOSS_SPREAD) * (self.lost or 0.0)


@dataclass(frozen=True)
class Trials:
    """Machine, request and runtime with which models are tried."""

    machine: Machine
    work: Workload
    reading_tps: float  # speed at which a reader need not wait [tokens/s]
    runtime: Runtime = LLAMA_CPP

    def runnable(self, names: Iterable[str] = (), *, whole: bool = False) -> list[Runnable]:
        """Models that run on the machine, in the order above: the named ones, or all of the
        catalogue.

        With `whole`, only models that the GPUs hold whole.
        """
        memory, drive = (IN_GPU, ()) if whole else (IN_MEMORY, ON_DRIVE)
        best = (
            self.best(_in_memory(name, self.machine), memory)
            or self.best(list(_formats(name, forms=FORMATS[-1:]))[-1:], drive)
            for name in names or ranked_models()
        )
        rows = sorted(filter(None, best), key=_order)
        lead = _fastest_of_equals(rows)
        others = [row for row in rows if row is not lead]
        return _older_last(rows if lead is None else [lead, *others])

    def highest_rated(self, number: int) -> Iterator[Runnable]:
        """Some of the highest rated models that keep up with reading here in a faithful format, and
        leave other programs room.
        """
        names = (name for name, _ in _rated() if not _outgrows(name, self.machine))
        best = (self.best(_in_memory(name, self.machine, FAITHFUL), IN_MEMORY) for name in names)
        return islice((row for row in best if row and row.keeps_up and not row.tight), number)

    def best(self, forms: Iterable[Model], strategies: Strategies) -> Runnable | None:
        """Best of a model's formats in some placements; None where no format runs."""
        best = None
        tight = None
        forms = iter(forms)
        for trial in filter(None, (self._trial(model, strategies) for model in forms)):
            read = best is not None and decode_tps(best) >= self.reading_tps
            if read and trial.model.format in LAST_RESORTS:
                break
            if trial.tight:
                tight = tight or trial
            elif decode_tps(trial) >= AT_EASE * self.reading_tps:
                best = trial
                break
            elif not read and (best is None or decode_tps(trial) > decode_tps(best)):
                best = trial
        if best is not None and PlacementStrategy.GPU_RESIDENT in strategies:
            best = self._whole(best, forms)
        best = best or tight
        speed = speed_of(best) if best else None
        if best is None or speed is None:
            return None
        return Runnable(
            model=best.model,
            runtime=self.runtime,
            speed=speed,
            context=self._longest(best),
            quality=rating(best.model.name),
            lost=lost_by(best.model),
            reading_tps=self.reading_tps,
            tight=best is tight,
        )

    def _whole(self, best: Estimate, smaller: Iterable[Model]) -> Estimate:
        """Estimate of a smaller format that the GPU holds whole, where its loss is within the
        margin of the score; the given estimate without one.
        """
        row = rating(best.model.name)
        lost = lost_by(best.model)
        if row is None or lost is None or row.scale == JOINED:
            return best
        if best.strategy is PlacementStrategy.GPU_RESIDENT:
            return best
        for model in smaller:
            if (loses := lost_by(model)) is None or loses > lost + row.plus_minus:
                break
            trial = self._trial(model, IN_GPU)
            if trial is not None and not trial.tight:
                return trial
        return best

    def _trial(self, model: Model, strategies: Strategies) -> Estimate | None:
        """Estimate in the first placement that fits, the fastest; None where none does, or where
        prompt and reply are longer than the model was made for.
        """
        most = model.architecture.max_context or math.inf
        if float(self.work.prompt) + float(self.work.output) > most:
            return None
        for strategy in (each for each in self.runtime.strategies if each in strategies):
            if strategy.could_hold(model, self.machine):
                trial = estimate(model, self.machine, self.work, self.runtime, strategy)
                if bool(trial.fits) and trial.decode_tps is not None:
                    return trial
        return None

    def _longest(self, best: Estimate) -> float:
        """Longest context that fits in the same placement, at most the model's own [tokens]."""
        most = best.model.architecture.max_context or CONTEXTS[0]
        nouns = (self.runtime, best.strategy)
        for context in (size for size in CONTEXTS if float(self.work.context) < size <= most):
            work = replace(self.work, context=context)
            if bool(estimate(best.model, self.machine, work, *nouns).fits):
                return float(context)
        return float(min(self.work.context, most))


def _older_last(rows: Iterable[Runnable]) -> list[Runnable]:
    """Rated models, one of each shape first, then further ones of the same shapes, then unrated
    models.
    """
    groups: tuple[list[Runnable], ...] = ([], [], [])
    seen = set()
    for row in rows:
        form = row.model.architecture
        shape = (
            form.layers,
            form.hidden,
            round(form.params / 1e9),
            bool(FOR_CODE.search(row.model.name)),
        )
        groups[2 if row.quality is None else shape in seen].append(row)
        seen.add(shape)
    return [row for group in groups for row in group]


AT_EASE = 2.0  # multiple of reading speed, up to which a smaller faithful format is taken
LOSS_SPREAD = 2.0
"""Loss of a format in another model than the one it is taken from, at most: 0.3 to 1.6 times in
five of 7 to 230 billion parameters, without a trend by size (`data/models/format_loss.csv`)."""
FOR_CODE = re.compile(r"Code|Codestral|Devstral")
"""Words in names of models for coding, which are offered for one of their kind alone."""


BUDGET = 512
"""GPUs of all machines on which other models are tried for a question: each model takes some seven
estimates, and an estimate grows with the GPUs. 64 models on 8 GPUs, two on 256."""


def best_by_tests(
    rows: Iterable[Runnable], index: Callable[[str], float | None] = tested
) -> Runnable | None:
    """Model with the highest index of tests among those that keep up with reading; None where none
    was tested.

    It runs in a faithful format and leaves other programs room.
    """
    usable = (row for row in rows if row.keeps_up and not row.tight)
    faithful = [row for row in usable if row.model.format in FAITHFUL]
    indexed = [(index(row.model.name), row) for row in faithful]
    tests = [(value, row) for value, row in indexed if value is not None]
    return max(tests, key=lambda pair: pair[0], default=(0.0, None))[1]


def models_tried(machine: Machine) -> int:
    """Number of other models that one question tries on a machine."""
    return max(BUDGET // max(len(machine.gpus), 1), 1)


@lru_cache(maxsize=128)
def best_rated(
    model: Model,
    machine: Machine,
    work: Workload,
    enough: float,
    *,
    as_well: bool,
    for_code: bool = False,
) -> Runnable | None:
    """Best rated other model that writes fast enough [tokens/s] and leaves other programs room.

    Models for code count only beside their kind. With `as_well` it is rated at least as the present
    model, format for format, and None where that has no score: within the error of the votes where
    tests rate it as high. Of models that votes rate alike, those that tests do not rate lower come
    first. On very many GPUs only the first models are tried (`models_tried`). For code, it is one
    that coding tests rate as high.
    """
    score = rating(model.published_as)
    if score is None and as_well:
        return None
    if score is not None and as_well:
        least = score.score - (lost_by(model) or 0.0)
    else:
        least = 0.0
    rows: dict[bool, list[Runnable]] = {True: [], False: []}  # by whether tests rate it lower
    trials = Trials(machine, work, enough)
    left = models_tried(machine)
    for name, row in _rated():
        if row.score + _widest_error() < least or not left:
            break
        error = _allowed_error(name, row, model.published_as) if as_well else 0.0
        weaker = as_well and _weaker_in_tests(name, model.published_as)
        highest = max((each.least_score for each in rows[weaker]), default=0)
        if row.score + error < least or row.score + row.plus_minus < highest:
            continue
        kind = _of_another_kind(name, model.published_as, for_code=for_code and as_well)
        if kind or _outgrows(name, machine):
            continue
        left -= 1
        tried = trials.best(_in_memory(name, machine, FAITHFUL), IN_MEMORY)
        if tried and not tried.tight and tried.keeps_up and (tried.score or 0.0) + error >= least:
            rows[weaker].append(tried)
    best = _fastest_of_equals(rows[False]) or _fastest_of_equals(rows[True])
    return replace(best, for_code=True) if best and for_code and as_well else best


def _of_another_kind(name: str, other: str, *, for_code: bool) -> bool:
    """Whether a model is no choice in place of another: the same, one for code beside one for talk,
    or for code one that coding tests do not rate as high.
    """
    return not _replaces(name, other) or (for_code and not codes_as_well(name, other))


def _replaces(name: str, other: str) -> bool:
    """Whether a model may be offered in place of another: one for code beside its kind alone."""
    return name != other and not (FOR_CODE.search(name) and not FOR_CODE.search(other))


def _allowed_error(name: str, row: QualityRow, other: str) -> float:
    """Points of votes by which a model may be below another: their error where tests rate it at
    least as high, none elsewhere.
    """
    own = tested(name)
    others = tested(other)
    as_high = own is not None and others is not None and own >= others
    return row.plus_minus if as_high else 0.0


@cache
def _widest_error() -> float:
    """Largest error of the votes for a model."""
    return max(row.plus_minus for _, row in _rated())


def _weaker_in_tests(name: str, other: str) -> bool:
    """Whether tests rate a model lower than another; false where one of them has no index."""
    own = tested(name)
    others = tested(other)
    return own is not None and others is not None and own < others


def _fastest_of_equals(rows: Iterable[Runnable]) -> Runnable | None:
    """Fastest of the models whose scores do not differ from the first one's; None for no model."""
    rows = sorted(rows, key=_order)
    if not rows or rows[0].score is None:
        if rows:
            return rows[0]
        return None
    alike = (row for row in rows if _order(row)[:3] == _order(rows[0])[:3] and not row.tight)
    near = [row for row in alike if not row.joined and row.most_score >= rows[0].least_score]
    return max(near, key=lambda row: row.speed.decode, default=rows[0])


@cache
def _rated() -> tuple[tuple[str, QualityRow], ...]:
    """Models with a score of their own or a predecessor's, highest and then newest first."""
    names = (*quality_rows(), *predecessors())
    rows = [(name, row) for name in names if (row := rating(name)) is not None]
    return tuple(sorted(rows, key=lambda each: (-each[1].score, _newest_first(each[0]))))


def _in_memory(name: str, machine: Machine, forms: Sequence[str] = FORMATS) -> Iterator[Model]:
    """Formats of a model that are no larger than all memory of a machine."""
    most = _all_memory(machine)
    held = _formats(name, most, forms)
    return (model for model in held if model.bytes_without_table <= most)


def _all_memory(machine: Machine) -> float:
    """Memory of the cards and, apart from unified ones, of the host [B]."""
    if machine.unified:
        return float(machine.gpu_memory)
    return float(machine.host.memory.value) + float(machine.gpu_memory)


FEWEST_BITS = 2.0  # of a weight, in any format that another model is offered in [bit]
IN_LAYERS = 0.5  # share of a model's published weights that its layers hold, at least


def _outgrows(name: str, machine: Machine) -> bool:
    """Whether a model's published size alone says that no format of it fits a machine's memory;
    most of the highest rated are known so without their layers.
    """
    row = _listed(name)
    if isinstance(row, HubRow):
        weights = float(row.parameters)
    elif row is not None:
        weights = 1e9 * (row.published_params_b or 0.0)
    else:
        weights = 0.0
    return IN_LAYERS * weights * FEWEST_BITS / 8 > _all_memory(machine)


def _listed(name: str) -> ArchitectureSpec | HubRow | None:
    """Row of a model's exact name, of the catalogue or the offline list."""
    return catalog.model_rows().get(name) or hub_list().named(name)


def _formats(name: str, most: float = math.inf, forms: Sequence[str] = FORMATS) -> Iterator[Model]:
    """Model in each format, its publisher's first, without those surely above a size [B]; in the
    first alone where the others have the same experts.
    """
    native = usual_format(_model_named(name).native)
    for form in dict.fromkeys((*((native,) if native != USUAL else ()), *forms)):
        with suppress(Refusal):
            architecture = _model_named(name).architecture
            if architecture.expert_type and form != native:
                continue
            bits = int(next(filter(str.isdigit, form)))  # of each weight, at least
            if bits / 8 * _params_of_layers(name) <= most:
                yield catalog.in_format(architecture, form)


@cache
def _params_of_layers(name: str) -> float:
    """Parameters of a model's repeating layers."""
    tensors = _model_named(name).architecture.tensors
    return sum(tensor.params for tensor in tensors if tensor.layer is not None)


def _order(row: Runnable) -> tuple[bool, bool, int, float, str, float]:
    """Sort key: what reads the drive last; of equal scores the newest generation first."""
    drive = row.speed.strategy is PlacementStrategy.NVME_OFFLOAD
    age = _newest_first(row.model.name)
    score = -round(row.least_score)
    return (row.quality is None, drive, row.pace, score, age, -row.speed.decode)


def _newest_first(name: str) -> str:
    """Sort key of a model's release: its date with each digit taken from 9."""
    row = _listed(name)
    released = row.released if row else ""
    return "".join(str(9 - int(sign)) if sign.isdigit() else sign for sign in released) or "0"


def curated_models() -> list[Model]:
    """Models of the catalogue, each in its usual format: by published score, then by size."""
    models = []
    for name in ranked_models():
        with suppress(Refusal):
            model = _model_named(name)
            models.append(catalog.in_format(model.architecture, usual_format(model.native)))
    scores = {name: -row.score for name, row in quality_rows().items()}
    return sorted(models, key=lambda each: (scores.get(each.name, 0.0), -each.architecture.params))


def speeds_of(
    models: Iterable[Model], machines: Sequence[Machine], work: Workload, runtime: Runtime
) -> Floats:
    """Decode speed of each model on each machine, shape (models, machines) [tokens/s].

    It is the first placement that fits; not a number where a model does not run.
    """
    stack = Stack(machines)
    return np.array(
        [TimedStack(stack, model, work, (runtime,)).fastest().decode for model in models]
    )
