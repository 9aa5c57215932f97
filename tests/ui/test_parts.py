"""Parts of the pages that need no page: fields, links, prices, the preview, measuring."""

import gc
import re
import threading
import time
from pathlib import Path

import pytest
from ui_app import app

from advisor.calibration import local_machine
from advisor.failures import ProbeError, StoreError
from advisor.probes import suite
from advisor.probes.measurement import Measurement, ProbeStep
from advisor.reports.charts import crossing
from advisor.reports.document import SweepSeries
from advisor.request.lists import CLOSED, listed
from advisor.request.texts import from_address
from advisor.ui import server
from advisor.ui.advise import token_time
from advisor.ui.parts import probe_job
from advisor.ui.parts.markup import block, plain_words, table

FOUND = Measurement(
    name="ram_read",
    value=4e10,
    unit="B/s",
    spread=0.02,
    threads=2,
    when="2026-11-21T00:00:00+00:00",
)


def test_texts_of_others_stand_on_a_page_as_they_are_typed():
    bad = "<img src=x onerror=alert(1)>"
    for shown in (block("oa-soft", bad), table(["What"], [[bad]], label="of others")):
        assert "&lt;img" in shown
        assert "<img" not in shown


def test_only_the_pages_know_streamlit_and_plotly():
    root = Path(__file__).parents[2] / "advisor"
    others = [path for path in root.rglob("*.py") if "ui" not in path.relative_to(root).parts]
    knowing = [
        path.name
        for path in others
        if re.search(r"^\s*(import|from) (streamlit|plotly)", path.read_text(), re.MULTILINE)
    ]
    assert others
    assert knowing == []


@pytest.mark.parametrize("value", ["abc", "nan", "inf", "-1", "0", "1e9", "1.5"])
def test_numbers_that_no_link_may_have(value):
    assert from_address({"users": value}).problems


def test_links_name_each_value_that_cannot_be_used_and_pass_by_foreign_keys():
    texts = from_address({"runtime": "lama.cpp", "users": "2", "utm_source": "mail"}).problems
    assert len(texts) == 1
    assert "llama.cpp" in texts[0]


@pytest.mark.parametrize("name", CLOSED)
def test_names_in_links_mean_the_same_in_any_case(name):
    for option in listed(name):
        for spelled in (option.upper(), option.lower(), f" {option} "):
            opened = from_address({name: spelled})
            assert opened.problems == ()
            assert getattr(opened.request, name) == option
    assert from_address({name: "no such name"}).problems


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Users (--users) is -3; allowed is 1 to 9.", "Users is -3; allowed is 1 to 9."),
        (
            "No GPU is called 'x'. `data/hardware/gpus.csv` lists those.",
            "No GPU is called \u201cx\u201d.",
        ),
        (
            "No CPU is called 'x'. `a/hosts.csv` lists those, `b.csv` their makers. Go on.",
            "No CPU is called \u201cx\u201d. Go on.",
        ),
        ("Type the model's name.", "Type the model's name."),
        ("It thinks; give --thinking short.", "It thinks; give \u201cThinking\u201d short."),
        ("Leave --no-such-thing out.", "Leave no such thing out."),
    ],
)
def test_messages_have_no_options_paths_and_quotes_of_python(text, words):
    assert plain_words(text) == words


def test_cost_lines_cross_where_both_cost_the_same():
    # 0 + 2 x = 30 + 0.5 x at x = 20.
    tokens = (0.0, 10.0, 30.0)
    slow, fast = (
        SweepSeries(name="", x_label="", y_label="", x=tokens, y=tuple(a + b * x for x in tokens))
        for a, b in ((0, 2), (30, 0.5))
    )
    assert crossing((slow, fast)) == pytest.approx(20.0)
    assert crossing((fast, fast)) is None


@pytest.mark.parametrize("speed", [0.01, 2.0, 5000.0])
def test_typing_never_flickers_faster_than_once_in_its_pause(speed):
    text = token_time.typing(speed)
    whole = {float(seconds) for seconds in re.findall(r"animation-duration:([\d.]+)s", text)}
    # 21 tokens of four characters, and the pause, in whole tokens.
    (pause,) = (seconds - 21 / speed for seconds in whole)
    assert 0.999 * token_time.PAUSE <= pause <= token_time.PAUSE + 1.001 / speed


def finished(prober):
    job = prober.start()
    until = time.monotonic() + 10
    while job.running and time.monotonic() < until:
        threading.Event().wait(0.01)
    assert not job.running
    return job


@pytest.fixture
def saved(monkeypatch):
    kept = []
    monkeypatch.setattr(local_machine, "save", kept.append)
    return kept


def measures_ram(part, _seconds, progress, _cancelled):
    progress(ProbeStep(share=1.0, seconds_left=0.0))
    if part == "ram":
        return (FOUND,)
    return ()


def test_measuring_saves_what_it_finds(monkeypatch, saved):
    monkeypatch.setattr(suite, "measure", measures_ram)
    job = finished(probe_job.Prober())
    assert saved == [(FOUND,)]
    assert job.outcome() == ("Measured and saved: RAM 40 GB/s (repeats within 2 %).", "note")


def test_one_probe_that_fails_leaves_the_other(monkeypatch, saved):
    def measure(part, *_):
        if part == "disk":
            raise ProbeError("The drive lies in memory.")
        return (FOUND,)

    monkeypatch.setattr(suite, "measure", measure)
    assert finished(probe_job.Prober()).troubles == {"disk": "The drive lies in memory."}
    assert saved == [(FOUND,)]


def test_a_folder_that_cannot_be_written_is_reported(monkeypatch):
    def refuse(_):
        raise StoreError("Measurements cannot be saved.")

    monkeypatch.setattr(local_machine, "save", refuse)
    monkeypatch.setattr(suite, "measure", measures_ram)
    assert "cannot be saved" in finished(probe_job.Prober()).outcome()[0]


def test_only_one_job_runs_at_a_time_and_it_can_be_stopped(monkeypatch, saved):
    gate = threading.Event()

    def wait(_part, _seconds, _progress, cancelled):
        while not cancelled():
            gate.wait(0.01)
        return ()

    monkeypatch.setattr(suite, "measure", wait)
    prober = probe_job.Prober()
    first = prober.start()
    assert prober.start() is first
    first.cancel()
    assert finished_job(first).outcome()[0].startswith("Stopped. Nothing was changed")
    assert saved == []


def finished_job(job):
    until = time.monotonic() + 10
    while job.running and time.monotonic() < until:
        threading.Event().wait(0.01)
    return job


def test_every_class_that_the_pages_name_has_a_rule_in_the_style_sheet() -> None:
    ui = Path(probe_job.__file__).parents[1]
    rules = set(re.findall(r"\.(oa-[a-z]+)", (ui / "parts/style.css").read_text(encoding="utf-8")))
    code = "\n".join(file.read_text(encoding="utf-8") for file in ui.rglob("*.py"))
    named = set(re.findall(r"\boa-[a-z]+\b(?!\{)", code))  # "oa-{shape}" is filled in
    assert "oa-chain" in named
    assert named <= rules


def test_what_a_page_loads_once_is_left_out_of_garbage_collection():
    """Each full collection would look through all that the catalogues hold."""
    gc.unfreeze()
    server.freeze_after.clear()
    app("method")
    first = gc.get_freeze_count()
    assert first > 10_000
    app("method")
    assert gc.get_freeze_count() <= first
