"""The Method page: routes drawn with the machine's speeds, formulas, constants, limits."""

from advisor.errors import AdvisorError
from advisor.ui.method import page
from advisor.ui.sidebar import form, opened_link
from advisor.ui.sidebar.chosen_machine import machine_problems
from advisor.ui.sidebar.target_fields import every_field

opened_link.read("method", every_field())
page.head()
wanted, chosen = form.described_choices()
opened_link.keep(every_field())
problems = opened_link.problems("method", chosen)
failure: AdvisorError | str = wanted.problem
if not failure:
    try:
        machine = chosen.request.nouns().machine
        model = wanted.picked.in_format(chosen.form).model
    except AdvisorError as error:
        failure = error
if failure:
    more = machine_problems(chosen) if wanted.problem else ()
    page.unanswered(failure, (*problems, *more))
else:
    page.shown(model, machine, chosen, problems)
