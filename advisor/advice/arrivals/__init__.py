"""Arrivals: many users of one server, simulated request by request; start at `load`."""
