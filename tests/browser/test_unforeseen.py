"""An unforeseen error in a real browser: named, with inputs kept, gone with its cause."""

import os
import re

from driving import ROOT, page, server, settle

FAILING = """
import os
from pathlib import Path
from advisor.advice import advise

compare = advise.compare

def failing(*args, **options):
    if Path(os.environ["ADVISOR_DATA_DIR"], "fail").exists():
        raise ZeroDivisionError
    return compare(*args, **options)

advise.compare = failing
"""


def test_it_names_itself_and_keeps_the_inputs(chromium, port, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(FAILING)
    path = os.pathsep.join((str(tmp_path), str(ROOT)))
    cause = tmp_path / "fail"
    cause.touch()
    with (
        server(port, tmp_path, PYTHONPATH=path) as address,
        page(chromium, f"{address}/?model=Llama-3.1-8B&gpu=RTX+3090&ram_gb=48") as tab,
    ):
        tab.get_by_text(re.compile(r"ZeroDivisionError in advisor/advice/")).wait_for()
        assert tab.locator("[data-testid=stException]").count() == 0
        cause.unlink()
        assert "ram_gb=48" in tab.url
        tab.get_by_role("combobox", name="Model", exact=True).fill("Qwen3 8B")
        tab.keyboard.press("Enter")
        tab.wait_for_url(re.compile("model=Qwen3-8B"))
        settle(tab)
        tab.locator("#verdict").wait_for()
        assert tab.locator(".oa-chip", has_text="RTX 3090").is_visible()
        assert "ram_gb=48" in tab.url
        assert tab.get_by_text(re.compile("ZeroDivisionError")).count() == 0
