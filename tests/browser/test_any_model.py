"""A model that no catalogue has, given in a real browser."""

import json
import re
from pathlib import Path

from driving import page, settle
from steps import open_tab

SAMPLES = Path(__file__).parents[1] / "samples" / "configs"


def test_a_pasted_config_shows_its_reading(chromium, address):
    config = json.loads((SAMPLES / "gpt-oss-20b.json").read_text())["config"]
    with page(chromium, address) as test:
        test.get_by_role("button", name="More settings").click()
        test.get_by_text("Other ways to give a model").click()
        open_tab(test, "Paste")
        test.get_by_role("textbox", name="config.json").fill(json.dumps(config))
        test.get_by_role("button", name="Use it").click()
        test.wait_for_function("document.title.startsWith('gpt_oss model')")
        settle(test)
        test.keyboard.press("Escape")
        assert test.get_by_role("combobox", name="Model").input_value() == "pasted: gpt_oss model"
        assert test.get_by_role("button", name="Share").is_disabled()
        open_tab(test, "Sources")
        test.get_by_text("Model details").click()
        figures = test.get_by_role("region", name="Build").inner_text()
        # 24 layers, window and full in turn; 4 of 32 experts; 20.9B weights as published.
        for text in (
            r"parameters\s+20\.9B",
            r"experts\s+4 of 32 in 24 layers",
            r"with window of 128\s+12",
            r"with full attention\s+12",
        ):
            assert re.search(text, figures), figures


def test_a_path_is_typed_and_the_format_follows_the_model(chromium, address, tmp_path):
    packed = {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}
    for name, more in (("My-AWQ", packed), ("My-Llama", {})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(
            json.dumps({"model_type": "llama", "_name_or_path": f"somebody/{name}", **more})
        )
    with page(chromium, address) as test:
        for title, form in (("My-AWQ", "AWQ"), ("My-Llama", "BF16")):
            path = tmp_path / title
            test.get_by_role("combobox", name="Model").fill(str(path))
            test.keyboard.press("Enter")
            test.wait_for_function(f"document.title.startsWith('{title}')")
            settle(test)
            test.get_by_role("button", name=f"assumed: {form}").wait_for()
        test.get_by_role("button", name="Use").click()
        test.get_by_role("textbox", name="Users").fill("2")
        test.keyboard.press("Enter")
        test.wait_for_url(re.compile("users=2"))
        settle(test)
        assert test.title().startswith("My-Llama")
        assert "model=" in test.url


def test_what_is_typed_stands_last_in_the_list_and_enter_takes_the_first(chromium, address):
    with page(chromium, f"{address}/?machine=laptop+4060+16gb&model=Qwen3-8B") as test:
        field = test.get_by_role("combobox", name="Model")
        field.click()
        test.keyboard.type("gemma 27")
        typed = test.get_by_role("option", name="Use as typed: gemma 27")
        typed.wait_for()
        offered = test.get_by_role("option", name="Gemma 3 27B")
        assert offered.bounding_box()["y"] < typed.bounding_box()["y"]
        test.keyboard.press("Enter")
        test.wait_for_function("document.title.startsWith('Gemma-3-27B')")
        settle(test)
