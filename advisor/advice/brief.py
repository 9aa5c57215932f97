"""An answer in short: the judgement, the way out of each kind, and the line that runs the model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from advisor.advice.advise import Answer
from advisor.advice.edits.changes import smaller_format
from advisor.advice.finder.runnable import Runnable
from advisor.advice.first_run import System, first_run, systems
from advisor.advice.judgement import Judgement, judged
from advisor.advice.table import choice as chosen
from advisor.advice.table.option import Option, OptionKind
from advisor.advice.table.turning import of_an_hour
from advisor.advice.words.phrases import name_in_place, plain
from advisor.advice.words.verdict import Advice
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import money
from advisor.model import catalog
from advisor.runtimes.compare import decode_tps, usable
from advisor.units import number, seconds

LEVELS = {
    Judgement.FASTER: "FAST",
    Judgement.KEEPS_UP: "GOOD",
    Judgement.SLOWER: "SLOW",
    Judgement.MINUTES: "MINUTES AN ANSWER",
    Judgement.THINKS: "THINKS FIRST",
    Judgement.DRIVE: "DOES NOT FIT",
    Judgement.UNUSABLE: "NOT USABLE",
    Judgement.NOTHING: "DOES NOT RUN",
}
"""Words of each judgement, in a line."""
OVERLOADED = "CANNOT KEEP UP"  # words where the work of a known amount is more than the time for it
NO_MACHINE = "NO MACHINE YET"  # words where nothing is owned
PLACED = {
    PlacementStrategy.GPU_RESIDENT: "in the GPU",
    PlacementStrategy.CPU_OFFLOAD: "offload to RAM",
    PlacementStrategy.NVME_OFFLOAD: "offload to NVMe",
}
"""Where the weights lie."""
SHARED = {
    PlacementStrategy.GPU_RESIDENT: "in shared memory",
    PlacementStrategy.CPU_OFFLOAD: "in shared memory, the rest on the processor",
    PlacementStrategy.NVME_OFFLOAD: "in shared memory, the rest from the drive",
}
"""The same where processor and GPU have one memory."""
ALIKE = 0.95  # share of the best speed from which a program with a shorter line is named instead
BY_HAND = "#"  # beginning of a line that says what to do before the commands
SHORTEST = "Ollama"  # program whose line is shortest
NOTABLE = 1.15  # factor of speed from which a smaller format is named


@dataclass(frozen=True, kw_only=True)
class BriefWay:
    """Way to improve an answer, as a short record."""

    kind: str  # "free", "buy", "rent" or "api"
    name: str  # model, format, purchase, rented card or provider
    decode: float | None  # its speed [tokens/s]; None where it is not published
    upfront: float | None = None  # paid once [USD]; None for nothing
    monthly: float | None = None  # paid by the month [USD/month]; None for nothing
    note: str = ""  # how long an answer takes then, or when it pays
    command: str = ""  # line that runs it


@dataclass(frozen=True, kw_only=True)
class BriefPlacement:
    """Short record of a placement."""

    placement: PlacementStrategy  # where the weights lie
    decode: float | None  # speed [tokens/s]; None where it does not run
    missing: float  # memory that is short [B]; 0 where it runs
    runtime: str  # name of the runtime; empty where no runtime has the placement
    why: str  # why it is not possible; empty where it is


@dataclass(frozen=True, kw_only=True)
class Brief:
    """Short record of an answer."""

    verdict: str  # its two lines
    level: str  # judgement in a word or two
    keeps_up: bool  # whether what is kept answers all replies in the available hours
    decode: float | None  # speed [tokens/s]; None where nothing runs
    low: float | None  # end of its 80 % range [tokens/s]
    high: float | None  # end of its 80 % range [tokens/s]
    where: str  # placement, runtime and format; why not where nothing runs; empty without a machine
    placements: tuple[BriefPlacement, ...]  # the three placements; empty without a machine
    ways: tuple[BriefWay, ...]  # a way of each kind that has one
    command: str  # line that runs the model; empty where none is known


def brief(answer: Answer) -> Brief:
    """Short record of an answer."""
    advice = answer.advice
    nowhere = answer.nouns.request.nowhere
    best = None if nowhere else advice.best
    spread = best.decode if best is not None else None
    free = None if nowhere else _free(answer)
    where = "" if nowhere else advice.summary.gives
    if best is not None:
        where = _where(best)
    ways = (free, _bought(advice), _online(advice, OptionKind.API))
    return Brief(
        verdict=advice.verdict,
        level=NO_MACHINE if nowhere else _level(advice),
        keeps_up=advice.options[0].keeps_up,
        decode=decode_tps(best) if best is not None else None,
        low=float(spread.low) if spread is not None else None,
        high=float(spread.high) if spread is not None else None,
        where=where,
        placements=() if nowhere else _placements(advice),
        ways=tuple(way for way in ways if way is not None),
        command=run_line(advice.estimates, best) if best is not None else "",
    )


def _placements(advice: Advice) -> tuple[BriefPlacement, ...]:
    """Three placements."""
    return tuple(_placement(advice, each) for each in PlacementStrategy)


def _level(advice: Advice) -> str:
    """Judgement of the speed; of work of a known amount, whether it takes longer than its time."""
    demand = advice.case.demand
    if advice.best is not None and demand.counted and not demand.met_by(advice.options[0]):
        return OVERLOADED
    return LEVELS[advice.summary.judgement]


def _placement(advice: Advice, strategy: PlacementStrategy) -> BriefPlacement:
    """Placement of its fastest runtime."""
    estimate = advice.card(strategy)
    runs = estimate is not None and bool(estimate.fits)
    return BriefPlacement(
        placement=strategy,
        decode=decode_tps(estimate) if estimate is not None and runs else None,
        missing=0.0 if estimate is None or runs else float(estimate.missing),
        runtime=estimate.runtime.name if estimate is not None else "",
        why="" if estimate is not None else advice.why_not(strategy),
    )


def _where(best: Estimate) -> str:
    return f"{_place(best)}, {best.runtime.name} {best.model.format}"


def _place(best: Estimate) -> str:
    if best.machine.unified:
        return SHARED[best.strategy]
    return PLACED[best.strategy]


def run_line(estimates: Iterable[Estimate], best: Estimate) -> str:
    """First line of the shortest commands that run a model, among programs that are about as
    fast; lines that begin with a step by hand have none.
    """
    ready = [each for each in usable(estimates) if each.runtime.name == SHORTEST]
    alike = [each for each in ready if decode_tps(each) >= ALIKE * decode_tps(best)]
    for estimate in (*alike, best):
        lines = first_run(estimate, _usual_system(estimate))
        if lines.run and not lines.run.startswith(BY_HAND):
            return lines.run.splitlines()[0]
    return ""


def _usual_system(estimate: Estimate) -> System:
    return systems(estimate)[-1]


def _free(answer: Answer) -> BriefWay | None:
    """Free decision, other model or free setting, in this order."""
    advice = answer.advice
    decided = advice.decision.option
    if decided is not None and decided.loss is not None and decided.speed is not None:
        return BriefWay(
            kind="free",
            name=plain(decided.name),
            decode=decided.speed.decode,
            note=f"{seconds(decided.answer_seconds)} an answer",
        )
    other = advice.another_model or advice.closest
    if other is not None:
        return _of_model(other)
    free = advice.choice.free
    if free is not None and free.speed is not None:
        return BriefWay(kind="free", name=plain(free.name), decode=free.speed.decode)
    reading = answer.nouns.money.reading_tps
    if judged(advice.options[0].speed, reading).enough:
        return None
    edit = smaller_format(advice.what_ifs, reading, NOTABLE)
    if edit is None:
        return None
    return BriefWay(kind="free", name=edit.words, decode=edit.speed.decode)


def _of_model(row: Runnable) -> BriefWay:
    name = catalog.Download.of_ollama(row.model)
    return BriefWay(
        kind="free",
        name=row.model.name.rpartition("/")[2],
        decode=row.speed.decode,
        command=f"ollama run {name}" if name else "",
    )


def _bought(advice: Advice) -> BriefWay | None:
    """Purchase in question, as a short record; None where nothing is worth comparing."""
    option = advice.in_question
    if advice.question.ownership.nothing:
        option = advice.choice.safe
    close = advice.decision.close
    settled = advice.choice.safe is None and advice.summary.judgement.enough and not close
    if settled or option is None or option.speed is None or option.kind not in chosen.BOUGHT:
        return None
    sold = "yours sold" if option.sold else ""
    pays = _pays(advice.as_judged(option), advice.beside_free(option).worth_from)
    return BriefWay(
        kind="buy",
        name=name_in_place(option),
        decode=option.speed.decode,
        upfront=option.upfront,
        monthly=option.monthly,
        note=", ".join(filter(None, (sold, pays))),
    )


def _pays(option: Option, worth: float | None) -> str:
    """When a purchase pays, by the worth of an hour from which it does beside what is free."""
    if option.pays is False and worth is None:
        return "does not pay"
    if not worth:
        if option.pays:
            return "pays"
        return ""
    return f"pays above {of_an_hour(worth)} an hour"


def _online(advice: Advice, kind: OptionKind) -> BriefWay | None:
    """Cheapest option by the month, of rents or of APIs."""
    able = [each for each in advice.options[1:] if each.kind is kind and each.monthly is not None]
    if not able:
        return None
    option = min(able, key=lambda each: each.monthly or 0.0)
    return BriefWay(
        kind=kind.value,
        name=option.name.partition(":")[0],
        decode=option.speed.decode if option.speed else None,
        monthly=option.monthly,
    )


# Lines of a terminal.

KINDS = ("free", "buy", "rent", "api")  # kinds of ways, in the order of their lines
BUY_NOTHING = "buy   nothing: {}"
COMMAND = "run   "  # beginning of the line with the command


def is_typed(line: str) -> bool:
    """Whether a line ends with a command, which is useless where it is cut."""
    return line.startswith(COMMAND) or "  ollama run " in line


def lines(short: Brief, reason: str = "") -> Iterator[str]:
    """Lines for a terminal: judgement, ways and command; `reason` says why nothing is bought."""
    if short.decode is None or short.low is None or short.high is None:
        yield f"{short.level}  {short.where}".rstrip()
    else:
        speed = f"{number(short.decode)} tokens/s ({number(short.low)}-{number(short.high)})"
        yield f"{short.level}  {speed}  {short.where}"
    told = {way.kind: f"{way.kind:<6}{_told(way)}" for way in short.ways}
    if reason:
        told.setdefault("buy", BUY_NOTHING.format(reason))
    yield from (told[kind] for kind in KINDS if kind in told)
    if short.command:
        yield f"{COMMAND}{short.command}"


def _told(way: BriefWay) -> str:
    speed = f"{number(way.decode)} tokens/s" if way.decode else "speed not published"
    if way.kind == "free":
        return "  ".join(filter(None, (way.name, speed, way.note, way.command)))
    if way.kind == "buy":
        price = f"{money(way.upfront or 0.0)} {way.name}"
        return f"{speed}  {price}{f': {way.note}' if way.note else ''}"
    return f"{speed}  {money(way.monthly or 0.0)} a month  {way.name}"
