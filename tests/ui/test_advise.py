"""The Advise page in its main states."""

import json
import re
import shlex
from html import unescape

import pytest
from ui_app import app, chart_words, copied, page_text, press, run, shared_link, tab, unfolded

from advisor.advice.advise import answer
from advisor.advice.finder.runnable import quality_rows
from advisor.advice.words.verdict import MOST_WORDS
from advisor.calibration import local_machine
from advisor.calibration.local_machine import Calibration
from advisor.cli.main import main
from advisor.request.request import Request
from advisor.ui.advise import page
from advisor.ui.advise.ways import purchase
from advisor.ui.advise.ways import ways as ways_of

PC = "gaming PC with a 3060 12GB and 32 GB RAM"
TABS = ("Run it", "What it costs", "Where the time goes", "All runtimes", "Sources")


@pytest.fixture(autouse=True)
def _own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_PROBES", raising=False)


def verdict(test):
    """The two lines."""
    text = page_text(test)
    lines = re.search(r"<h1[^>]*>(.*?)</h1>", text), re.search(r"<p class='oa-way'>(.*?)</p>", text)
    return tuple(unescape(re.sub(r"<[^>]+>", "", line[1])) for line in lines if line)


def ways(test):
    """Names of the cards that make it better."""
    return [
        unescape(name)
        for name in re.findall(r"<span class='oa-name'>([^<]*)</span>", page_text(test))
        if name
        in (
            "Another model",
            "A smaller format",
            "A free setting",
            "Thinking off",
            "More RAM",
            "A bigger GPU",
            "A GPU",
            "A bigger machine",
            "A machine",
            "Rent or API",
        )
    ]


def test_first_visit_shows_a_verdict_three_placements_and_four_ways():
    test = app()
    text = page_text(test)
    for title in ("In the GPU", "Offload to RAM", "Offload to NVMe"):
        assert f"<span class='oa-name'>{title}</span>" in text
    assert ways(test) == ["Another model", "Thinking off", "A bigger GPU", "Rent or API"]
    first, second = verdict(test)
    assert re.search(r"[\d.]+ tokens a second", first)
    assert second.startswith("An answer of")
    assert len(f"{first} {second}".split()) <= MOST_WORDS
    assert "Counted with 40 answers a day" in text


def test_first_visit_without_gpu_describes_a_common_machine():
    test = app()
    assert test.text_input(key="in_machine").value == PC
    assert test.selectbox(key="in_model").value == "Qwen3.6-27B"


@pytest.mark.parametrize("title", TABS)
def test_a_tab_is_drawn_when_it_is_opened(title):
    closed = page_text(app())
    assert len(page_text(tab(app(), title))) >= len(closed)


def test_closed_tabs_draw_nothing_and_open_ones_say_every_number():
    test = app()
    assert not test.get("plotly_chart")  # a browser would read 4.7 MB before the first of them
    assert chart_words(test) == []
    costs = tab(app(model="Llama-3.1-70B", machine=PC), "What it costs")
    assert len(chart_words(costs)) == 2  # options, costs
    assert page_text(costs).count("class='oa-bars") == 1  # the verdict's inputs
    times = tab(app(), "Where the time goes")
    assert len(chart_words(times)) == 1  # layers
    assert page_text(times).count("class='oa-bars") == 2  # memory, time
    assert all(len(words) > 10 for words in (*chart_words(costs), *chart_words(times)))


def test_another_machine_changes_the_answer_and_states_the_earlier_speed():
    test = app(machine=PC)
    before = page_text(test)
    assert "oa-was" not in before
    test.text_input(key="in_machine").set_value("RTX 5090 with 64 GB RAM")
    after = page_text(run(test))
    assert "RTX 5090" in after
    assert "oa-was" in after


def test_a_small_model_needs_no_offloading_and_the_others_are_folded():
    test = app(model="Llama-3-8B", machine=PC)
    text = page_text(test)
    assert "Runs well" in verdict(test)[0]
    assert "<details class='oa-more'><summary>Other placements</summary>" in text
    assert "Nothing needs to change" in text
    assert "A bigger GPU" in ways(test)  # what the program exists for, also where it does not pay
    times = page_text(tab(test, "Where the time goes"))
    assert "Nothing needs offloading; this is what RAM would give." in times


def test_a_placement_that_few_run_says_so_where_it_is_faster_than_the_one_shown():
    text = page_text(app(model="Gemma-4-26B-A4B", machine="RTX 4060 laptop 8gb 16gb"))
    assert re.search(r"for an answer in [^<]+, which few run", text)


def test_too_slow_a_model_has_a_faster_one_that_is_rated_as_well_and_can_be_taken():
    test = app(model="Llama-3.3-70B", machine=PC)
    assert "Another model" in ways(test)
    press(test, "take_0")
    assert test.session_state["request"].model != "Llama-3.3-70B"
    assert "Runs well" in verdict(test)[0]


def test_a_bigger_gpu_can_be_tried_and_undone():
    test = app(model="Gemma-3-27B", machine=PC)
    before = verdict(test)
    place = ways(test).index("A bigger GPU")
    press(test, f"take_{place}")
    request = test.session_state["request"]
    assert f"{request.gpu} in its place" in before[1]
    assert request.ram_gb == 32
    assert verdict(test) != before
    test.button(key="undo").click()
    assert verdict(run(test)) == before


@pytest.mark.parametrize(
    ("stated", "changed"),
    [
        ({"model": "Llama-3.1-8B", "machine": "rtx 3070 32gb", "context": "65536",
          "reading_tps": "50"}, {"context": 8192}),
        ({"model": "Gemma-3-27B", "machine": "rtx 3090 ti 64gb", "context": "32768",
          "prompt": "16000", "kv_in_ram": "true"}, {"kv_in_ram": None}),
    ],
)  # fmt: skip
def test_a_free_setting_is_taken_by_its_card(stated, changed):
    test = app(**stated)
    before = verdict(test)
    press(test, f"take_{ways(test).index('A free setting')}")
    request = test.session_state["request"]
    assert {name: getattr(request, name) for name in changed} == changed
    assert verdict(test) != before


def test_a_smaller_format_that_is_of_no_use_either_is_not_offered():
    assert "A smaller format" not in ways(app(model="DeepSeek-R1", machine=PC))


def test_the_purchase_of_the_card_stands_in_the_table_and_over_what_it_depends_on():
    test = app(machine=PC)
    card = re.search(
        r"A bigger GPU</span>.*?<p class='oa-soft'>(.*?) (?:added|in its place)", page_text(test)
    )
    assert card
    text = page_text(tab(test, "What it costs"))
    assert card[1] in text.partition("aria-label='Options'")[2]
    assert f"**What the verdict depends on**: {card[1]}" in [each.value for each in test.markdown]


def test_the_cheaper_of_rent_and_api_stands_first():
    text = page_text(app(machine=PC))
    card = text.partition("Rent or API")[2]
    tag, second = (
        float(price.replace(",", "")) for price in re.findall(r"\$([\d.,]+\d) a month", card)[:2]
    )
    assert tag <= second
    # Both have a speed, so that the one in the figure is not taken for the other's.
    assert re.search(r"[Bb]y API from OpenRouter.* [\d.]+ tokens/s for \$", text)


def test_a_way_that_costs_by_the_month_leads_to_the_costs():
    test = app(model="Gemma-3-27B", machine=PC)
    place = ways(test).index("Rent or API")
    words = "".join(each.value for each in press(test, f"take_{place}").markdown)
    assert "Cost of a month against speed" in words


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"model": "Llama-3-8B", "machine": PC}, "faster than you read"),
        ({"model": "Llama-3.3-70B", "machine": PC}, "minutes per answer"),
        ({"model": "DeepSeek-R1", "machine": PC}, "from the drive about"),
        ({"model": "DeepSeek-R1", "machine": PC, "runtime": "vLLM"}, "memory are missing"),
        ({"model": "Llama-3.3-70B", "machine": "Mac Studio M4 Max 64GB"}, "tokens a second"),
        ({"model": "Qwen3-30B-A3B", "machine": PC}, "faster than you read"),
        (
            {"model": "Qwen3-32B", "machine": "2x RTX 3090 with 128 GB RAM", "users": "8"},
            "to each of 8 users",
        ),
        ({"model": "Gemma-3-27B", "gpu": "none", "ram_gb": "32"}, "slower than you read"),
    ],
    ids=["fits", "slow", "drive", "nothing", "mac", "experts", "users", "no card"],
)
def test_eight_cases_are_judged_in_words(parameters, words):
    test = app(**parameters)
    assert words in verdict(test)[0]
    assert any(way.startswith(("A bigger", "A GPU")) for way in ways(test))


def test_a_mac_is_told_of_a_bigger_machine():
    way = verdict(app(model="Qwen3-8B", machine="Mac Studio M4 Max 64GB"))[1]
    assert "a bigger machine would save little" in way


def test_ram_large_enough_for_the_model_is_stated_on_the_drives_card():
    text = page_text(tab(app(machine=PC), "Where the time goes"))
    assert "Your RAM holds this; from the drive it would be" in text


def test_a_model_that_ram_cannot_hold_says_how_much_is_short():
    test = tab(app(model="DeepSeek-R1", gpu="RTX 3090", ram_gb="16"), "Where the time goes")
    assert re.search(r"oa-grey'>[\d.]+ GB too big", page_text(test))
    assert "more RAM would hold it" in page_text(test)


def test_experts_model_runs():
    test = tab(app(model="Qwen3-235B-A22B", gpu="RTX 3090", ram_gb="128"), "Sources")
    assert "routed experts" in page_text(test)


def test_refused_model_says_why():
    text = page_text(app(model="RadixArk/Kimi-K3-DSpark"))
    assert "drafts tokens for another model" in text
    assert "There is no answer until this is clear." in text


def test_a_model_of_its_maker_alone_has_the_nearest_at_home_as_a_button():
    test = app(model="chatgpt", machine=PC)
    text = page_text(test)
    assert "it runs at its maker alone" in text
    speed = re.search("Nearest at home: gpt-oss-20b, (.+?) tokens/s on this machine", text)[1]
    test.button(key="meant_gpt-oss-20b").click()
    assert "Runs well" in verdict(run(test))[0]
    assert f"oa-figure'>{speed}<" in page_text(test)
    unclear = page_text(app(model="chatgpt", machine="toaster"))
    assert "Nearest at home: gpt-oss-20b." in unclear  # without a speed on no machine


def test_an_unknown_card_has_close_ones_as_buttons_that_keep_the_rest():
    test = app(machine="rtx 9090 with 32 GB RAM")
    text = page_text(test)
    assert "I know no GPU called \u201crtx 9090\u201d. Did you mean:" in text
    assert "gpus.csv" not in text
    test.button(key="meant_RTX 5090").click()
    run(test)
    assert test.text_input(key="in_machine").value == "RTX 5090 with 32 GB RAM"
    assert "tokens a second" in verdict(test)[0]


def test_an_unknown_model_of_a_known_family_has_its_newest_ones_as_buttons():
    test = app(model="gemma 99", machine=PC)
    assert "I know no model called \u201cgemma 99\u201d. Did you mean:" in page_text(test)
    test.button(key="meant_Gemma-4-31B").click()
    assert "tokens a second" in verdict(run(test))[0]
    assert "Did you mean" not in page_text(app(model="asdfgh", machine=PC))


def test_the_match_of_each_name_is_a_chip():
    text = page_text(app(model="unsloth/Qwen3.6-27B-GGUF"))
    assert "taken as Qwen3.6-27B" in text


def test_a_stand_in_states_its_basis():
    text = page_text(app(model="Foo-35B-A3B", gpu="RTX 3090", ram_gb="64"))
    assert "Foo-35B-A3B is not known. Its name says 35 B weights, 3 B of them active" in text


def test_the_makers_own_format_is_the_usual_one():
    test = app(model="gpt-oss-120b", gpu="H100 80GB SXM", ram_gb="128")
    assert ">assumed: MXFP4, context 8k</button>" in page_text(test)


def test_refused_format_says_why():
    text = page_text(app(model="Llama-3-8B", format="MXFP4"))
    assert "MXFP4 does not fit" in text


def test_no_gpu():
    test = app(gpu="none", ram_gb="64")
    assert "No GPU" in page_text(test)
    (drawn,) = chart_words(tab(test, "Where the time goes"))  # no layers to put anywhere
    assert drawn == "Tokens a second over GB of RAM, with one drive and with two"


def test_unified_memory_is_one_pool_and_has_no_link():
    test = app(gpu="Apple M3 Ultra 80c", model="gpt-oss-120b", format="MXFP4")
    assert "<span class='oa-name'>In shared memory</span>" in page_text(test)
    assert "PCIe" not in page_text(test)


def test_names_in_a_link_may_be_in_any_case():
    record = {
        "model": "llama-3.1-8b", "format": "q8_0", "context": "16K", "machine": "ANOTHER MACHINE",
        "gpu": "rtx 4090", "runtime": "LLAMA.CPP", "kv": "Q8_0", "cpu": "ryzen 9 7950x",
    }  # fmt: skip
    test = app(**record)
    request = test.session_state["request"]
    assert (request.runtime, request.kv_type, request.context) == ("llama.cpp", "q8_0", 16_384)
    assert "Shown instead" not in page_text(test)
    assert "RTX 4090" in page_text(test)
    assert "runtime=llama.cpp" in shared_link(test)


def test_numbers_open_with_formula_and_origin():
    test = app()
    assert "Time of a token, by part" not in page_text(test)
    text = page_text(press(test, "why"))
    assert "Time of a token, by part" in text
    assert "What it rests on" in text
    assert "RAM, sustained read" in text
    assert "assumed" in text


def test_own_rent_is_used():
    test = app(gpu="RTX 3090", ram_gb="64", model="Llama-3.1-70B", own_rent="L40S=0.11")
    assert "$0.11 an hour each, as you typed" in page_text(tab(test, "What it costs"))


def test_who_has_nothing_yet_is_answered():
    test = app(model="Llama-3.3-70B", machine=PC, cards_owned="nothing")
    text = page_text(tab(test, "What it costs"))
    assert "oa-verdict" in text
    assert "Cost of a month, waiting included" in "".join(
        [text, *(heading.value for heading in test.subheader)]
    )


def test_amounts_are_typed_and_repeated_in_the_chosen_currency():
    # 2,000 euros are 2,500 dollars at 1.25
    test = app(
        gpu="RTX 3090",
        ram_gb="64",
        model="Llama-3.1-70B",
        currency="EUR",
        usd_rate="1.25",
        own_price="RTX 5090=2000",
        own_rent="L40S=0.1",
        resale="300",
    )
    text = page_text(tab(test, "What it costs"))
    assert "\u20ac2,000, as you typed" in text
    assert "\u20ac0.10 an hour each, as you typed" in text
    assert "$2,500" not in text


def test_this_machine_offers_to_measure_what_is_assumed():
    test = app(machine="this", model="Qwen3-4B")
    # 2.5 s for RAM and 5 s for the drive, as the quick pass plans them.
    assert test.button(key="measure_certainty").label == "Measure RAM and drive (about 8 s)"


def test_probes_switched_off_says_so(monkeypatch):
    monkeypatch.setenv("ADVISOR_PROBES", "off")
    test = app(machine="this", model="Qwen3-4B")
    assert "This server is not measured" in page_text(test)
    assert "measure_certainty" not in {button.key for button in test.button}


def test_stale_calibration_is_reported(monkeypatch, tmp_path):
    # A saving that no other test made, so that nothing remembered is used.
    (tmp_path / local_machine.FILE_NAME).write_text(json.dumps({}))
    old = Calibration(stale="Measured over 92 days ago: ram_read; probe again.")
    monkeypatch.setattr(local_machine, "load", lambda: old)
    assert "Measured over 92 days ago" in page_text(app(machine="this", model="Qwen3-4B"))


def test_assumed_ram_speed_is_reported_and_a_typed_one_is_not():
    assert "The memory speed is assumed" in page_text(app())
    assert "The memory speed is assumed" not in page_text(app(machine=PC, ram_gbs="60"))


def test_the_assumed_speed_that_bounds_the_answer_is_named():
    read = {"model": "Llama-3.3-70B", "machine": "MacBook Pro M4 Pro 24GB"}
    assert "The speed of the drive is assumed" in page_text(app(**read))
    assert "The speed of the drive is assumed" not in page_text(app(**read, disk_gbs="5"))


def test_a_machine_may_be_named():
    test = app(machine="Mac Studio M3 Ultra 512GB", model="gpt-oss-120b")
    text = page_text(test)
    assert "M3 Ultra" in text
    assert "oa-way" in text
    assert "machine=Mac+Studio+M3+Ultra+512GB" in shared_link(test)


@pytest.mark.parametrize(
    "typed",
    [
        {"machine": "Toaster 9"},
        {"gpu": "Toaster 9"},
        {"gpu": "RTX 3090 + Toaster 9"},
        {"gpu": "RTX 3090", "cpu": "Toaster 9"},
    ],
    ids=["machine", "gpu", "second gpu", "cpu"],
)
def test_hardware_of_an_unknown_name_gets_a_message_and_no_answer(typed):
    test = app(**typed)
    assert test.exception == []
    text = page_text(test)
    assert "Toaster 9" in text
    assert "I know no" in text
    assert "oa-way" not in text


def test_drafted_tokens_are_in_the_link_and_who_needs_an_acceptance_is_told():
    record = {
        "model": "Qwen3-32B", "format": "AWQ", "gpu": "RTX 5090", "runtime": "vLLM",
        "draft": "eagle", "cached": "100",
    }  # fmt: skip
    test = app(**record, acceptance="0.7")
    code = shared_link(test) + "".join(copied(test))
    assert "draft=eagle" in code
    assert "acceptance=0.7" in code
    assert '"method": "eagle3"' in code
    times = page_text(tab(test, "Where the time goes"))
    assert "Each step checks 3 tokens drafted by eagle, 70 % accepted." in times
    told = page_text(app(**record))
    assert "Drafting by eagle needs an acceptance" in told
    assert "--acceptance" not in told


def test_stated_software_is_told_beside_the_answer():
    arc = {"model": "Llama-3.1-8B", "gpu": "Arc A770"}
    assumed = page_text(tab(app(**arc), "Sources"))
    assert "llama.cpp with SYCL is assumed" in assumed
    old = page_text(app(**arc, driver="mesa 24.2"))
    assert "With Mesa 24.2, tokens are taken at 0.36" in old
    assert "is assumed; for" not in old
    wrong = page_text(app(**arc, driver="nvidia 575"))
    assert "allowed is mesa or rocm with a version" in wrong


def test_the_command_in_the_sources_gives_the_same_verdict(capsys) -> None:
    test = tab(app(machine=PC, model="Llama-3.1-70B", replies_per_day="100"), "Sources")
    line = next(text for text in copied(test) if " advise " in text)
    assert "--replies-per-day 100" in line
    arguments = shlex.split(line)[3:]
    assert main([*arguments, "--json"]) == 0
    answered = json.loads(capsys.readouterr().out)["verdict"]
    lines = answered.splitlines()
    assert lines[:2] == list(verdict(test))
    told = page_text(test) + page_text(tab(test, "What it costs"))
    assert all(line in told for line in lines[2:])


def test_a_rented_machine_by_name_counts_its_rent_alone() -> None:
    """Nobody owns it: no resale value, and the price on record until a rent is typed."""
    test = app(machine="g6e.xlarge", model="Qwen3-32B")
    text = page_text(tab(test, "What it costs"))
    assert "tied up" not in text
    dearer = app(machine="g6e.xlarge", model="Qwen3-32B", rented_at="3")
    assert page_text(tab(dearer, "What it costs")) != text
    assert "--rented-at 3" in "".join(copied(tab(dearer, "Sources")))


def test_changed_speeds_are_typed_into_the_sources_of_a_measured_run():
    test = unfolded(app(machine=PC), "diagnose")
    assert test.number_input(key="measured_decode").value is None


def test_where_no_model_rated_as_well_runs_the_best_that_does_is_named():
    best = next(iter(sorted(quality_rows().values(), key=lambda row: -row.score)))
    text = page_text(app(model=best.model, machine="RTX 4060 8GB, 16 GB RAM"))
    assert "the best rated that keeps up here" in text
    assert f"against {best.score:.0f}" in text


@pytest.mark.parametrize("gpu", ["H100 SXM", "RTX 3060 12GB"])
def test_the_tab_of_the_browser_says_the_verdicts_speed(gpu: str) -> None:
    told = answer(Request(model="Qwen3-30B-A3B", gpu=gpu, ram_gb=64).nouns())
    (speed,) = re.findall(r"([\d.,]+) tokens/s$", page.title(told))
    assert re.search(rf"\b{re.escape(speed)} tokens a second", told.advice.verdict)


def test_a_size_of_memory_is_asked_back_with_machines_that_may_have_it():
    test = app(machine="16 GB", model="Qwen3-8B")
    text = page_text(test)
    assert "I read 16 GB as memory. Which machine has it?" in text
    assert "--ram-gb" not in text
    test.button(key="has_RTX 4060").click()
    run(test)
    assert test.text_input(key="in_machine").value == "RTX 4060 with 16 GB RAM"
    assert "tokens a second" in verdict(test)[0]


@pytest.mark.parametrize(
    ("typed", "words", "limit"),
    [
        ("$1,500", "Machines under $1,500", "max_usd=1500"),
        ("budget of 3000 dollars", "Machines under $3,000", "max_usd=3000"),
        ("2000 EUR", "Machines, by their budget", "/find?"),  # its rate is typed there
    ],
)
def test_an_amount_of_money_leads_to_the_machines_that_it_may_buy(typed, words, limit):
    text = page_text(app(machine=typed, model="Qwen3-8B"))
    (address,) = re.findall(rf"href='([^']+)' target='_self'>{re.escape(words)}", text)
    assert limit in address


def test_who_cannot_serve_all_users_is_not_told_so_in_green():
    text = page_text(app(machine="rtx 4090 64gb", model="Qwen3-32B", users="20"))
    assert re.search(r"oa-partly-text'>Not enough:", text)


def test_without_a_machine_the_servers_own_stands_nowhere():
    text = page_text(test := app(model="gpt-oss-20b", machine="nothing"))
    assert "You have no machine for it yet." in text
    assert "No machine yet" in text
    assert "Two ways to run it" in text
    assert "A bigger machine" not in text
    nouns = Request(model="gpt-oss-20b", machine="nothing").nouns()
    assert page.title(answer(nouns)) == "gpt-oss-20b: no machine yet"
    for told in ("Offload to RAM", "certainty", "GB RAM", "assumed: NVMe", "Measure RAM"):
        assert told not in text, told
    assert not test.tabs
    assert [shown.label for shown in test.expander] == ["What it costs"]


def test_without_a_machine_the_costs_are_folded_until_a_card_asks_for_them():
    """A tab is always open: its table made a phone's page 4,200 px long, of 2,200 allowed."""
    test = app(model="gpt-oss-20b", machine="nothing")
    assert not test.multiselect
    (key,) = re.findall(r"data-press='(take_\d)'>What it costs<", page_text(test))
    assert [field.label for field in press(test, key).multiselect] == ["Show also"]


def test_notices_stand_in_one_box():
    test = app(model="gemma-3-12b", machine="RTX 3090 64gb", images="4")
    text = page_text(test)
    assert text.count("oa-notice oa-warning") == 1


def test_the_card_of_an_office_pc_says_that_its_case_takes_half_height():
    stated = {"max_usd": "300", "prompt": "800", "output": "250", "texts": "house"}
    machine = "HP EliteDesk 800 G3 SFF i5-6500 32GB"
    text = page_text(app(model="gemma-3-12b", machine=machine, **stated))
    assert "Take it in half height, as the case needs" in text


def test_a_stated_setting_that_is_decided_against_is_the_first_card_and_is_taken_back():
    stated = {"context": "32768", "prompt": "6000", "reading_tps": "20", "swa_full": "true"}
    test = app(model="gemma-3-12b", machine="Ryzen 5 5600, RTX 3060 12GB, 32GB", **stated)
    text = page_text(test)
    assert text.index("A free setting") < text.index("A bigger GPU")
    assert "A KV cache of the sliding windows alone." in text
    press(test, "take_0")
    assert "Runs well" in page_text(test)


def test_thinking_off_that_a_verdict_names_has_a_card_where_its_decision_has_none() -> None:
    bought = app(model="Qwen3-8B", machine="dell optiplex 7060 sff 16gb", max_usd="400")
    assert "thinking off" in verdict(bought)[1]
    assert "Thinking off" in ways(bought)
    idle = app(model="Qwen3-14B", machine="RTX 4060 8gb 32gb, and an idle RX 6700 XT")
    assert "put to work" in verdict(idle)[1]
    assert "Thinking off" in ways(idle)


def test_an_idle_card_is_shown_and_put_to_work_by_its_card() -> None:
    test = app(model="Qwen3-32B", machine="RTX 3060 12GB with 64 GB RAM, RTX 3090 in the drawer")
    assert "RTX 3090 24 GB, idle" in page_text(test)
    assert ways(test)[:2] == ["A free setting", "Thinking off"]
    press(test, "take_0")
    request = test.session_state["request"]
    assert request.gpu == "RTX 3060 12GB + RTX 3090"
    assert request.ram_gb == 64
    assert ", idle" not in page_text(test)
    assert "Runs well" in verdict(test)[0]


def test_a_card_that_a_stated_backend_leaves_out_is_put_to_work_without_that_backend() -> None:
    test = app(model="Qwen3-32B", machine="RTX 3090, 64 GB", backend="cpu")
    press(test, "take_0")
    request = test.session_state["request"]
    assert (request.gpu, request.backend) == ("RTX 3090", None)


def test_a_purchase_that_would_do_as_well_is_the_one_on_the_card() -> None:
    """An office PC of about reading speed: a card of 75 W, or none."""
    machine = "OptiPlex 7060 i5-8500 16GB"
    test = app(model="Qwen3-8B", machine=machine, think="off", replies_per_day="30")
    (close,) = re.findall(r"It is close: (.+?) added for (\S+) would do as well", verdict(test)[1])
    card = re.search(r"oa-name'>A GPU</span>.*?</p>", page_text(test))
    assert card
    assert all(words in card[0] for words in close)


def test_the_price_tag_is_what_is_paid_first_and_the_card_says_what_the_sale_gives_back() -> None:
    request = Request(model="Qwen3.6-27B", machine=PC)
    bigger = next(way for way in ways_of(answer(request.nouns())) if way.name == "A bigger GPU")
    option = purchase(answer(request.nouns()))
    assert bigger.price == f"${option.price.usd:,.0f}"
    sold = re.search(r"; yours sells for \$(\d+)\.", bigger.text)
    assert float(sold[1]) == pytest.approx(option.price.usd - option.upfront, abs=0.5)


def test_a_program_whose_lines_are_remarks_is_none_to_run_it_with() -> None:
    """FlexLLMGen runs OPT alone: for other models its lines say so, and are no command."""
    assert "FlexGen" not in page_text(app(model="Qwen3-32B", machine="RTX 3090 64gb"))


def test_what_is_missing_is_one_figure_in_the_verdict_and_on_the_card() -> None:
    test = app(model="DeepSeek-R1", machine="2x RTX 3090, Threadripper, 256 GB DDR4")
    (missing,) = re.findall(r"does not fit in memory by ([\d.]+ GB)", verdict(test)[0])
    assert f"{missing} too big" in page_text(test)
