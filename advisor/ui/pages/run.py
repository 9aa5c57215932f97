"""The page Models: models worth running on a machine."""

from advisor.ui.question import current, presets, refused, row, this_machine
from advisor.ui.runnable import page

row.question("machine", "use")
presets.machines()
refused.tried(
    lambda: page.shown(current.present(), this_machine.calibrated_at()), with_presets=False
)
