"""Rules of the intake: what refuses a report, and what makes a row doubtful.

The bounds are physical and generous: every weight that a token needs is read once, at no more than
the datasheet's rates of the memories that hold it; a prompt multiplies each weight once a token,
at no more than the dense peak in 4 bits. None uses a fitted constant or a prediction, so a run is
never left out for being far from one.
"""

import hashlib
import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from functools import cache

import numpy as np

from advisor.advice.diagnosis.facts import other_model
from advisor.advice.diagnosis.results import BENCHES
from advisor.catalog.inputs import INPUTS
from advisor.errors import AdvisorError, InputError
from advisor.evidence.published.case import Case
from advisor.evidence.published.engines import engine
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import COLUMNS, PublishedRow
from advisor.evidence.published.run_form import AGREE, OUTPUT, form_fields
from advisor.evidence.published.tiered import engine_of
from advisor.machine.catalog import GPUS, HOSTS
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.model.formats import Format
from advisor.probes.llama_cpp.shown_results import hardware_in
from advisor.units import GB, GIB, Provenance
from lab.intake.rows import SentRun, form_number

ROUNDED = 0.85
"""Smallest ratio of a time to the shortest possible one: datasheets round, boost clocks exceed
them, and memory is overclocked; the ledger's rule has the same."""
SUSTAINED = 0.7  # smallest share of its peak that a stated rate of RAM is
UNSTATED = 4.0
"""Largest ratio of a host's RAM rate to the one assumed for it, where nobody stated its RAM."""
FOUR_BITS = 4.0  # dense peak in 4-bit numbers over that in 16-bit ones (NVIDIA's datasheets)
WASTED = 20.0  # multiple of the shortest possible time from which a run alone is doubtful
FIXED = 0.05
"""Time that a token may take beside it [s]: a hundred layers of half a millisecond on a slow
machine; small models on fast cards are all fixed time."""
DRAFT = re.compile(r"draft=\D*(\d+)?")
UNSTATED_DRAFTS = 8.0  # tokens drafted a round where the form says that they are and not how many
SAME_SPEED = 0.01  # largest difference of a stated speed from the printed one: rounding
MOST_USERS = 4096
LEAST_TOKENS = 16.0  # fewest generated tokens of which a speed is believed
UNEVEN = 0.2  # largest standard deviation of repeats over their mean
FIRST_DAY = "2023-01-01"  # before the first of the engines
AHEAD = timedelta(days=1)  # of a sender in another time zone
PLAIN = re.compile(r"(?!.*://)[\w .,()+/:;&\u2019®™*#~@-]*", re.ASCII)
"""Letters of words that people write of machines and programs; addresses are none."""
LONGEST_NAME = 120  # letters of a machine's, a model's or a program's name
SENDER = re.compile(r"\w[\w .'-]{0,99}")
"""Account, or name of a publisher."""
PAGE = re.compile(r"https://[\w.~:/?#@!$&()*+,;=%-]{4,500}", re.ASCII)
MOST_DRAFTS = 64  # tokens drafted a round
OTHER_LENGTH = 0.25  # largest difference of a stated length from the printed one
FORMULA = re.compile(r"\s*[=+@-]")
"""Begin of a cell that a spreadsheet computes."""
DOUBTED_FORECAST = 1.5
"""Factor between the prediction that a sender's release made and that of the row by the same
constants, from which the row leaves something of the run out."""


def check(sent: SentRun) -> Case:
    """Machine, model and request of a run that may be taken.

    Raises:
        AdvisorError: a run that is refused; the message says why.
    """
    _check_agreement(sent)
    _check_words(sent)
    _check_numbers(sent)
    _check_day(sent)
    _check_stated(sent)
    _check_hardware(sent)
    _check_format(sent)
    case = _case(sent.row)
    other = other_model(sent.run.model, case.model) if sent.values.get("model") else ""
    if other:
        raise InputError(
            f"Its output is of {sent.run.model[:60]!r} ({other}), and the form says "
            f"{sent.values['model']!r}."
        )
    _check_possible(sent, case)
    return case


def _check_agreement(sent: SentRun) -> None:
    if not sent.values.get(AGREE):
        raise InputError("Its sender has not agreed that it is published.")
    if not sent.report.sender:
        raise InputError("Nobody is named as its sender; --by and --url name who published it.")
    if not SENDER.fullmatch(sent.report.sender):
        raise InputError(f"Its sender is {sent.report.sender[:60]!r}, which is no account's name.")
    if not PAGE.fullmatch(sent.report.address):
        raise InputError("It names no page of the web as its source.")


def _check_words(sent: SentRun) -> None:
    """Refuse cells that are no words of a machine, model or program, and numbers beyond limits."""
    words = [row for row in form_fields().values() if row.kind == "line" and not row.is_number]
    for row in words:
        for text in (sent.values.get(row.field, ""), sent.row.cells.get(row.column, "")):
            if FORMULA.match(text) or not PLAIN.fullmatch(text):
                raise InputError(
                    f"{row.label} is {text[:60]!r}, which holds letters that no name has."
                )
            if len(text) > LONGEST_NAME:
                raise InputError(
                    f"{row.label} has {len(text)} letters; names have {LONGEST_NAME} at most."
                )


def _check_numbers(sent: SentRun) -> None:
    """Refuse numbers that no machine, run or tool has."""
    output = sent.values.get(OUTPUT, "")
    if any(letter.isdecimal() and not letter.isascii() for letter in output):
        raise InputError("Its output has digits that no tool prints; paste it as it was printed.")
    for column in COLUMNS:
        getattr(sent.row, column)  # raises for a number outside its limits
    if not 1 <= (sent.row.batch or 1.0) <= MOST_USERS:
        raise InputError(f"{sent.row.batch:,.0f} users at once are no run; 1 to {MOST_USERS} are.")
    ram = sent.values.get("ram_gb", "")
    largest = INPUTS["ram_gb"].high
    if ram and largest and form_number(form_fields()["ram_gb"], ram) > largest:
        raise InputError(f"RAM is {ram[:40]!r}; no computer has more than {largest:,.0f} GiB.")
    if drafted(sent.row) > MOST_DRAFTS:
        raise InputError(
            f"{drafted(sent.row):,.0f} drafted tokens a round are no run; up to {MOST_DRAFTS} are."
        )
    if (sent.row.batch or 1.0) > 1.0 and sent.run.tool in BENCHES:
        raise InputError(
            f"{sent.row.batch:g} users at once are in the form, and {sent.run.tool} times one."
        )


def _check_day(sent: SentRun) -> None:
    text = sent.row.date
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InputError(f"Its day is {text[:40]!r}; write it as 2026-11-28.") from None
    latest = date.today() + AHEAD
    if not date.fromisoformat(FIRST_DAY) <= day <= latest:
        raise InputError(f"Its day is {text}; allowed is {FIRST_DAY} to today.")


def _check_stated(sent: SentRun) -> None:
    """Refuse speeds of the form that its output does not have."""
    printed = {"tg_tps": sent.run.decode, "pp_tps": sent.run.prompt or sent.row.pp_tps}
    for field, value in printed.items():
        text = sent.values.get(field, "")
        if not text or not value:
            continue
        stated = form_number(form_fields()[field], text)
        if abs(stated - value) > SAME_SPEED * value:
            raise InputError(
                f"{form_fields()[field].label} is {stated:g} in the form and {value:g} in its "
                "output."
            )


def _check_hardware(sent: SentRun) -> None:
    """Refuse a machine whose parts are none of those that the output names."""
    named = list(hardware_in(sent.values.get(OUTPUT, "")))
    for part, find in (("gpu", GPUS.named), ("cpu", HOSTS.named)):
        stated = sent.values.get(part, "")
        printed = [name for kind, name in named if kind == part]
        meant = [same for name in printed if (same := _named(find, name))]
        form = _named(find, stated) if stated else ""
        if form and meant and form not in meant:
            raise InputError(
                f"Its output is of {' and '.join(printed)[:80]}, and the form names {stated!r}: "
                "another machine."
            )
    _check_count(sent)


def _check_count(sent: SentRun) -> None:
    """Refuse more GPUs in the form than the output names."""
    printed = [name.strip() for name in sent.run.gpus.split(",") if name.strip()]
    text = sent.values.get("gpu_count", "")
    if not printed or not text:
        return
    count = form_number(form_fields()["gpu_count"], text)
    if count > len(printed):
        raise InputError(
            f"Its output is of {len(printed)} GPU ({sent.run.gpus[:80]}), and the form says "
            f"{count:g}: another machine."
        )


def _check_format(sent: SentRun) -> None:
    """Refuse a format of the form that is not the one which llama-bench prints."""
    match = PRINTED_FORMAT.search(sent.run.model)
    stated = sent.values.get("quant", "")
    if match is None or not stated:
        return
    printed = match[0].replace(" ", "").split("-")[0]
    if not _letters(stated).startswith(_letters(printed)):
        raise InputError(
            f"Its output is of {match[0]}, and the form says {stated!r}: another format."
        )


PRINTED_FORMAT = re.compile(r"\b(?:I?Q\d_[\w]+|F16|F32|BF16|MXFP4)\b(?: - \w+)?", re.ASCII)
"""Format in the model's name that llama-bench prints: `qwen3 8B Q4_K - Medium`."""


def _letters(text: str) -> str:
    """Letters and digits of a format's name, in lower case."""
    return "".join(filter(str.isalnum, text)).casefold()


def _named(find: object, name: str) -> str:
    """Name in the catalogue of a part; empty for one that it does not know."""
    with suppress(AdvisorError):
        known = find(name)  # type: ignore[operator]  # one of two look-ups with a common shape
        return str(getattr(known, "row", known).name)
    return ""


def _case(row: PublishedRow) -> Case:
    """Interpretation of a row, of parts that are known by name alone."""
    if engine(row.runtime, "resident") is None and engine_of(row.runtime) is None:
        raise InputError(f"No engine that is described is called {row.runtime[:60]!r}.")
    if not row.gpu:
        raise InputError("It names neither a GPU nor a processor.")
    if row.gpu.casefold() == MachineSpec.NO_GPU and not row.cpu:
        raise InputError("It ran on the processor alone and names none.")
    if not row.model:
        raise InputError("It names no model.")
    resolve.from_name(row.model)
    if row.quant and engine(row.runtime, "resident") is not None:
        Format.meant(row.quant, remark=True)
    return understood(row)


# Bounds.


def _check_possible(sent: SentRun, case: Case) -> None:
    _check_ram_rate(sent)
    least = least_token_seconds(case) / (1.0 + drafted(sent.row))
    measured = 1.0 / float(sent.run.decode or math.inf)
    if measured < ROUNDED * least:
        raise InputError(
            f"{sent.run.decode:g} tokens/s are faster than its bytes allow: a token reads "
            f"{case.model.read_bytes_per_token / 1e9:.3g} GB, so {1.0 / least:.3g} tokens/s at "
            "most on this machine. Where tokens were drafted, the form must say so."
        )
    least_prompt = least_prompt_seconds(case)
    speed = sent.row.pp_tps
    if speed and least_prompt and 1.0 / speed < ROUNDED * least_prompt:
        raise InputError(
            f"{speed:g} prompt tokens/s are faster than it can compute: "
            f"{1.0 / least_prompt:,.0f} at most on this machine."
        )


def _check_ram_rate(sent: SentRun) -> None:
    """Refuse a measured rate of RAM that is far above that of its processor."""
    stated = sent.row.cells.get("ram_bw_gbs", "")
    if not stated or not sent.row.cells.get("cpu"):
        return
    cells = {name: cell for name, cell in sent.row.cells.items() if name != "ram_bw_gbs"}
    most = most_ram_rate(understood(PublishedRow(cells))) / GB
    if float(stated) > most:
        raise InputError(
            f"Its RAM is read at {float(stated):,.0f} GB/s; {most:,.0f} at most on this processor."
        )


def drafted(row: PublishedRow) -> float:
    """Tokens that are drafted a round, as the form states them; 0 without drafts."""
    match = DRAFT.search(row.source_note)
    if match is None:
        return 0.0
    return float(match[1] or UNSTATED_DRAFTS)


def least_token_seconds(case: Case) -> float:
    """Shortest possible time of a token of one user without drafts [s].

    t = W / (S_gpu + S_host), and of a dense model what its GPUs cannot hold at S_host alone; W are
    the weights that one token reads [B], S the peaks of the memories [B/s].
    """
    gpus = case.machine.gpus
    read = float(case.model.read_bytes_per_token)
    host = most_ram_rate(case)
    on_gpus = float(sum(np.max(gpu.bandwidth.value) for gpu in gpus))
    if not gpus:
        return read / host
    if case.machine.unified:
        return read / on_gpus
    room = float(np.max(case.machine.gpu_memory))
    beyond = max(1.0 - room / float(case.model.file_bytes), 0.0)
    if case.model.has_experts:
        beyond = 0.0
    return max(read / (on_gpus + host), beyond * read / host)


def most_ram_rate(case: Case) -> float:
    """Highest rate that a host's RAM may have had [B/s]."""
    bandwidth = case.machine.host.bandwidth
    rate = float(np.max(bandwidth.value))
    if bandwidth.kind in (Provenance.MEASURED, Provenance.GIVEN, Provenance.DATASHEET):
        return rate / SUSTAINED
    return rate * UNSTATED


def least_prompt_seconds(case: Case) -> float:
    """Shortest possible time of a token of a prompt [s]; 0 where no peak is known."""
    gpus = case.machine.gpus
    peaks = [float(np.max(gpu.peak_16_bit)) for gpu in gpus if gpu.tensor_flops]
    if not peaks or len(peaks) < len(gpus):
        return 0.0
    work = 2.0 * float(case.model.architecture.active_params)
    return work / (FOUR_BITS * sum(peaks))


# Doubts.


def doubts(sent: SentRun, case: Case) -> Iterator[str]:
    """Reasons to keep a row out of scores, none of them a prediction."""
    measured = 1.0 / float(sent.run.decode or math.inf)
    alone = float(case.work.users) == 1.0
    if alone and measured > WASTED * least_token_seconds(case) + FIXED:
        yield "slower than a twentieth of what its memory allows"
    tokens = sent.run.output_tokens
    if tokens is not None and tokens < LEAST_TOKENS:
        yield f"only {tokens:.0f} tokens were generated"
    samples = [speed for speed in sent.run.samples if speed > 0]
    if len(samples) > 1 and statistics.stdev(samples) > UNEVEN * statistics.mean(samples):
        yield "its repeats differ by a fifth and more"
    if sent.run.tool == "a pasted line":
        yield "no output of a tool stands behind it, a line with a speed alone"
    if _other_lengths(sent):
        yield "its form and its output state other lengths"
    if _beyond_memory(sent, case):
        yield "the weights are larger than GPU memory and RAM together: read from a drive"
    yield from _unknown_parts(sent, case)


def _unknown_parts(sent: SentRun, case: Case) -> Iterator[str]:
    """Doubts of a machine or model that others stand in for."""
    processor = sent.row.cells.get("cpu", "")
    if processor and not _named(HOSTS.named, processor):
        yield "its processor is not known by this name"
    if case.model.architecture.shape_uncertainty:
        yield "its model is not described; one of its size stands in"


def _other_lengths(sent: SentRun) -> bool:
    """Whether the form states a prompt or a reply of another length than its output has."""
    printed = {"prompt_len": sent.run.prompt_tokens, "gen_len": sent.run.output_tokens}
    for field, tokens in printed.items():
        text = sent.values.get(field, "")
        if text and tokens:
            stated = form_number(form_fields()[field], text)
            if abs(stated - tokens) > OTHER_LENGTH * tokens:
                return True
    return False


def _beyond_memory(sent: SentRun, case: Case) -> bool:
    ram = sent.values.get("ram_gb", "")
    if not ram or engine_of(sent.row.runtime) is not None:
        return False
    room = form_number(form_fields()["ram_gb"], ram) * GIB
    if not case.machine.unified:
        room += float(np.max(case.machine.gpu_memory))
    return float(case.model.file_bytes) > room


FORECAST = re.compile(r"(?P<speed>[\d.,]+) tokens/s .*constants (?P<constants>[0-9a-f]{8})")


def forecast_of(sent: SentRun) -> tuple[float, str] | None:
    """Speed that the sender's release predicted, and its constants; None where none is stated."""
    match = FORECAST.search(sent.values.get("prediction", ""))
    if match is None:
        return None
    return float(match["speed"].replace(",", "")), match["constants"]


def forecast_doubt(sent: SentRun, predicted: float, constants: str) -> str:
    """Doubt of a row for which the same constants predicted another speed at its sender's, where
    the whole run was known; empty for none.
    """
    forecast = forecast_of(sent)
    if forecast is None or forecast[1] != constants:
        return ""
    if abs(math.log(forecast[0] / predicted)) < math.log(DOUBTED_FORECAST):
        return ""
    return (
        f"its sender's release predicted {forecast[0]:g} tokens/s for the run and this row "
        f"{predicted:.3g}: the row leaves something out"
    )


# Runs that are known already.


def same_output(sent: SentRun) -> str:
    """Digest of what the tool printed, whatever its blanks."""
    words = " ".join(sent.values.get(OUTPUT, "").split())
    return hashlib.sha256(words.encode()).hexdigest()


def same_run(row: PublishedRow, case: Case) -> tuple[object, ...]:
    """What two rows of one run have in common: machine, model, lengths and speeds."""
    speeds = (row.tg_tps, row.tg_tps_total, row.seconds_per_token, row.pp_tps)
    return (
        case.machine.cards or case.machine.host.name,
        len(case.machine.gpus),
        case.model.architecture.name,
        case.model.format,
        *(f"{speed:.4g}" if speed else "" for speed in speeds),
    )


@cache
def _by_speed(rows: tuple[PublishedRow, ...]) -> Mapping[str, list[PublishedRow]]:
    by_speed: dict[str, list[PublishedRow]] = {}
    for row in rows:
        by_speed.setdefault(_speed(row), []).append(row)
    return by_speed


def _speed(row: PublishedRow) -> str:
    return f"{row.tg_tps or row.tg_tps_total or row.seconds_per_token or 0.0:.4g}"


def in_ledger(row: PublishedRow, case: Case, ledger: tuple[PublishedRow, ...]) -> str:
    """Id of the ledger's row with the same run; empty where there is none. Speeds of two digits
    alone, which many runs have, are no sign.
    """
    speed = _speed(row)
    if len(speed.replace(".", "").strip("0")) < 3 and not row.pp_tps:
        return ""
    for other in _by_speed(ledger).get(speed, ()):
        with suppress(AdvisorError):
            if same_run(other, understood(other)) == same_run(row, case):
                return other.id
    return ""


def known_names(ledger: Iterable[PublishedRow], column: str) -> frozenset[str]:
    """Names in a column of the ledger, in lower case."""
    return frozenset(row.cells.get(column, "").strip().casefold() for row in ledger)
