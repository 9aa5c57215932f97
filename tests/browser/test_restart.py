"""A server that is started anew: what was saved before opens again."""

from driving import page, server, settle
from steps import chip, open_page, press, save, set_assumed


def test_a_report_outlives_its_server_and_reopens_the_question(chromium, port, tmp_path):
    question = "?model=Qwen3-32B&gpu=RTX+3060+12GB&ram_gb=32"
    with server(port, tmp_path) as address, page(chromium, f"{address}/{question}") as tab:
        set_assumed(tab, "DDR5", "RAM (GB/s)", "61")
        save(tab, "from the browser")
    with server(port, tmp_path) as address, page(chromium, address) as tab:
        open_page(tab, "Reports")
        tab.get_by_text("from the browser").wait_for()
        press(tab, "Open")
        tab.goto(tab.get_by_role("link", name="Open in Advise").get_attribute("href"))
        settle(tab)
        assert "ram_gbs=61" in tab.url
        chip(tab, "RAM 61 GB/s")
        assert tab.title().startswith("Qwen3-32B")
