"""Evidence: published measurements, and what follows from them.

published/      rows of measurement files as predictions
fitting/        constants fitted to measurements: `python -m advisor.evidence.fitting`
accuracy/       predictions beside measurements, each predicted without its group
peers/          formulas of other public advisors
claims/         claims of articles, checked with numbers
"""
