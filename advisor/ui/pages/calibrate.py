"""The page Your machine: measured rates of this machine, and their effect on predictions."""

from advisor.calibration.imported_store import THIS
from advisor.ui.calibrate import machine_list, machine_view, measure
from advisor.ui.parts.markup import block, show

show(block("oa-title", "Your machine", "h1"))
show(block("oa-sub", "Measured read speeds of this machine, and their effect on predictions.", "p"))
name = machine_view.choose()
if name == THIS:
    measure.section()
machine_view.view(name)
machine_list.section()
