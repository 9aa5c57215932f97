"""The page Your machine: measured rates of machines, and their effect on predictions."""

from advisor.ui.calibrate import machine_view

machine_view.view(machine_view.choose())
