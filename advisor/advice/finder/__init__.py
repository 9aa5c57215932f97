"""Finder: machines for a model (`search`) and models for a machine (`runnable`).

combinations    machines, runtimes, placements and formats that are fast enough, as columns
search          a target, the price of each combination, and the best of those that reach it
runnable        models that run well on a machine, with published scores
"""
