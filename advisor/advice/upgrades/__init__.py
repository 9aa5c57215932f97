"""Upgrades: bigger GPUs for the same model.

upgrades        speed, cost and saved waiting of each
offers          monthly cost of a rented or bought GPU
skypilot        task file that rents the GPU and starts the runtime
"""
