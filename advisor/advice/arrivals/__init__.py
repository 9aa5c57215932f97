"""Arrivals: many users of one server, simulated request by request; start at `load`.

load            load on a server: users supported, saturation, waiting times
requests, server, simulation, curves    requests, step times, continuous batching, results
first_token     waiting times if all users ask at once
words           the result in sentences
"""
