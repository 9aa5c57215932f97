"""Arrivals: many users of one server, simulated request by request; start at `load`.

load            load on a server: users supported, saturation, waiting times
server          requests and step times of a server, and waiting if all users ask at once
simulation      continuous batching, request by request
"""
