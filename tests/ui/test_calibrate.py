"""The Calibrate page in each of its states, with probes that answer at once."""

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
from imported_machine import COPY, DISK, PARTS, RAM, SERVER
from ui_app import app, chart_words, page_text, run

from advisor.calibration import imported_names, imported_store, local_machine
from advisor.calibration.measurement_file import to_json
from advisor.failures import ProbeError
from advisor.probes import suite
from advisor.probes.measurement import CurvePoint, Measurement, ProbeStep, title
from advisor.ui.calibrate import gauges, machine_list, machine_view
from advisor.ui.parts import probe_job
from advisor.ui.question import this_machine

GRID = replace(
    DISK,
    curve=tuple(
        CurvePoint(threads=depth, block=block, value=depth * 1e9, best=depth * 1.1e9)
        for block in (2**18, 2**22)
        for depth in (1, 4)
    ),
)
COPIES = replace(
    COPY,
    curve=tuple(
        CurvePoint(threads=1, block=2**at, value=at * 1e9, best=at * 1e9) for at in (18, 26)
    ),
)


@pytest.fixture(autouse=True)
def _own_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_PROBES", raising=False)
    monkeypatch.setattr(local_machine, "fingerprint", lambda: PARTS)
    this_machine.prober.clear()
    yield
    job = this_machine.prober().job
    if job is not None:
        job.cancel()
        ended(job)
    this_machine.prober.clear()


def ended(job: probe_job.ProbeJob) -> None:
    until = time.monotonic() + 20
    while job.running and time.monotonic() < until:
        threading.Event().wait(0.01)
    assert not job.running


def page(**parameters):
    return app("calibrate", **parameters)


def at(tab, **parameters):
    """The page with a tab open."""
    return page(machine_tab=tab, **parameters)


def bringing():
    return at("Another computer")


def measures(monkeypatch: pytest.MonkeyPatch, **answers: object) -> None:
    """Probes that answer with measurements, or raise."""

    def measure(part, _seconds, progress, _cancelled):
        progress(ProbeStep(share=1.0, seconds_left=0.0))
        answer = answers.get(part, ())
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(suite, "measure", measure)


def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes that go on until they are stopped."""

    def measure(_part, _seconds, progress, cancelled: Callable[[], bool]):
        progress(ProbeStep(share=0.5, seconds_left=2.0, doing="RAM, 4 threads"))
        while not cancelled():
            threading.Event().wait(0.01)
        return ()

    monkeypatch.setattr(suite, "measure", measure)


def started(test):
    test.button(key="calibrate_start").click()
    test.run()
    return test


def measured(test):
    started(test)
    job = this_machine.prober().job
    assert job is not None
    ended(job)
    return run(test)


def texts(test) -> list[str]:
    return [element.proto.text for element in test.get("progress")]


def test_never_measured():
    test = page()
    assert "was never measured" in page_text(test)
    assert test.button(key="calibrate_start").label == "Measure this machine"
    assert [radio.label.split(",")[0] for radio in test.radio] == ["How thoroughly"]


def test_measuring_shows_gauges_curves_and_the_prediction(monkeypatch):
    measures(monkeypatch, ram=(RAM,), disk=(GRID,), gpu=(COPIES,))
    test = measured(page())
    text = page_text(test)
    assert "Measured and saved" in text
    assert "This machine</span> reads its RAM at 150 GB/s" in text
    # AMD: EPYC 7763 has 8 channels of DDR4-3200, 204.8 GB/s; 150 of them are 73 %
    assert "73 % of the 205 GB/s in the datasheet of EPYC 7763" in text
    assert "Steady: repeats within 2 %" in text
    titles = [tab.label for tab in test.tabs]
    assert titles == [
        "Beside the datasheet",
        "Curves",
        "Effect on predictions",
        "Every measurement",
        "A running server",
        "Runs of others",
        "Measured machines",
        "Another computer",
    ]
    assert len(chart_words(at("Curves"))) == 3
    assert local_machine.load().figure("ram_read").value == 150e9


def test_the_full_pass_takes_its_time(monkeypatch):
    waits(monkeypatch)
    test = page()
    test.radio(key="calibrate_pace").set_value(test.radio(key="calibrate_pace").options[1])
    started(test)
    job = this_machine.prober().job
    assert job.full
    assert job.parts == tuple(suite.QUICK)
    assert job.whole == sum(suite.FULL.values())


def test_running_has_a_bar_for_each_part_and_can_be_stopped(monkeypatch):
    waits(monkeypatch)
    test = started(page())
    job = this_machine.prober().job
    while "ram" not in job.steps or job.steps["ram"].share == 0:
        threading.Event().wait(0.01)
    run(test)
    first, second, *_ = texts(test)
    assert first == "RAM: 4 threads, 2 s left"
    assert second == f"Drive: waits, {suite.QUICK['disk']:.0f} s"
    test.button(key="calibrate_stop").click()
    test.run()
    ended(job)
    assert "Stopped. Nothing was changed" in page_text(run(test))
    assert local_machine.load().measurements == {}


def test_a_second_visitor_waits_and_cannot_stop_the_first(monkeypatch):
    waits(monkeypatch)
    started(page())
    other = page()
    assert "being measured, by another visitor or in another tab" in page_text(other)
    assert not [
        runtime for runtime in other.button if runtime.key in ("calibrate_stop", "calibrate_start")
    ]


def test_after_a_reload_the_person_who_started_can_still_stop(monkeypatch):
    waits(monkeypatch)
    test = started(page())
    job = this_machine.prober().job
    again = page(**{this_machine.STARTED: test.query_params[this_machine.STARTED]})
    assert "in another tab" not in page_text(again)
    again.button(key="calibrate_stop").click()
    again.run()
    ended(job)
    assert job.cancelled
    assert "Stopped. Nothing was changed" in page_text(run(again))


def test_a_part_that_fails_unforeseen_costs_no_other(monkeypatch):
    measures(monkeypatch, ram=(RAM,), disk=ZeroDivisionError("x"), gpu=(COPY,))
    text = page_text(measured(page()))
    assert "Measured and saved" in text
    assert "Drive: Measuring failed (ZeroDivisionError)." in text
    assert list(local_machine.load().measurements) == ["ram_read", "h2d_pinned"]


def test_a_part_that_fails_says_why_and_the_others_count(monkeypatch):
    no_cuda = ProbeError("No CUDA driver is here; no GPU can be measured.")
    measures(monkeypatch, ram=(RAM,), disk=ProbeError("It lies in memory."), gpu=no_cuda)
    text = page_text(measured(page()))
    assert "Drive: It lies in memory." in text
    assert "GPU: No CUDA driver is here" in text
    assert list(local_machine.load().measurements) == ["ram_read"]


def test_nothing_that_could_be_measured(monkeypatch):
    refusals = {part: ProbeError(f"No {part}.") for part in suite.QUICK}
    measures(monkeypatch, **refusals)
    text = page_text(measured(page()))
    assert "Nothing could be measured." in text
    assert "RAM: No ram.</p>" in text
    assert "was never measured" in text


def test_a_folder_that_cannot_be_written_shows_what_was_found(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "file"))
    measures(monkeypatch, ram=(RAM,))
    text = page_text(measured(page()))
    assert "Measured, but shown here only. Measurements cannot be saved" in text
    assert "reads its RAM at 150 GB/s" in text


def test_little_space_is_reported_in_advance(monkeypatch):
    monkeypatch.setattr(machine_view, "free_space", lambda _: 2e9)
    assert "Only 1.9 GB is free" in page_text(page())


def test_free_space_of_a_folder_that_is_not_made_yet(tmp_path, monkeypatch):
    assert machine_view.free_space(tmp_path / "a" / "b") > 0

    def refused(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(machine_view.shutil, "disk_usage", refused)
    assert machine_view.free_space(tmp_path) is None


def test_switched_off_offers_the_import_instead(monkeypatch):
    monkeypatch.setenv("ADVISOR_PROBES", "off")
    local_machine.save([RAM])
    test = page()
    text = page_text(test)
    assert "Measuring is switched off on this server" in text
    assert "reads its RAM at 150 GB/s" in text
    assert not [button for button in test.button if button.key == "calibrate_start"]
    assert not [button for button in test.button if button.key == "really_this"]
    assert at("Another computer").button(key="import_now")


def test_stale_says_why_and_is_used():
    local_machine.save([replace(RAM, when="2025-01-01T10:00:00+00:00")])
    text = page_text(page())
    assert "Measured over 92 days ago: RAM" in text
    assert "on 1 January 2025" in text
    assert "Effect on predictions" in [tab.label for tab in page().tabs]


def test_changed_hardware_says_that_its_figures_rest(monkeypatch):
    local_machine.save([RAM])
    monkeypatch.setattr(local_machine, "fingerprint", lambda: replace(PARTS, cores=4))
    test = page()
    assert "64 cores, and 4 can be used now; probe again. Until then" in page_text(test)
    assert "Effect on predictions" not in [tab.label for tab in test.tabs]


def test_wide_spread_is_reported():
    local_machine.save([replace(RAM, spread=0.4)])
    text = page_text(page())
    assert "Repeats differ widely (RAM 40 %, each way)" in text
    assert "the machine is shared" in text


def test_a_result_that_spreads_by_more_than_half_is_not_saved(monkeypatch):
    measures(monkeypatch, ram=(replace(RAM, spread=0.51),), disk=(DISK,), gpu=())
    text = page_text(measured(page()))
    assert "repeats differ by more than half each way (RAM 51 %), so it is not saved" in text
    assert local_machine.load().figure("ram_read") is None
    assert local_machine.load().figure("disk_read_direct") is not None


def test_history_is_drawn_from_the_second_time_on():
    local_machine.save([RAM])
    assert not chart_words(at("Every measurement"))
    local_machine.save([replace(RAM, value=140e9, when="2026-11-21T10:00:00+00:00")])
    test = at("Every measurement")
    assert chart_words(test) == ["RAM over time, in GB/s"]
    assert page_text(test).count("<td class=''>RAM</td>") == 2


def test_a_damaged_file_is_reported(tmp_path):
    (tmp_path / local_machine.FILE_NAME).write_text("{")
    # The first page that reads it sets it aside; that is Advise.
    test = app()
    assert (tmp_path / f"{local_machine.FILE_NAME}.damaged").exists()
    test.switch_page("advisor/ui/pages/calibrate.py")
    assert "was never measured" in page_text(run(test))


def test_the_prediction_before_and_after(monkeypatch):
    local_machine.save([replace(RAM, value=75e9)])
    host = SimpleNamespace(
        notes=(),
        memory_total=PARTS.memory,
        name=PARTS.cpu,
        cores=64,
        sockets=1,
        instruction_sets=frozenset(),
        memory_available=PARTS.memory,
    )
    monkeypatch.setattr(local_machine.host_probe, "facts", lambda: host)
    monkeypatch.setattr(local_machine.gpu_probe, "gpus", lambda: ((), ()))
    text = page_text(at("Effect on predictions", model="Llama-3.1-70B", machine="this"))
    assert "Llama-3.1-70B, Q4_K_M, offloaded to RAM:" in text
    assert "tokens/s, was" in text
    # 75 GB/s are 37 % of the 204.8 that the datasheet of this processor says.
    assert "% slower" in text


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (3.0, 2.1, "M, offloaded to RAM: 2.1 tokens/s, was 3.0 tokens/s assumed (30 % slower)."),
        (2.0, 2.004, "M, offloaded to RAM: 2.0 tokens/s, as was assumed before measuring."),
        (None, None, "M fits nowhere on this machine"),
    ],
)
def test_the_change_in_words(before, after, words):
    result = machine_view.SpeedChange(placement="Offload to RAM", before=before, after=after)
    assert machine_view.sentence("M", [result]).startswith(words)


def test_the_change_is_of_the_runtime_chosen_on_advise() -> None:
    local_machine.save([RAM])
    test = app(runtime="Ollama", model="Llama-3.1-70B")
    test.query_params["machine_tab"] = "Effect on predictions"
    test.switch_page("advisor/ui/pages/calibrate.py")
    assert "Decode speed in Ollama, with the request last asked" in page_text(run(test))
    assert "Decode speed in llama.cpp, with" in page_text(at("Effect on predictions"))


def test_another_model_can_be_asked_about(monkeypatch):
    local_machine.save([RAM])
    test = at("Effect on predictions")
    test.selectbox(key="effect_model").select("Qwen3-8B")
    assert "Qwen3-8B, Q4_K_M" in page_text(run(test))


def upload(test, content: str, name="server"):
    test.file_uploader(key="import_file").upload("machine.json", content.encode())
    test.text_input(key="import_name").set_value(name)
    test.button(key="import_now").click()
    return run(test)


def test_a_machine_is_brought_looked_at_and_deleted():
    test = upload(bringing(), json.dumps(to_json(SERVER)))
    text = page_text(test)
    assert "Imported server with 3 measured figures" in text
    assert "server</span> reads its RAM at 150 GB/s, its drive at 6.4 GB/s and copies" in text
    assert not [button for button in test.button if button.key == "calibrate_start"]
    test = at("Measured machines", measured="server")
    assert [element.proto.label for element in test.get("download_button")] == ["Export"]
    test.button(key="really_server").click()
    text = page_text(run(test))
    assert "Deleted the measurements of server." in text
    assert "was never measured" in text
    assert imported_names.names() == ()


def test_a_pasted_result_is_taken_with_what_the_terminal_shows_before_it():
    test = bringing()
    test.text_area(key="import_text").set_value(
        f"ram_read 150 GB/s [8 threads]\n{json.dumps(to_json(SERVER), indent=1)}\n"
    )
    test.text_input(key="import_name").set_value("server")
    test.button(key="import_now").click()
    assert "Imported server with 3 measured figures" in page_text(run(test))
    test = bringing()
    test.text_area(key="import_text").set_value("bash: python: command not found")
    test.text_input(key="import_name").set_value("other")
    test.button(key="import_now").click()
    assert "What was pasted holds no measurements of a machine" in page_text(run(test))


def test_an_outcome_stays_until_the_next_action_or_another_page() -> None:
    imported_store.keep(SERVER, "server")
    test = at("Measured machines")
    test.text_input(key="newname_server").set_value("this")
    test.button(key="renamed_server").click()
    # A run that overtakes the one that shows the outcome finds it as well.
    assert "give another name" in page_text(run(test))
    assert "give another name" in page_text(run(test))
    test.text_input(key="newname_server").set_value("rack")
    test.button(key="renamed_server").click()
    text = page_text(run(test))
    assert "Renamed server to rack" in text
    assert "give another name" not in text
    test.switch_page("advisor/ui/pages/method.py")
    run(test)
    test.switch_page("advisor/ui/pages/calibrate.py")
    assert "Renamed server" not in page_text(run(test))


def test_a_refused_import_keeps_its_inputs() -> None:
    test = bringing()
    test.number_input(key="import_ram").set_value(128)
    upload(test, json.dumps(to_json(SERVER)), "this")
    assert "give another name" in page_text(test)
    assert test.number_input(key="import_ram").value == 128
    assert test.text_input(key="import_name").value == "this"
    test.text_input(key="import_name").set_value("server")
    test.button(key="import_now").click()
    assert "Imported server with 3 measured figures" in page_text(run(test))


def test_a_machine_that_is_renamed_stays_chosen():
    imported_store.keep(SERVER, "server")
    test = at("Measured machines", measured="server")
    test.text_input(key="newname_server").set_value("rack 4")
    test.button(key="renamed_server").click()
    text = page_text(run(test))
    assert "Renamed server to rack 4." in text
    assert "rack 4</span> reads its RAM at 150 GB/s" in text


def test_its_link_opens_advise_with_its_measurements():
    imported_store.keep(SERVER, "server")
    (link,) = (element.proto.url for element in at("Measured machines").get("link_button"))
    query = dict(parse_qsl(urlsplit(link).query))
    assert query["machine"] == "server"
    opened = app(**query)
    text = page_text(opened)
    assert "RTX 4090" in text
    assert "RAM 150 GB/s, measured" in text
    assert "Please note" not in text


def test_parts_are_asked_where_the_file_does_not_name_them():
    test = bringing()
    test.selectbox(key="import_gpu").select("RTX 3090")
    test.number_input(key="import_ram").set_value(128)
    upload(test, json.dumps([to_json(SERVER)["measurements"][0]]), "bare")
    fingerprint = imported_store.probed("bare").fingerprint
    assert (fingerprint.gpus, fingerprint.memory) == (("RTX 3090",), 128 * 2**30)


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        ("{", "server", "machine.json holds no measurements"),
        (json.dumps(to_json(SERVER)), "this", "give another name"),
        (json.dumps(to_json(SERVER)), "../x", "cannot be the name of a machine"),
        (json.dumps(to_json(SERVER)), "", "cannot be the name of a machine"),
    ],
)
def test_a_file_that_cannot_be_imported_is_reported(content, name, words):
    assert words in page_text(upload(bringing(), content, name))
    assert imported_names.names() == ()


def test_importing_without_a_file_or_too_large_or_too_many(monkeypatch):
    test = bringing()
    test.button(key="import_now").click()
    assert "choose a file first." in page_text(run(test))
    monkeypatch.setattr(machine_list.measurement_file, "LARGEST", 3)
    assert "3 are allowed" in page_text(upload(bringing(), "[7, 8]"))
    monkeypatch.setattr(machine_list.measurement_file, "LARGEST", 10_000)
    monkeypatch.setattr(machine_list, "MOST", 0)
    assert "delete one first" in page_text(upload(bringing(), "[7, 8]"))


def test_text_of_a_file_is_never_html():
    image = "<img src=x onerror=alert(1)>"
    parts = replace(PARTS, cpu=image, gpus=(image,))
    row: Measurement = replace(RAM, note=image, name=image)
    imported_store.keep(replace(SERVER, fingerprint=parts, history=(row,)), "bad")
    for tab in ("Every measurement", "Measured machines"):
        text = page_text(at(tab, measured="bad"))
        assert "&lt;img src=x" in text
        assert "<img" not in text


@pytest.mark.parametrize(
    ("spread", "words"),
    [(0.05, "Steady"), (0.12, "Fairly steady"), (0.25, "Uneven"), (0.26, "Unsteady")],
)
def test_steadiness_in_words(spread, words):
    assert gauges.steadiness(spread).split(":")[0] == words


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("2026-11-21T11:59:30+00:00", "just now"),
        ("2026-11-21T11:15:00+00:00", "45 minutes ago"),
        ("2026-11-21T09:00:00", "3 hours ago"),
        ("2026-11-18T11:00:00+00:00", "3 days ago"),
        ("2026-11-01T11:00:00+00:00", "on 1 November 2026"),
    ],
)
def test_ages_in_words(when, words):
    assert gauges.ago(when, gauges.moment("2026-11-21T12:00:00+00:00")) == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ram_read", "RAM"),
        ("ram_read_node1", "RAM of node 1"),
        ("h2d_pinned_gpu1", "To the GPU, pinned 2"),
        ("engine_read_q4_k", "llama.cpp, Q4_K weights"),
        ("engine_prompt_q8_0", "llama.cpp, prompt in Q8_0"),
        ("engine_layer", "llama.cpp, each layer"),
        ("engine_expert_layer", "llama.cpp, each expert layer"),
        ("engine_attention", "llama.cpp, attention"),
        ("engine_attention_128_4", "llama.cpp, attention, heads of 128, 4 to a key"),
        ("npu_read", "npu read"),
    ],
)
def test_figures_have_names(name, words):
    assert title(name) == words


def test_an_unmeasured_machine_says_what_it_is_counted_with():
    text = page_text(at("Beside the datasheet"))
    assert "Until then counted with" in text
    assert re.search(r"RAM, read by the processor.*?GB/s.*?measured in 2\.5 s", text, re.DOTALL)
    assert "python -m" not in text
