"""Advice: what to do with the estimates.

advise          the answer: every estimate, options, cheaper changes, the verdict
compare         one estimate for each runtime and placement
options/        what to keep, add, replace, rent or call; `ownership`, `use`, `money` beside
prices/         of cards, machines, parts, power and APIs, with their dates
finder/         machines for a model, models for a machine; `fleet` times many machines at once
arrivals/       users who come and go: a server simulated request by request
diagnosis/      why a measured speed is not the predicted one
what_ifs, upgrades, offers          cheaper changes; bigger GPUs
concurrency, crossover, sweeps      users together, routes that cross, lines of charts
"""
