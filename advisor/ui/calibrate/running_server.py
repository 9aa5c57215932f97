"""Running server of this machine: its speed compared with the prediction."""

from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st

from advisor.advice.diagnosis.diagnose import Diagnosis, system_of
from advisor.advice.diagnosis.watching import LEAST_TOKENS, Watched, expected
from advisor.calibration.imported_names import THIS
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.uncertainty import Range
from advisor.errors import AdvisorError, InputError
from advisor.probes.server import ServerReading, read_server
from advisor.probes.server_process import ProcessReading, ServerProcess, is_here
from advisor.request.request import Request
from advisor.ui.advise.diagnosis import show_diagnosis
from advisor.ui.parts import unforeseen
from advisor.ui.parts.markup import heading, notice, say, show, table
from advisor.ui.question import current
from advisor.ui.question.models import pick
from advisor.units import range_of, tokens_per_second

EVERY = 2.0  # time between two readings [s]
ADDRESS = "server_address"
MODEL = "server_model"
_WATCH = "server_watch"
HOW = (
    "Reads what llama-server (--metrics), vLLM, SGLang (--enable-metrics) or Ollama count, and "
    "asks them nothing; use your server meanwhile."
)


@dataclass(frozen=True)
class RunningServer:
    """Server that is watched from a first reading on."""

    url: str
    model: str  # name of its model, as the visitor says
    first: ServerReading
    process: ServerProcess


def section() -> None:
    """Show fields for address and model, then the server's figures, renewed every few seconds."""
    where, what, button = st.columns([3, 3, 2], vertical_alignment="bottom")
    where.text_input("Address of the server", value="http://localhost:8080", key=ADDRESS)
    what.text_input("Its model", value=current.present().model, key=MODEL)
    button.button(
        "Watch",
        type="primary",
        icon=":material/monitor_heart:",
        width="stretch",
        key="server_start",
        on_click=_begin,
    )
    say(HOW)
    begun: RunningServer | str | None = st.session_state.get(_WATCH)
    if isinstance(begun, str):
        notice(begun, "error")
    elif begun is not None:
        _watching()


@unforeseen.named()
def _begin() -> None:
    url = st.session_state[ADDRESS].strip()
    try:
        if not is_here(url):
            raise InputError(
                f"{url[:80]!r} is no address of this computer; give one such as "
                "http://localhost:8080, or run the program where the server runs."
            )
        model = pick(st.session_state[MODEL]).text
        st.session_state[_WATCH] = RunningServer(
            url, model, read_server(url, model), ServerProcess(url)
        )
    except AdvisorError as error:
        st.session_state[_WATCH] = str(error)


@st.fragment(run_every=EVERY)
@unforeseen.named()
def _watching() -> None:
    watch: RunningServer = st.session_state[_WATCH]
    try:
        now = read_server(watch.url, watch.model)
        since = now.since(watch.first)
        if now.running:
            watch.process.look()
        recent = (since.tokens or 0.0) >= LEAST_TOKENS
        reading = since if recent else now
        request = Request(model=watch.model, machine=THIS)
        estimate = expected(request, reading)
        system = system_of(request)
        if recent:
            seen = watch.process.reading()
        else:
            seen = ProcessReading()
        answer = Watched(reading=reading, estimate=estimate, system=system, process=seen)
    except AdvisorError as error:
        notice(str(error), "error")
        return
    first, rest, tone = _verdict(answer)
    show(heading(first, rest, tone))
    if recent:
        span = "Since you pressed Watch"
    else:
        span = "Since its start"
    if answer.diagnosis is not None:
        rows = _rows(answer.diagnosis, estimate)
        show(table((span, "Measured", "Expected"), rows, label="Speeds", numeric=(1, 2)))
    for sign in answer.signs:
        notice(sign, "warning")
    if answer.alarm and answer.diagnosis is not None:
        show_diagnosis(answer.diagnosis)


def _verdict(answer: Watched) -> tuple[str, str, str]:
    """Coloured words, the words after them, and their colour."""
    reading = answer.reading
    who = f" {reading.server}{f' with {reading.model}' if reading.model else ''}."
    if answer.other_model:
        return "Another model:", who, "oa-bad-text"
    if answer.alarm:
        return "Slower than it should be:", who, "oa-bad-text"
    if answer.diagnosis is None:
        if reading.tokens is None:
            few = "counts no tokens"
        else:
            few = "has written too few tokens so far"
        return "Not judged:", f"{who[:-1]} {few}.", "oa-partly-text"
    if not answer.sound:
        return "Not quite as it should be:", who, "oa-partly-text"
    return "As it should be:", who, "oa-good-text"


def _rows(diagnosis: Diagnosis, estimate: Estimate) -> Iterator[tuple[str, str, str]]:
    decode, prompt = diagnosis.predicted
    yield "Writing, each user", *_cells(diagnosis.measured.decode, decode)
    if diagnosis.measured.prompt is not None:
        yield "Reading the prompt", *_cells(diagnosis.measured.prompt, prompt)
    yield "Users", f"{float(estimate.work.users):,.0f}", ""


def _cells(measured: float, speed: Range) -> tuple[str, str]:
    ends = range_of(float(speed.low), float(speed.high))
    return tokens_per_second(measured), ends
