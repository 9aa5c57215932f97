"""Advice: conclusions from estimates, for a model, a machine, a request and what time is worth.

advise              complete answer, the same for every door: estimates, options, changes, verdict
compare             one estimate for each runtime and placement
speeds              speed of one machine, or of many as columns
table/              speeds, costs and comparison of all options, and which to choose
edits/              one thing changed: format, cache, memory, drive, software
prices/             prices of GPUs, machines, parts, power and APIs, with their dates
finder/             machines for a model, and models for a machine
curves              speeds over users, prompt length, layers and use
task                session of an agent
arrivals/           many users of one server, simulated request by request
serving             machines that together serve many users, cheapest first
diagnosis/          causes of a measured speed that differs from the prediction
words/              the complete answer, and sentences about it
start_files         files that start a server, and one that rents its machine
"""
