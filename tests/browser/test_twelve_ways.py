"""The twelve main ways through the pages in a real browser, one test each, by the same steps."""

import json
import re

import pytest
from driving import VIEW, page, settle
from steps import (
    LONG,
    chip,
    choose_model,
    choose_use,
    copy,
    everything,
    judged,
    open_page,
    open_tab,
    press,
    save,
    say_machine,
    set_assumed,
    tick,
    verdict,
)

PC = "machine=gaming+PC+with+a+3060+12GB+and+32+GB+RAM"
PROBED = [
    {
        "name": name,
        "value": value,
        "unit": "B/s",
        "spread": 0.02,
        "threads": 64,
        "when": "2026-11-20T10:00:00+00:00",
        "note": "",
    }
    for name, value in (("ram_read", 150e9), ("disk_read_direct", 6.4e9))
]


@pytest.fixture
def at(chromium, address):
    """Opens a page of the app, by its place and parameters."""
    return lambda place: page(chromium, f"{address}/{place}")


def test_1_read_the_first_answer_and_copy_its_command(at):
    with at("") as tab:
        assert re.search(r"[\d.]+ tokens a second", verdict(tab))
        for name in ("In the GPU", "Offload to RAM", "Offload to NVMe"):
            assert tab.locator(".oa-name", has_text=name).first.is_visible()
        assert copy(tab, "llama-server").startswith("llama-server -hf ")


def test_2_say_ones_machine_in_ones_own_words(at):
    with at(f"?{PC}&model=Llama-3.1-8B") as tab:
        for words, taken in (
            ("rtx 4090 with 64 gb", "RTX 4090"),
            ("4090 laptop", "RTX 4090 Laptop"),
            ("m3 ultra 512", "512 GB shared memory"),
        ):
            say_machine(tab, words)
            chip(tab, taken)
        say_machine(tab, "rtx 9090 with 32 GB RAM")
        press(tab, "RTX 5090")  # offered in its place, with the rest kept
        chip(tab, "RTX 5090")
        chip(tab, "32 GB RAM")


def test_3_choose_a_model_by_a_short_name(at):
    with at(f"?{PC}&model=Llama-3.1-8B") as tab:
        choose_model(tab, "glm 4.6")
        tab.wait_for_function("document.title.includes('GLM-4.6')")
        choose_model(tab, "gemma 27")  # the first of the list is taken
        tab.wait_for_function("document.title.startsWith('Gemma-3-27B')")


def test_4_choose_what_it_is_for(at):
    with at(f"?{PC}&model=Qwen3-8B") as tab:
        choose_use(tab, "Coding helper")
        assert "cached_share=0.8" in tab.url
        chip(tab, "context 32k")


def test_5_set_what_was_assumed(at):
    with at(f"?{PC}&model=Qwen3-32B") as tab:
        before = verdict(tab)
        set_assumed(tab, "DDR5", "RAM (GB/s)", "30")
        chip(tab, "RAM 30 GB/s")
        assert judged(tab, "tokens a second", unlike=before)
        assert "ram_gbs=30" in tab.url


def test_6_take_another_model_and_go_back(at):
    with at(f"?{PC}&model=Llama-3.3-70B") as tab:
        before = judged(tab, "minutes per answer")
        press(tab, "Use this model")
        after = judged(tab, "Runs well", unlike=before)
        tab.reload()
        settle(tab)
        assert verdict(tab) == after
        tab.go_back()
        assert judged(tab, "minutes per answer", unlike=after) == before


def test_7_try_a_bigger_gpu_and_read_what_it_costs(at):
    with at(f"?{PC}&model=Llama-3.3-70B") as tab:
        before = verdict(tab)
        open_tab(tab, "What it costs")
        point = tab.locator(".oa-point.oa-star")  # what is kept
        point.evaluate("point => point.scrollIntoView({block: 'center'})")
        point.hover()
        tip = point.evaluate("point => getComputedStyle(point, '::after').content")
        assert "tokens/s" in tip
        lines = tab.locator(".oa-lines").first
        image = lines.evaluate("lines => getComputedStyle(lines).backgroundImage")
        assert image.startswith('url("data:image/svg+xml')
        loaded = "performance.getEntriesByType('resource').map(file => file.name).join()"
        assert "Plotly" not in tab.evaluate(loaded)
        press(tab, "Try it")
        judged(tab, "tokens a second", unlike=before)
        press(tab, "Undo: a bigger GPU")
        assert judged(tab, "minutes per answer") == before


def test_8_share_the_page_and_find_it_the_same_to_the_letter(at, chromium):
    with at(f"?{PC}&model=Qwen3-32B&users=2") as tab:
        tab.reload()
        here = everything(tab)
        assert re.match(r"Qwen3-32B, RTX 3060 12GB.*tokens/s", here[0])
        press(tab, "Share")
        copied = copy(tab, "http")
    other = chromium.new_context(viewport=VIEW, reduced_motion="reduce")
    tab = other.new_page()
    tab.goto(copied)
    assert everything(tab) == here
    other.close()


def test_9_save_two_reports_and_set_them_side_by_side(at):
    for name, gpu in (("an earlier one", "RTX+3090"), ("the one of today", "RTX+4090")):
        with at(f"?model=Qwen3-8B&gpu={gpu}&ram_gb=64") as tab:
            save(tab, name)
            assert tab.locator(".oa-winner").is_visible()
            press(tab, "All reports")
    with at("reports") as tab:
        tick(tab, "the one of today")
        tick(tab, "an earlier one")
        press(tab, "Compare 2")
        for letter, name in (("A", "an earlier one"), ("B", "the one of today")):
            tab.get_by_role("heading", name=f"{letter} {name}").wait_for()
            tab.get_by_role("columnheader", name=letter, exact=True).first.wait_for()


def test_10_find_a_model_for_ones_machine(at):
    with at("?gpu=RTX+3090&ram_gb=64&model=Llama-3.1-8B") as tab:
        open_page(tab, "Models")
        press(tab, "Code", "radio")
        judged(tab, "Best code model here")
        assert "kind=Code" in tab.url
        card = tab.locator(".oa-models .oa-card").first
        name = card.locator(".oa-name").inner_text().replace(" ", "-")
        card.get_by_role("link", name="See advice").click()
        tab.wait_for_url(re.compile(rf"/\?.*model={name}"), timeout=LONG)
        judged(tab, "^Runs|^It runs")


def test_11_find_a_machine_for_ones_model(at):
    with at("?gpu=RTX+3090&ram_gb=64&model=Llama-3.1-8B") as tab:
        open_page(tab, "Machines")
        tab.get_by_text("machines reach 6.0 tokens/s with Llama-3.1-8B").wait_for(timeout=LONG)
        tab.locator(".st-key-target").get_by_text("$5,000", exact=True).click()
        tab.get_by_text("within $5,000 at once").wait_for(timeout=LONG)
        press(tab, "Rent", "radio")
        judged(tab, "Cheapest to rent")
        assert re.search("max_usd=5000.*offers=Rent|offers=Rent.*max_usd=5000", tab.url)
        tab.locator(".oa-ten a").first.click()
        judged(tab, "runs well")


def test_12_bring_a_measured_machine_and_trace_a_figure_to_its_source(at):
    with at("accuracy") as tab:
        open_page(tab, "Measure every part, or another computer")
        open_tab(tab, "Another computer")
        file = {
            "name": "it.json",
            "mimeType": "application/json",
            "buffer": json.dumps(PROBED).encode(),
        }
        with tab.expect_response(lambda answer: "upload_file" in answer.url and answer.ok):
            tab.locator("input[type=file]").set_input_files(file)
        tab.get_by_role("textbox", name="Name").fill("server")
        press(tab, "Import")
        judged(tab, "server reads its RAM at 150 GB/s")
        assert tab.get_by_text("Imported server").is_visible()  # no other run takes it away
        open_tab(tab, "Beside the datasheet")
        assert tab.locator(".oa-gauge").count() == 2
        open_page(tab, "How we know")
        open_tab(tab, "Workshop")
        press(tab, "Every figure", "radio")
        tab.get_by_role("combobox", name="Kind of run").click()
        tab.keyboard.type("dense split")  # the list is longer than its box
        tab.get_by_role("option", name="dense split", exact=True).click()
        tab.keyboard.press("Escape")
        settle(tab)
        tab.wait_for_function("document.querySelectorAll('.points path').length < 20")
        tab.wait_for_selector(".points path")
        box = tab.locator(".js-plotly-plot .points path").first.bounding_box()
        tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        link = tab.get_by_role("link", name="Open the source")
        link.wait_for()
        assert link.get_attribute("href").startswith("https://")
