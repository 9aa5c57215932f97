"""Rows of a report: what its form states and its tool printed, in the columns of the ledger."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from advisor.advice.diagnosis.results import BENCHES, BUILD, OF_BENCHES
from advisor.errors import InputError
from advisor.evidence.published.engines import engine
from advisor.evidence.published.reading import with_category
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.run_form import OUTPUT, FormField, form_fields
from advisor.evidence.published.tiered import engine_of
from advisor.machine.spec import MachineSpec
from advisor.probes.llama_cpp.printed_results import read as read_runs
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.probes.llama_cpp.shown_results import hardware_in
from lab.intake.sent import SentReport

MOST_RUNS = 20  # runs of a report that become rows
LEAST_PROMPT = 64.0
"""Shortest prompt whose speed counts [tokens]: that of a shorter one is mostly the start of a
request, as rows of data/measurements/ with a short prompt show."""
UNITS = re.compile(
    r"(?i)(?:pcie|gen|x|~)?\s*(?P<number>\d[\d.,]*)\s*"
    r"(?:x|gib|gb|gb/s|mt/s|mhz|tokens?|layers?|users?|lanes?|channels?|"
    r"(?:tokens?|tok|toks|t)/s(?:ec)?|tps)?",
    re.ASCII,
)
"""A number as people write it, with the unit that its field has."""
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}")


@dataclass(frozen=True, kw_only=True)
class SentRun:
    """One run of a report, as a row, beside what it was read from."""

    report: SentReport
    values: Mapping[str, str]  # the form
    run: EngineRun  # the run as its tool reports it
    row: PublishedRow


def runs_of(report: SentReport) -> Iterator[SentRun]:
    """Runs of a report that generated tokens, each with the prompt at the same depth.

    Raises:
        InputError: a report without a result that is read, or with too many.
    """
    values = report.values()
    output = values.get(OUTPUT, "")
    if not output:
        raise InputError("It holds nothing that a tool printed; paste that into the first box.")
    runs = read_runs(output)
    generated = [run for run in runs if run.decode]
    if not generated:
        raise InputError("Its output has no speed of generated tokens.")
    if len(generated) > MOST_RUNS:
        raise InputError(f"It holds {len(generated)} runs; at most {MOST_RUNS} become rows.")
    for run in generated:
        beside = (other for other in runs if other.prompt and other.depth == run.depth)
        prompt = next(beside, None)
        row = with_category(PublishedRow(dict(_cells(report, values, run, prompt))))
        yield SentRun(report=report, values=values, run=run, row=row)


def _cells(
    report: SentReport, values: Mapping[str, str], run: EngineRun, prompt: EngineRun | None
) -> Iterator[tuple[str, str]]:
    """Columns of a row; the form's word counts before the tool's."""
    stated = dict(_of_form(values))
    users = _users(stated, run)
    yield from _of_tool(run, str(values.get(OUTPUT, "")), stated)
    if not stated.get("gpu"):
        yield "gpu", _gpu(values, run)
    yield from stated.items()
    yield from _lengths(run)
    if users > 1:
        yield "batch", f"{users:g}"
    yield from _speeds(run, prompt, users, _runtime(stated, run))
    yield "date", stated.get("date") or run.when[:10] or report.day
    yield "source_url", report.address
    yield "source_note", "; ".join(_note(values, run, prompt))
    yield "publisher", report.sender
    yield "doubtful", "False"


def _of_form(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Columns that fields of the form state."""
    for row in form_fields().values():
        value = values.get(row.field, "")
        if value and row.column:
            yield row.column, _plain(row, value)


def _plain(row: FormField, value: str) -> str:
    """Value of a field, a number without its unit."""
    if row.is_number:
        return f"{form_number(row, value):g}"
    return value


def form_number(row: FormField, text: str) -> float:
    """Number of a field as people write it: "64 GB", "1,234.5", "41,5", "Gen 4"."""
    match = UNITS.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{row.label} is {text[:40]!r}; a number is expected ({row.example}).")
    number = match["number"]
    if THOUSANDS.fullmatch(number):
        return float(number.replace(",", ""))
    if DECIMAL_COMMA.fullmatch(number):
        return float(number.replace(",", "."))
    try:
        return float(number)
    except ValueError:
        raise InputError(
            f"{row.label} is {text[:40]!r}; a number is expected ({row.example})."
        ) from None


def _of_tool(run: EngineRun, output: str, stated: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Columns that the tool states."""
    yield "cpu", _part("cpu", output)
    yield "model", run.model
    yield "runtime", _runtime(stated, run)
    if run.gpu_layers is not None:
        yield "ngl", f"{run.gpu_layers}"
    if run.file_bytes and "quant" not in stated:
        yield "model_size_gib", f"{run.file_bytes / 2**30:.3f}"


def _gpu(values: Mapping[str, str], run: EngineRun) -> str:
    """GPU that the output names, or "none" where the processor alone is named."""
    printed = _part("gpu", values.get(OUTPUT, ""))
    alone = run.backend.casefold() == "cpu" or not printed
    if alone and (values.get("cpu") or _part("cpu", values.get(OUTPUT, ""))):
        return MachineSpec.NO_GPU
    return printed


def _part(part: str, output: str) -> str:
    """First name of a part in an output; empty for none."""
    return next((name for kind, name in hardware_in(output) if kind == part), "")


def _runtime(stated: Mapping[str, str], run: EngineRun) -> str:
    """Program with its backend and build, as the form or the tool states it."""
    if stated.get("runtime"):
        return stated["runtime"]
    build = BUILD.match(run.engine)
    version = f"b{build[1]}" if build else run.engine
    return " ".join(filter(None, (run.runtime, run.backend, version)))


def _users(stated: Mapping[str, str], run: EngineRun) -> float:
    return float(stated.get("batch") or run.users or 1.0)


def _lengths(run: EngineRun) -> Iterator[tuple[str, str]]:
    """Depth, prompt and reply, as the tool states them."""
    if run.tool in OF_BENCHES:
        yield "context_depth", f"{run.depth:g}"
        return
    if run.prompt_tokens:
        yield "prompt_len", f"{run.prompt_tokens:.0f}"
    if run.output_tokens:
        yield "gen_len", f"{run.output_tokens:.0f}"
    if run.depth:
        yield "context_depth", f"{run.depth:g}"


def _speeds(
    run: EngineRun, prompt: EngineRun | None, users: float, runtime: str
) -> Iterator[tuple[str, str]]:
    """Columns of speeds, as the files of each family of engines have them."""
    decode = float(run.decode or 0.0)
    if engine_of(runtime) is not None:
        yield "tg_tps", f"{decode:g}"
    elif is_llama_cpp(runtime):
        yield "tg_tps", f"{decode * users:g}"
    elif in_ram(runtime):
        yield "tg_tps_total", f"{decode * users:g}"
    else:
        yield "seconds_per_token", f"{1.0 / decode:.6g}"
    if prompt is not None and (prompt.prompt_tokens or LEAST_PROMPT) >= LEAST_PROMPT:
        yield "pp_tps", f"{prompt.prompt:g}"
        if engine_of(runtime) is not None:
            yield "prompt_tokens", f"{prompt.prompt_tokens or 0.0:.0f}"


def in_ram(runtime: str) -> bool:
    """Whether a program computes where the weights lie, as llama.cpp and MLX do."""
    named = engine(runtime, "resident")
    return named is not None and named.computes_in_ram


def is_llama_cpp(runtime: str) -> bool:
    """Whether a program is of llama.cpp's family."""
    named = engine(runtime, "resident")
    return named is not None and named.key == "llama.cpp" and named.build != "mlx"


def _note(values: Mapping[str, str], run: EngineRun, prompt: EngineRun | None) -> Iterator[str]:
    """Words of the note: the tests of a bench, the form's fields without a column, the tool."""
    tests = [f"tg{run.output_tokens:.0f}"] if run.output_tokens else []
    if prompt is not None and prompt.prompt_tokens:
        tests.append(f"pp{prompt.prompt_tokens:.0f}")
    if run.tool in BENCHES:
        yield f"test={','.join(tests)}"
    for row in form_fields().values():
        value = values.get(row.field, "")
        if value and row.words:
            yield row.words.format(_plain(row, value))
    if run.kv_type not in ("", "f16") and not values.get("kv"):
        yield f"kv={run.kv_type}"
    yield f"{run.tool}; sent with the form"
