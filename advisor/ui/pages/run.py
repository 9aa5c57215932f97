"""The page Models: models worth running on a machine."""

from advisor.errors import AdvisorError
from advisor.ui.parts.markup import waiting
from advisor.ui.question import current, presets, refused, row, this_machine
from advisor.ui.runnable import page
from advisor.ui.runnable.answer import answer

page.head()
row.question("machine", "use")
failure: AdvisorError | None = None
with waiting("Trying every model of the catalogue in every format."):
    try:
        results = answer(current.present(), this_machine.calibrated_at())
    except AdvisorError as error:
        failure = error
if failure is not None:
    refused.refused(failure)
else:
    presets.machines()
    page.shown(results)
