"""Command `find`: machines that reach a target speed, or models that run well on a machine.

`here`, which also runs without any command, shows the models that run well on this machine or on a
named one, and what to type next.

`here`, which also runs without any command, shows the models that run well on this machine, or on
the one that is named, and what to type next.
"""

import argparse
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from advisor.advice.advise import Answer, buys_of, findings_of
from advisor.advice.advise import answer as answer_of
from advisor.advice.finder.combinations import on_cluster, on_cores
from advisor.advice.finder.runnable import Runnable, Trials, quality_rows
from advisor.advice.finder.search import Findings, Hit
from advisor.advice.known import sentences
from advisor.advice.prices.rows import no_price
from advisor.advice.table.buys import placed
from advisor.advice.table.choice import BOUGHT
from advisor.advice.table.option import ELSEWHERE, FELT, Option, OptionKind
from advisor.advice.words.phrases import plain
from advisor.catalog.inputs import INPUTS
from advisor.catalog.records import as_record, like
from advisor.cli.command import Json, program, remark, show, tell
from advisor.cost_model.estimate import estimate
from advisor.errors import InputError
from advisor.formatting import aligned, context_size, money
from advisor.machine.machine import Machine
from advisor.request.request import Nouns, Request
from advisor.runtimes import LLAMA_CPP
from advisor.units import Provenance, memory, number


def run(args: argparse.Namespace) -> None:
    """Run `find`."""
    request = args.request
    if not request.model:
        _models(args, request)
        return
    if args.scheduler:
        compute = on_cluster(args.scheduler)
    else:
        compute = on_cores
    nouns = request.nouns()
    if not request.nothing:
        tell(nouns.notes)
    remark(args, sentences(nouns.known, None))
    findings = findings_of(nouns, compute)
    ownership = findings.question.ownership
    present = findings.question.machine
    if ownership.owned and ownership.takes_cards and not present.unified:
        remark(
            args,
            [f"Cards go into your machine, {present.name}; with --own nothing into a new desktop."],
        )
    answer = []
    if args.json:
        answer = _records(nouns, findings)
    show(args, answer, lambda: _buys_and_machines(nouns, findings))


def _records(nouns: Nouns, findings: Findings) -> list[Json]:
    """Records of all machines and APIs, then of what to buy by the rules of advice."""
    model = nouns.model.name
    given: Json = {
        "model": model,
        "taken_as": nouns.resolved.taken_as or None,
        "named": None,
        **_quality(model),
    }
    free = [findings.free] if findings.free else []
    hits = (*findings.hits, *free, *findings.in_tiers)
    records = [as_record("hit", hit, **given) for hit in hits]
    records += [as_record("hit", api, machine=api.name, **given, **OF_API) for api in findings.apis]
    if nouns.request.nothing:
        return records
    for name, hit in _named(answer_of(nouns)):
        told = {**given, "named": name.casefold(), "machine": plain(hit.name)}
        records.append(as_record("hit", hit, **told))
    return records


def _named(answered: Answer) -> Iterator[tuple[str, Hit]]:
    """Safe choice, where it is bought, the best buy, the cheapest and the fastest, as machines
    with them.
    """
    safe = answered.advice.choice.safe
    rows = [("Safe choice", safe)] if safe is not None and safe.kind in BOUGHT else []
    for name, option in (*rows, *buys_of(answered).named):
        if option.speed is not None and option.machine is not None:
            yield name, like(Hit, option, speed=option.speed, machine=option.machine, machines=1)


def _buys_and_machines(nouns: Nouns, findings: Findings) -> str:
    """Text on what to buy by the rules of advice, then on the machines.

    Without a stated speed, the machines are those that reach reading speed and are faster than the
    present one.
    """
    lines: list[str] = []
    least = 0.0
    if not nouns.request.nothing:
        answered = answer_of(nouns)
        lines += _budgeted(answered)
        least = FELT * answered.advice.options[0].decode
    if nouns.request.min_tps:
        least = 0.0
    elif any(hit.decode >= nouns.money.reading_tps for hit in findings.best):
        least = max(least, nouns.money.reading_tps)
    return "\n".join([*lines, machine_text(findings, least)])


def _budgeted(answered: Answer) -> Iterator[str]:
    """Lines on the present machine, the safe choice, the best buy, the cheapest and the fastest."""
    kept = answered.advice.options[0]
    have = number(kept.decode) if kept.speed else "nothing"
    yield f"For {answered.nouns.model.title} you have {have} tokens a second."
    choice = answered.advice.choice
    if choice.safe is None:
        yield f"The safe choice is to buy nothing. {choice.reason}"
    else:
        usd = choice.safe.upfront
        cost = money(usd) if usd else "free"
        if choice.safe.kind in ELSEWHERE:
            cost = f"{money(choice.safe.monthly or 0.0)} a month"
        yield f"The safe choice: {plain(choice.safe.name)}, {cost}. {choice.reason}"
    named = buys_of(answered).named
    yield from aligned(_buy_cells(*row) for row in named)
    if not named:
        yield "Nothing within the budget is notably faster at a price of this half-year."
    yield ""


def _buy_cells(name: str, option: Option) -> tuple[str, ...]:
    """Cells of a purchase that is named."""
    speed = f"{number(option.decode)} tokens/s"
    return name, plain(option.name), placed(option), speed, money(option.upfront or 0.0)


OF_API = {
    **dict.fromkeys(("format", "runtime", "placement", "kv_type")),
    "offer": "api",
    "count": 0,
    "machines": 0,
}
"""Values of a provider's record; it tells neither format nor runtime."""


def _quality(model: str) -> Json:
    row = quality_rows().get(model)
    if row is None:
        return {"quality": None, "quality_source": None}
    return {"quality": row.score, "quality_source": f"{row.scale}, {row.date}, {row.source}"}


OF_A_MODEL = ("format", "min_tps", "max_usd_per_month", "max_usd", "contexts", "cards_owned")
"""Inputs that mean nothing without a model."""


def _models(args: argparse.Namespace, request: Request) -> None:
    refused = [INPUTS[name].option for name in OF_A_MODEL if name in request.stated()]
    for option in (*refused, *(["--scheduler"] if args.scheduler else ())):
        raise InputError(
            f"{option} is for finding machines; say for what with --model NAME. Without a model, "
            "those that run well on a machine are found, each in its best format."
        )
    nouns = request.nouns()
    tell(nouns.notes)
    reading = nouns.money.reading_tps
    engine = nouns.runtime or LLAMA_CPP
    models = Trials(nouns.machine, nouns.work, reading, engine).runnable()
    remark(args, (*_of_known(nouns, models), *_of_a_day(nouns, models)))
    answer = [runnable_answer(model, nouns) for model in models]
    show(args, answer, lambda: model_text(models, reading))


def _of_known(nouns: Nouns, models: Sequence[Runnable]) -> Iterable[str]:
    """Lines on the effect of known speeds on the first model, and on likely faults among them."""
    if not nouns.known:
        return
    first = None
    if models:
        best = models[0]
        first = estimate(best.model, nouns.machine, nouns.work, best.runtime, best.speed.strategy)
        yield f"What known speeds change is told of the first, {best.model.name}."
    yield from sentences(nouns.known, first)


def _of_a_day(nouns: Nouns, models: Sequence[Runnable]) -> Iterable[str]:
    """Sentence on the number of models that can write a stated number of replies a day, one after
    another.
    """
    if "replies_per_day" not in nouns.request.stated() or not nouns.money.replies_per_day:
        return
    seconds = 3600 * nouns.money.hours_there / nouns.money.replies_per_day
    output = float(nouns.work.output)
    able = sum(row.speed.first_token + output / row.speed.decode <= seconds for row in models)
    yield (
        f"{able} of {len(models)} models can keep up with {number(nouns.money.replies_per_day)} "
        "answers a day, one after another and without thinking."
    )


def runnable_answer(runnable: Runnable, nouns: Nouns) -> Json:
    """JSON record of a model that runs on the machine."""
    machine = nouns.machine
    work = nouns.work
    return as_record(
        "runnable",
        runnable,
        machine=machine.name,
        count=len(machine.gpus),
        users=float(work.users),
        kv_type=work.kv_type,
        monthly_usd=None,
        upfront_usd=None,
        **_quality(runnable.model.name),
    )


TEXT_LINES = 40
UNSCORED_LINES = 12
"""Most lines in the text output, and most models without a score; `--json` has all."""
OFFERED_LINES = 12  # most lines of each way to have a machine


def machine_text(findings: Findings, least: float = 0.0) -> str:
    """Text on the best combination of each machine of at least a speed [tokens/s], the cheapest
    month first.

    Purchases, several machines of a kind, rents and APIs have lines of their own.
    """
    best = [hit for hit in findings.best if hit.decode >= least]
    odd = {id(hit): findings.oddities(hit) for hit in best}
    single = [hit for hit in best if hit.machines == 1]
    bought = [hit for hit in single if hit.kind is not OptionKind.RENT]
    ways: dict[str, list[Hit]] = {
        "To buy, as many run it": [hit for hit in bought if not odd[id(hit)]],
        "To buy, odd": [hit for hit in bought if odd[id(hit)]],
        "Several machines": [hit for hit in best if hit.machines > 1],
        "To rent": [hit for hit in single if hit.kind is OptionKind.RENT],
    }
    told = findings.overload if best else _nothing(findings)
    lines = [told, ""] if told else []
    if findings.free:
        lines = [f"{_free_words(findings.free)}", "", *lines]
    if findings.in_tiers:
        rows = (_machine_cells(hit, [hit.price.note]) for hit in findings.in_tiers)
        title = "Cheaper, in an engine with experts in tiers"
        if not findings.request.min_tps:
            title = (
                f"Cheaper at {number(findings.least_in_tiers)} tokens/s (reading), experts in tiers"
            )
        titles = (title, *OF_A_MACHINE)
        lines = [*aligned([titles, *rows], right=(1, 5)), "", *lines]
    for title, hits in ways.items():
        if hits:
            hits.sort(key=lambda hit: not hit.keeps_up)
            rows = (_machine_cells(hit, odd[id(hit)]) for hit in hits[:OFFERED_LINES])
            left = len(hits) - OFFERED_LINES
            if left > 0:
                more = [f"{left:,} more machines."]
            else:
                more = []
            lines += [*aligned([(title, *OF_A_MACHINE), *rows], right=(1, 5)), *more, ""]
    if findings.apis:
        lines += ["By API", *aligned(map(_api_cells, findings.apis[:OFFERED_LINES])), ""]
    return "\n".join([*lines, "--json prints all."] if best else lines).strip()


def _free_words(hit: Hit) -> str:
    """Engine that runs the model on the machine that one has, and what it asks."""
    asks = hit.price.note.removeprefix("free, ")
    return f"Free, on what you have: {hit.name}, {hit.speed.words}; {asks}."


OF_A_MACHINE = ("context", "runtime", "format", "placement", "speed", "a month, at once")
"""Headings of a machine's line, after its name."""


def _api_cells(option: Option) -> tuple[str, ...]:
    if option.speed:
        reached = option.speed.words
    else:
        reached = ""
    return option.name, reached, f"{money(option.monthly or 0.0)}, {option.price.note}"


def _nothing(findings: Findings) -> str:
    if findings.rows.costed:
        return "Nothing reaches this target; lower the speed or raise the budget."
    return (
        "No machine within the budget holds the model in this runtime, format and context; leave "
        "out --runtime, --quant or --kv-type, shorten the context or raise the budget."
    )


def _machine_cells(hit: Hit, odd: Sequence[str]) -> tuple[str, ...]:
    cost = no_price(hit.bought[0].name)
    if hit.monthly is not None:
        cost = f"{money(hit.monthly)}, {money(hit.upfront or 0.0)}{hit.aged}"
    return (
        hit.title if hit.machines == 1 else f"{hit.title}, {hit.offer}",
        context_size(float(hit.use.work.context)),
        hit.speed.runtime,
        hit.speed.format,
        hit.speed.strategy.value,
        hit.speed.words,
        "  ".join(filter(None, (cost, *_work_of(hit), hit.speed.arrangement, *odd[:1]))),
    )


def _work_of(hit: Hit) -> Iterator[str]:
    """Work of a machine that cannot keep up, in words."""
    if not hit.keeps_up:
        yield f"cannot keep up: {number(hit.busy_share)} hours of work an hour"


def model_text(models: Sequence[Runnable], reading_tps: float) -> str:
    """Text on models in their order; those faster than `reading_tps` keep up with a reader
    [tokens/s].
    """
    if not models:
        return "None of the models on record runs on this machine."
    scored = [model for model in models if model.quality]
    unscored = [model for model in models if not model.quality]
    if scored:
        lines = [*_model_table(scored, TEXT_LINES), _order(scored, reading_tps)]
    else:
        lines = []
    if unscored:
        lines += ["", "Without a published score, the fastest first:"]
        lines += _model_table(unscored, UNSCORED_LINES)
    return "\n".join(lines)


def _model_table(models: Sequence[Runnable], most: int) -> list[str]:
    head = ("model", "score", "format", "placement", "speed", "context")
    if len(models) > most:
        more = [f"{len(models) - most} more; --json prints all."]
    else:
        more = []
    return [*aligned([head, *map(_model_cells, models[:most])], right=(1, 4, 5)), *more]


def _order(models: Iterable[Runnable], reading_tps: float) -> str:
    """Order of models with a score, with the sources of the scores."""
    rated = {model.quality for model in models if model.quality}
    sources = sorted({f"{row.scale} of {row.date} ({row.source})" for row in rated})
    return (
        f"Models that write {number(reading_tps)} tokens/s and more (--reading-tps) come first, "
        "at twice that before the others, then slower ones, each by the lower end of the score, "
        "and last older models of a shape; in the format that loses least among those fast "
        "enough, or a smaller one that the GPU holds whole within the score's margin. The "
        "context is the longest that fits so. Scores are published ones of the 16-bit "
        "models, less what the format loses (in brackets: its divergence as published for "
        "Llama-3-8B; * its predecessor's or a second board's): "
        f"{'; '.join(sources)}."
    )


def _model_cells(runnable: Runnable) -> tuple[str, ...]:
    model = runnable.model
    speed = runnable.speed
    return (
        model.name,
        _score(runnable),
        model.format,
        speed.strategy.value,
        speed.words,
        context_size(runnable.context),
    )


def _score(runnable: Runnable) -> str:
    """Score less the format's loss in brackets, "?" where none is published; a star marks one of a
    predecessor or of the second board.
    """
    if runnable.score is None:
        return "none"
    if runnable.predecessor or runnable.joined:
        star = "*"
    else:
        star = ""
    lost = " (?)"
    if runnable.lost is not None:
        if runnable.lost >= HALF:
            lost = f" (-{runnable.lost:.0f})"
        else:
            lost = ""
    return f"{runnable.score:.0f}{star}{lost}"


HALF = 0.5  # loss below which a score is written as published [points]


FIRST = 5  # number of models that are named


THIS = "this"  # machine that the program runs on


def here(args: argparse.Namespace) -> None:
    """Run `here`."""
    named = THIS
    if args.machine is not None:
        named = args.machine
    nouns = Request(machine=named).nouns()
    if named != THIS:
        tell(nouns.notes)
    reading = nouns.money.reading_tps
    models = Trials(nouns.machine, nouns.work, reading).runnable()
    well = [model for model in models if model.keeps_up][:FIRST]
    answer = {
        "machine": nouns.machine.name,
        "notes": list(nouns.machine.notes),
        "models": [runnable_answer(model, nouns) for model in well],
    }
    show(args, answer, lambda: "\n".join(_here_lines(nouns.machine, named, well, reading)))


def _here_lines(
    machine: Machine, named: str, well: list[Runnable], reading: float
) -> Iterator[str]:
    """Parts of a machine, the best models that run well on it, and what to type next."""
    best = next((model.model.name for model in well), SMALL)
    if named == THIS:
        whose = "This machine"
        following = _next_here(best)
    else:
        whose = "Your machine"
        following = _next_of(_in_quotes(named), best)
    yield from (f"{whose}: {_parts(machine)}.", "")
    pace = f"{number(reading)} tokens/s"
    if well:
        yield f"It runs well, at reading speed ({pace}) or faster, the best first:"
        yield from (f"  {line}" for line in aligned(map(_here_cells, well)))
    else:
        yield f"No model on record reaches reading speed ({pace}) on it."
    yield from ("", "Next:")
    yield from (f"  {line}" for line in aligned(following.items()))


SMALL = "Llama-3.2-1B"  # model that is named where none runs well


def _in_quotes(text: str) -> str:
    """Text as one word of a shell, in double quotes, which Windows takes too, where they do."""
    if re.search(r'["$`\\]', text):
        return shlex.quote(text)
    return f'"{text}"'


def _next_here(model: str) -> dict[str, str]:
    """Commands on this machine, with what they say."""
    start = program()
    return {
        f'{start} advise --machine this --model "{model}"': "would a bigger GPU pay?",
        f"{start} find --machine this": "every model that runs here",
        f"{start} probe --save --quick": "measure RAM and drive, in under 20 s",
        f"{start} app": "the same in a browser",
        f"{start} --help": "the other commands",
    }


def _next_of(machine: str, model: str) -> dict[str, str]:
    """Commands on a machine by its name in quotes, with what they say."""
    start = program()
    return {
        f'{start} {machine} "{model}"': "one model, and whether a bigger GPU would pay",
        f"{start} find --machine {machine}": "every model that runs on it",
        f"{start} machine {machine}": "what the name is taken for",
        f"{start} --help": "the other commands",
    }


def _here_cells(model: Runnable) -> tuple[str, ...]:
    if model.tight:
        tight = ", tight: close other programs"
    else:
        tight = ""
    return model.model.name, model.model.format, f"{model.speed.words}{tight}"


def _parts(machine: Machine) -> str:
    """GPUs, processor, RAM and how sure its speed is."""
    host = machine.host
    if host.bandwidth.kind is Provenance.MEASURED:
        ram = "measured"
    else:
        ram = "assumed"
    parts = [
        machine.name,
        f"{host.cores} cores",
        f"{memory(float(host.memory.value))} of RAM, its speed {ram}",
    ]
    return ", ".join(parts if machine.gpus else [*parts, "no graphics card that can be seen"])
