"""Advice: what to do with the estimates.

advise          the answer: every estimate, bigger GPUs, cheaper changes, the verdict
compare         one estimate for each runtime and placement
what_ifs, upgrades, offers, money   changes and what they cost
options/        what to keep, add, replace, rent or call, with ownership, power, use and prices
finder/         machines for a model, models for a machine; speeds of many machines at once
concurrency, crossover, sweeps      users together, routes that cross, lines of charts
diagnosis/      why a measured speed is not the predicted one
"""
