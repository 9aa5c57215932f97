"""The page "What can I run?": models worth running on a machine."""

from dataclasses import replace

from advisor.errors import AdvisorError
from advisor.ui.parts.waiting import waiting
from advisor.ui.runnable import page
from advisor.ui.runnable.answer import answer
from advisor.ui.sidebar import form, machine_panel, opened_link
from advisor.ui.sidebar.target_fields import every_field

WAIT = "Trying every model of the catalogue in every format."

opened_link.read("run", every_field())
page.head()
chosen = form.machine_choices()
reading, runtime = page.balance()
chosen = replace(chosen, reading=reading)
opened_link.keep(every_field())
problems = opened_link.problems("run", (chosen, runtime))
failure: AdvisorError | None = None
with waiting(WAIT):
    try:
        results = answer(chosen, reading, runtime, machine_panel.calibrated_at())
    except AdvisorError as error:
        failure = error
if failure:
    page.impossible(failure, problems)
else:
    page.shown(results, problems)
