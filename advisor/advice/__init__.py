"""Advice: conclusions from estimates, for a model, a machine, a request and what time is worth.

advise.advise       complete answer: estimates, options, changes, verdict
compare.compare     one estimate for each runtime and placement
speeds              speed of one machine, as options and costs use it
answer              answer of a request, the same for every door

table/              speeds, costs and comparison of all options
edits/              one thing changed: format, cache, memory, drive, software; remarks
prices/             prices of GPUs, machines, parts, power and APIs, with their dates
finder/             machines for a model, and models for a machine
curves/             speeds over users, prompt length, layers and use
arrivals/           many users of one server, simulated request by request
serving             machines that together serve many users, cheapest first
diagnosis/          causes of a measured speed that differs from the prediction
words/              sentences about an answer
skypilot            task file that rents a machine
"""
