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
        page(chromium, f"{address}/?model=Llama-3.1-8B&gpu=RTX+3090&ram=48") as tab,
    ):
        tab.get_by_text(re.compile(r"ZeroDivisionError in advisor/advice/")).wait_for()
        assert tab.locator("[data-testid=stException]").count() == 0
        cause.unlink()
        tab.get_by_role("textbox", name="RAM (GB/s)").fill("61")
        tab.keyboard.press("Enter")
        tab.wait_for_url(re.compile("ramspeed=61"))
        settle(tab)
        tab.locator("h1.oa-title", has_text="Llama-3.1-8B").wait_for()
        assert "RTX 3090" in tab.locator("h1.oa-title").inner_text()
        assert "ram=48" in tab.url
        assert tab.get_by_text(re.compile("ZeroDivisionError")).count() == 0
