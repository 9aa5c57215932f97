"""Curves: an answer over a range of one input.

concurrency     users served together, up to the limits of memory and reading speed
crossover       prompt length and users from which streaming weights to the GPU pays
sweeps          layers on the GPU, tokens a month, page cache
"""
