"""The Calibrate page: what this machine really does, and what that changes."""

from advisor.calibration.imported_store import THIS
from advisor.ui import calibrated_view, machine_list, measuring
from advisor.ui.markup import block, show

show(block("oa-title", "Calibrate", "h1"))
show(block("oa-sub", "How fast this machine really reads, and what that changes.", "p"))
name = calibrated_view.choose()
if name == THIS:
    measuring.section()
calibrated_view.view(name)
machine_list.section()
