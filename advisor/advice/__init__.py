"""Advice: conclusions from estimates, for a model, a machine, a request and what time is worth.

advise          complete answer: estimates, options, cheaper changes, verdict
compare         one estimate for each runtime and placement
options/        options to keep, change, buy, rent or call, with their costs
prices/         prices of GPUs, machines, parts, power and APIs, with their dates
finder/         machines for a model, models for a machine; `fleet` times many machines at once
arrivals/       many users of one server, simulated request by request
diagnosis/      causes of a measured speed that differs from the prediction
what_ifs        changes other than a bigger GPU; `upgrades` for bigger GPUs
money           formulas of costs; `money_inputs`, `ownership` and `use` are their inputs
concurrency, crossover, sweeps      curves over users, prompt length and layers
"""
