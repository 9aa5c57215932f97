"""Intake: runs that people send become rows of the ledger, or are refused with a reason.

    python -m lab.intake ISSUES.json REPORT.md RESULT.json ... [--to FOLDER]

sent            reports as they come: issues, filled forms, what a tool wrote
rows            rows of a report, in the columns of data/measurements/
rules           what refuses a report, and what makes a row doubtful
pull_request    the text under which the rows are proposed

Each row is predicted by the constants as they stand, before anything sees it, and keeps that
prediction. No rule compares with a prediction of ours, so that no run is left out for being far
from it.
"""
