"""A question that has no answer: what is wrong, and what may be meant, as buttons."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import streamlit as st
from markupsafe import Markup

from advisor.errors import AdvisorError, Refusal, UnknownName
from advisor.failures import NetworkError
from advisor.formatting import money
from advisor.model import catalog, resolve
from advisor.runtimes.compare import decode_tps
from advisor.ui.parts.markup import block, heading, link, notice, plain_words, say, show
from advisor.ui.question import current, presets
from advisor.ui.question.answer import current_answer
from advisor.units import tokens_per_second

AT_HOME = "gpt-oss-20b"  # model offered to who names one that runs at its maker alone
MAKER = "maker alone"
MOST = 5
MODELS = Path(__file__).parents[1] / "pages" / "run.py"
Answer = TypeVar("Answer")


def tried(answer: Callable[[], Answer], *, with_presets: bool = True) -> Answer | None:
    """Answer, or None after the page shows what is wrong in its place."""
    try:
        return answer()
    except AdvisorError as error:
        failure = error
    if with_presets:
        presets.machines()
    _refused(failure)
    return None


_LAST = "last_answer"  # session key of the answer shown last
PALE = Markup("<div class='oa-pale' inert aria-hidden='true'>{}</div>")


def keep(answer: Markup) -> None:
    """Keep the shown answer, for a later question that has no answer."""
    st.session_state[_LAST] = answer


def _last() -> Markup:
    """Answer to the question before, pale and without function; nothing on a first visit."""
    last = st.session_state.get(_LAST)
    if not last:
        return Markup()
    plain = Markup(str(last).replace("id='verdict'", ""))  # noqa: S704  as it was shown
    return block("oa-soft", "Before that:", "p") + PALE.format(plain)


def _refused(error: AdvisorError) -> None:
    """Show what is wrong in place of an answer, with suggestions as buttons."""
    for sentence in current.visit().problems:
        notice(sentence, "warning")
    close = _close(error)
    if _asked_back(error):
        show(_last())
        return
    show(heading("", _what(error, close), "oa-bad-text"))
    if isinstance(error, Refusal) and MAKER in str(error):
        close = (AT_HOME,)
        say(f"Nearest at home: {_at_home()}.")
    if close:
        with st.container(horizontal=True, gap="small", key="suggestions"):
            for name in close[:MOST]:
                st.button(name, key=f"meant_{name}", on_click=_take, args=(error, name))
    say("There is no answer until this is clear.")
    show(_last())
    if isinstance(error, NetworkError):
        st.page_link(MODELS, label="Models on record, which need no network")
        st.button("Try again", key="try_again", on_click=_ask_again)


OF_MEMORY = "That is a size of memory"
OF_MONEY = "That is an amount of money"
"""How the hints begin where a machine's words are something else (data/hardware/name_words.csv)."""
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?-?([gt])", re.IGNORECASE)
DOLLARS = re.compile(r"\$ ?(\d[\d,]*)|(\d[\d,]*) ?(?:\$|usd|(?:us )?dollars?|bucks)", re.IGNORECASE)
WITH_MEMORY = {
    "No graphics card": "no GPU with {} RAM",
    "RTX 4060": "RTX 4060 with {} RAM",
    "Mac": "Mac mini M4 {}",
}
"""Machines that may have a size of memory, by the words of their buttons."""


def _asked_back(error: AdvisorError) -> bool:
    """Whether the page asked a question back, since the words for a machine are a size of memory or
    a budget.
    """
    if not isinstance(error, UnknownName) or error.kind != "machine":
        return False
    size = SIZE.search(error.name)
    if error.hint.startswith(OF_MEMORY) and size is not None:
        memory = f"{size[1]} {size[2].upper()}B"
        show(heading("", f"I read {memory} as memory. Which machine has it?", "oa-partly-text"))
        with st.container(horizontal=True, gap="small", key="suggestions"):
            for words, machine in WITH_MEMORY.items():
                text = machine.format(memory)
                st.button(words, key=f"has_{words}", on_click=_take_machine, args=(text,))
        return True
    if error.hint.startswith(OF_MONEY):
        show(heading("", "I read that as a budget. What may it buy?", "oa-partly-text"))
        show(_for_a_budget(error.name))
        return True
    return False


def _take_machine(text: str) -> None:
    """Take a machine (for callbacks)."""
    current.another_machine(f"Machine: {text}", machine=text)


def _for_a_budget(text: str) -> Markup:
    """Link to the machines within a budget in dollars, or to all of them."""
    request = replace(current.present(), **current.of_machine(machine=current.EXAMPLE))
    amount = DOLLARS.search(text)
    words = "Machines, by their budget"
    if amount is not None:
        usd = float((amount[1] or amount[2]).replace(",", ""))
        request = replace(request, max_usd=usd)
        words = f"Machines under {money(usd)}"
    return link(current.link(request, "find"), words)


def _ask_again() -> None:
    """Forget what Hugging Face told of the model and of a draft (for callbacks)."""
    request = current.present()
    for text in (request.model, request.draft or ""):
        resolve.ask_again(text)


def _at_home() -> str:
    """Model offered for one that runs at its maker alone, with its speed on this machine."""
    with suppress(AdvisorError):  # the machine may not be understood either
        best = current_answer(model=AT_HOME, format=None).advice.best
        if best:
            speed = tokens_per_second(decode_tps(best))
        else:
            speed = "which does not fit"
        return f"{AT_HOME}, {speed} on this machine"
    return AT_HOME


def _close(error: AdvisorError) -> Sequence[str]:
    """Names that may be meant; of an unknown model without any, the newest of its family."""
    if not isinstance(error, UnknownName) or error.close or error.kind != "model":
        if isinstance(error, UnknownName):
            return error.close
        return ()
    words = re.findall(r"^[a-z]{3,}", error.name.casefold())
    # Rows of the last months have no month of publication yet.
    known = catalog.model_rows().values()
    rows = sorted(known, key=lambda row: row.released or "9", reverse=True)
    return [row.name for row in rows if words and row.name.casefold().startswith(words[0])]


def _what(error: AdvisorError, close: Sequence[str]) -> str:
    if not isinstance(error, UnknownName):
        return plain_words(str(error))
    rest = "Did you mean:" if close else error.hint
    return plain_words(f"I know no {error.kind} called {error.name[:80]!r}. {rest}")


def _take(error: AdvisorError, name: str) -> None:
    """Take a suggestion (for callbacks)."""
    request = current.present()
    if not isinstance(error, UnknownName) or error.kind == "model":
        current.change(f"Model: {name}", model=name, format=None)
        return
    for key in ("machine", "gpu", "cpu", "disk", "format", "runtime"):
        text = getattr(request, key) or ""
        at = text.casefold().find(error.name.casefold())
        if at >= 0:
            meant = f"{text[:at]}{name}{text[at + len(error.name) :]}"
            current.change(f"{error.kind}: {name}", **{key: meant})
            return
