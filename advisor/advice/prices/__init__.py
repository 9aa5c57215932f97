"""Prices of GPUs, whole machines, parts, power and APIs, each with its date."""
