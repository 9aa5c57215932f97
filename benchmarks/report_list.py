"""How long the list of 10,000 reports takes: `python -m benchmarks.report_list`.

Rows are copies of one real report, with names, tags and models that differ. Times are of the
processor, so that a busy machine does not count. The page is the Reports page of the dashboard, run
by Streamlit without a browser.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import create_engine, text
from streamlit.testing.v1 import AppTest

from advisor.advice.advise import advise
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.reports.from_advice import document
from advisor.reports.store.store import ReportQuery, ReportStore, open_store
from advisor.request.money import MoneyInputs

REPORTS = 10_000
ROUNDS = 20
APP = Path(__file__).parents[1] / "app.py"
PAGE = "advisor/ui/pages/reports.py"
COPY = """
    INSERT INTO reports (id, name, created_at, notes, app_version, summary, author, model, gpu,
                         document_text, annotation_text, digest, owner, share)
    SELECT :id, :name, created_at, notes, app_version, summary, author, :model, gpu,
           document_text, :words, :digest, owner, share FROM reports WHERE id = 1
"""


def main() -> None:
    """Fill a store and time it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ADVISOR_DATA_DIR"] = folder  # for the page, which opens the person's store
        url = f"sqlite:///{Path(folder) / 'reports.sqlite'}"
        store = open_store(url)
        _fill(store, url)
        for name, act in (
            ("first page", lambda: store.page()),
            ("last page", lambda: store.page(offset=REPORTS - 20)),
            ("search, some", lambda: store.page(ReportQuery(words="report 77"))),
            ("search, none", lambda: store.page(ReportQuery(words="absent words here"))),
            ("tag and model", lambda: store.page(ReportQuery(tag="tag 3", model="model 13"))),
            ("filters offered", lambda: store.choices()),
            ("open one", lambda: store.load(REPORTS // 2)),
            ("page, the list", _page().run),
            ("page, a search", _page(search="report 77").run),
            ("page, a report", _page(report="5000").run),
        ):
            print(f"{name:<16} {1000 * _median(act):6.1f} ms")


def _page(report: str = "", search: str = "") -> AppTest:
    """The Reports page, run once; each further run is a click of a visitor."""
    page = AppTest.from_file(str(APP), default_timeout=120)
    page.run()
    page.switch_page(PAGE)
    if report:
        page.query_params["report"] = report
    page.run()
    if search:
        page.text_input(key="report_search").set_value(search).run()
    if page.exception:
        raise SystemExit(page.exception[0].message)
    return page


def _fill(store: ReportStore, url: str) -> None:
    model = resolve.find("Llama-3.1-70B", None).model
    here, work, money = machine(MachineSpec(gpu="RTX 3090", ram_gb=64)), Workload(), MoneyInputs()
    made = document(advise(model, here, work, money=money), here, {})
    store.save(made, "report 1", "some notes of a usual length, a line or two")
    engine = create_engine(url)
    with engine.begin() as connection:
        rows = [
            {"id": number, "name": f"report {number}", "model": f"model {number % 40}",
             "words": f"report {number}\nsome notes of a usual length, a line or two",
             "digest": str(number)}
            for number in range(2, REPORTS + 1)
        ]  # fmt: skip
        connection.execute(text(COPY), rows)
        connection.execute(
            text(
                "INSERT INTO report_contents SELECT r.id, c.document, c.results FROM reports r, "
                "report_contents c WHERE c.report_id = 1 AND r.id > 1"
            )
        )
        connection.execute(
            text("INSERT INTO report_tags SELECT id, 'tag ' || (id % 7) FROM reports")
        )
    engine.dispose()


def _median(act: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        act()
        times.append(time.process_time() - start)
    return sorted(times)[ROUNDS // 2]


if __name__ == "__main__":
    main()
