"""Evidence: what the numbers rest on.

published/      rows of measurement files as predictions
fitting/        constants from measurements: `python -m advisor.evidence.fitting`
accuracy/       predictions beside measurements, each predicted without its group
peers/          formulas of other public advisors
claims/         what articles say, answered with numbers
"""
