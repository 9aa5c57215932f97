"""Tab Run it: command of a program, and help where it is slower than predicted."""

from collections.abc import Iterable

import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.first_run import FirstRun, System, first_run, systems
from advisor.cost_model.estimate import Estimate
from advisor.machine.backends import OperatingSystem
from advisor.runtimes.compare import decode_tps
from advisor.runtimes.remarks import remarks
from advisor.runtimes.serving import setup_efforts
from advisor.ui.parts import tabs, unforeseen
from advisor.ui.parts.glossary import explained_in_turn, term
from advisor.ui.parts.markup import block, copyable, outward, say, show
from advisor.units import memory


@st.fragment
@unforeseen.named()
def _measured(answer: Answer) -> None:
    """Expander for a measured speed; what compares it is loaded when it is opened."""

    def body() -> None:
        from advisor.ui.advise import diagnosis

        diagnosis.body(answer)

    tabs.folded("Measured another speed?", "diagnose", body)


def fitting(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Estimates that fit, fastest first."""
    ready = (estimate for estimate in estimates if bool(estimate.fits))
    return sorted(ready, key=decode_tps, reverse=True)


FIRST = ("Ollama", "LM Studio", "llama.cpp")
"""Programs that most people run at home, in the order of a choice."""


def shown(answer: Answer) -> None:
    """Command of a program in its fastest placement; an expander for a measured speed."""
    _command(answer)
    if any(estimate.decode is not None for estimate in answer.advice.estimates):
        _measured(answer)


def _command(answer: Answer) -> None:
    fastest: dict[str, Estimate] = {}
    for estimate in fitting(answer.advice.estimates):
        if _has_a_command(estimate):
            fastest.setdefault(estimate.runtime.name, estimate)
    ready = {name: fastest[name] for name in (*FIRST, *fastest) if name in fastest}
    if not ready:
        say("Nothing runs it here; All runtimes says why.", "oa-why")
        return
    best = answer.advice.best
    if st.session_state.get("program") not in ready:
        st.session_state["program"] = best.runtime.name if best else next(iter(ready))
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        name = st.pills(
            "Program", list(ready), key="program", required=True, label_visibility="collapsed"
        )
        picked = ready[str(name)]
        system = chosen_system(picked)
    told(picked, system)


def _has_a_command(estimate: Estimate) -> bool:
    """Whether a program runs the model by its lines: those of FlexGen may be remarks alone."""
    return not all(line.startswith("#") for line in estimate.command.splitlines())


def effort(runtime: str) -> Markup | str:
    """Effort to set up a runtime, with the reason; empty where unknown."""
    row = setup_efforts().get(runtime)
    if row:
        return term(row.effort, row.why)
    return ""


ABOUT = "About this command"
EXACTLY = "With exactly the predicted settings"
SEARCH = "Search Hugging Face for them"
FILES = "Download it"
STEP = Markup("<b>{}</b> {}")


def chosen_system(picked: Estimate) -> System:
    """Operating system for whose shell lines are shown: the chosen one, or that of the machine or
    browser.
    """
    offered = systems(picked)
    if len(offered) == 1:
        return offered[0]
    names = [system.value for system in offered]
    if st.session_state.get("system_shown") not in names:
        browser = st.context.headers.get("User-Agent", "")
        windows = picked.machine.system == OperatingSystem.WINDOWS or "Windows" in browser
        own = System.WINDOWS if windows else offered[-1]
        st.session_state["system_shown"] = own.value
    name = st.pills(
        "System", names, key="system_shown", required=True, label_visibility="collapsed"
    )
    return System(str(name))


def _steps(lines: FirstRun) -> None:
    """Steps with their lines: get the program, then run the model; the exact lines where a person
    finds the files.
    """
    if lines.install:
        then = f"then {lines.then}" if lines.then else ""
        copyable(lines.install, STEP.format("1 Get the program", then))
    run = "2 Run it" if lines.install else "Run it"
    if lines.run:
        copyable(lines.run, STEP.format(run, f"{memory(lines.bytes)}, downloaded once"))
    else:
        copyable(lines.exact, STEP.format(run, ""))


def told(picked: Estimate, system: System) -> None:
    """Show the lines to copy, from installing the program to a running model, and the exact
    command.
    """
    lines = first_run(picked, system)
    if lines.refused:
        say(lines.refused, "oa-why")
    if lines.search:
        words = f"No list here has these files of {picked.model.title} in {picked.model.format}."
        show(block("oa-why", Markup("{} {}").format(words, outward(lines.search, SEARCH)), "p"))
    if lines.files:
        words = f"It reads a file of {picked.model.title} in {picked.model.format}."
        show(block("oa-why", Markup("{} {}").format(words, outward(lines.files, FILES)), "p"))
    _steps(lines)

    def about() -> None:
        if lines.run and lines.run != lines.exact:
            copyable(lines.exact)
        row = setup_efforts().get(picked.runtime.name)
        written = f"Written for {picked.runtime.version}.{f' {row.why}' if row else ''}"
        for sentence in explained_in_turn((written, *remarks(picked))):
            say(sentence)

    title = EXACTLY if lines.run not in ("", lines.exact) else ABOUT
    tabs.folded(title, f"about_{picked.runtime.name}_{picked.strategy.name}", about)
