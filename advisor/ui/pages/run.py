"""The page Models: models worth running on a machine."""

from advisor.errors import AdvisorError
from advisor.ui.question import current, refused, row, this_machine
from advisor.ui.runnable import page

row.question("machine", "use")
failure: AdvisorError | None = None
try:
    page.shown(current.present(), this_machine.calibrated_at())
except AdvisorError as error:
    failure = error
if failure is not None:
    refused.refused(failure)
