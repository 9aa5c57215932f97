"""Diagnosis of a typed speed on the page: likely causes, tests and remedies."""

from functools import partial

import streamlit as st
from markupsafe import Markup, escape

from advisor import given_files
from advisor.advice.advise import Answer
from advisor.advice.diagnosis.diagnose import (
    LIMITS,
    Cause,
    Diagnosis,
    Measured,
    diagnose,
    measurable,
    system_of,
)
from advisor.advice.diagnosis.results import READ, check_model, reported
from advisor.advice.diagnosis.text import (
    cause_words,
    grouped_causes,
    needed_words,
    sentence,
    speed_words,
)
from advisor.cost_model.estimate import Estimate
from advisor.errors import AdvisorError
from advisor.request.request import Request
from advisor.ui.parts import markup, tabs
from advisor.units import tokens_per_second

HOW = (
    "Type the speed that your runtime printed, or upload what it wrote: the results or the log of "
    "llama.cpp, Ollama, LM Studio, vLLM, SGLang or MLX, to see the likeliest causes."
)


def body(answer: Answer) -> None:
    """Show fields for the measured speed, and its diagnosis."""
    named = {
        f"{run.strategy.heading}, {run.runtime.name}{'' if run.fits else ' (does not fit)'}": run
        for run in measurable(answer.advice.estimates)
    }
    printed = b""
    try:
        estimate, measured = _typed(named)
        if measured is None:
            file = st.file_uploader("Or a tool's results", type=list(READ), key="measured_file")
            if file is None:
                markup.say(HOW)
                return
            printed = file.getvalue()
            measured = reported(printed, file.name[:80])
            if measured.facts is not None:
                check_model(measured.facts, answer.nouns.model)
            markup.say(f"Read from {measured.source}.")
        diagnosis = diagnose(estimate, measured, system_of(answer.nouns.request))
    except AdvisorError as error:
        markup.notice(str(error), "error")
        return
    show_diagnosis(diagnosis)
    shared = partial(_share, answer.nouns.request, estimate, measured, printed)
    tabs.popped(SHARE, "share_run", shared, icon=":material/outgoing_mail:")


SHARE = "Send this run"


def _share(request: Request, estimate: Estimate, measured: Measured, printed: bytes) -> None:
    """Text with which the run is sent, as `runs share` prints it, and how."""
    from advisor.evidence.accuracy import shared_run  # with the form, for who opens it
    from advisor.evidence.published.run_form import form_text

    output = given_files.decoded(printed)
    values = shared_run.shared_run(request, estimate, measured, output)
    markup.say(shared_run.steps(values, typed=not printed))
    markup.copyable(form_text(values))


def _typed(named: dict[str, Estimate]) -> tuple[Estimate, Measured | None]:
    """Placement and typed speeds, None without one; raises InputError of a speed out of range."""
    which, *others = st.columns((2, 1, 1, 1))
    label = which.selectbox("What you ran", list(named), key="measured_what")
    decode, prompt, tokens = (
        column.number_input(
            title,
            *LIMITS[limits],
            None,
            1.0,
            "%.10g",
            f"measured_{key}",
            about,
            placeholder="as printed",
        )
        for column, (title, limits, key, about) in zip(others, FIELDS, strict=True)
    )
    estimate = named.get(str(label), next(iter(named.values())))
    if decode is None:
        return estimate, None
    return estimate, Measured(decode=decode, prompt=prompt, prompt_tokens=tokens)


FIELDS = (
    ("Measured (tokens/s)", "measured", "decode", "The generation alone, of one user."),
    ("Prompt (tokens/s)", "measured prompt", "prompt", "If known."),
    ("Prompt length (tokens)", "tokens of the prompt", "tokens",
     "If known: short prompts are read slower. Empty for the one of this page."),
)  # fmt: skip
"""Label, limits, key and help of each number."""


def show_diagnosis(diagnosis: Diagnosis) -> None:
    """Sentence, causes with test and remedy, and bandwidths that would give the speed."""
    markup.say(sentence(diagnosis), "oa-verdict")
    full, brief, heading = grouped_causes(diagnosis)
    for number, cause in enumerate(full, start=1):
        with st.container(gap=None):
            _in_full(number, cause, prompt=diagnosis.measured.prompt is not None)
    if brief:
        markup.show(
            markup.block("oa-strong", heading, "p")
            + markup.listed(
                (
                    markup.two_lines(cause.row.cause, cause.edit.words),
                    "",
                    tokens_per_second(float(cause.speeds.decode.value)),
                )
                for cause in brief
            )
        )
    for needed in diagnosis.needed:
        with st.container(gap=None):
            markup.say(needed_words(needed), "oa-cause")
            markup.copyable(needed.row.test)


def _in_full(number: int, cause: Cause, *, prompt: bool) -> None:
    """Cause with the speed it would give, its test and its remedy."""
    row = cause.row
    speed = markup.block("oa-soft", f"It would give {speed_words(cause, prompt=prompt)}.")
    head = markup.block("oa-strong", f"{number}. {cause_words(cause)}")
    markup.show(markup.joined((head, speed, _labelled("Test", row.test))))
    if row.command:
        markup.copyable(row.command)
    source = Markup(" {}").format(markup.outward(row.source, "Source"))
    markup.show(_labelled("Fix", row.fix, source))


def _labelled(label: str, text: str, more: Markup | str = "") -> Markup:
    return markup.block(
        "oa-cause", Markup("<b>{}</b> {}{}").format(label, with_code(text), more), "p"
    )


def with_code(text: str) -> Markup:
    """Text with the parts between backticks as code."""
    code = Markup("<code>{}</code>")
    return markup.joined(
        code.format(part) if odd % 2 else escape(part) for odd, part in enumerate(text.split("`"))
    )
