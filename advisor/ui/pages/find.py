"""The Find page: machines that reach a target."""

from advisor.errors import AdvisorError
from advisor.formatting import show_money_in
from advisor.ui.find import page
from advisor.ui.find.answer import answer
from advisor.ui.parts.waiting import waiting
from advisor.ui.sidebar import form, machine_panel, opened_link
from advisor.ui.sidebar.chosen_machine import machine_problems
from advisor.ui.sidebar.target_fields import every_field

WAIT = "Trying every GPU of the catalogue in every number and format."

opened_link.read("find", every_field())
page.head()
wanted, chosen = form.target_choices()
show_money_in(chosen.paying)
target = page.target()
opened_link.keep(every_field())
problems = opened_link.problems("find", (chosen, target))
failure: AdvisorError | str = wanted.problem
if not failure:
    with waiting(WAIT):
        try:
            results = answer(chosen, target, wanted.picked, machine_panel.calibrated_at())
        except AdvisorError as error:
            failure = error
if failure:
    more = machine_problems(chosen) if wanted.problem else ()
    page.unanswered(failure, (*problems, *more))
else:
    page.shown(results, problems)
