"""Answer to the visitor's request, computed once per request."""

from dataclasses import replace
from typing import Any

import streamlit as st

from advisor.advice import advise
from advisor.advice.advise import Answer
from advisor.request.request import Request
from advisor.ui.question import current
from advisor.ui.question.models import Picked, pick
from advisor.ui.question.this_machine import calibrated_at


def key_of(picked: Picked) -> str:
    """Key of a model in a cache."""
    return f"{picked.stamp} {picked.text}"


def name_of(answer: Answer) -> str:
    """Key of an answer in a cache."""
    return f"{answer.nouns.request!r} {answer.advice.title}"


# An answer takes about 1.5 MB.
@st.cache_resource(
    max_entries=48, ttl=3600, show_spinner=False, hash_funcs={Request: repr, Picked: key_of}
)
def answer(
    request: Request,
    picked: Picked,
    calibrated: int,  # noqa: ARG001 - a part of the key
) -> Answer:
    """Answer to a request, computed again after a measurement; raises AdvisorError where there is
    none.
    """
    return advise.answer(request.nouns(picked.in_format(request.format)))


def current_answer(**changed: Any) -> Answer:
    """Answer to the visitor's request, or to that request with some inputs changed; raises as
    `answer`.
    """
    request = replace(current.present(), **changed)
    return answer(request, pick(request.model, request.machine), calibrated_at())
