"""Fit of the serving engines' constants to published and simulated runs.

cases               runs side by side; `published` and `grid` make them from their files
parameters, solve   fitted constants, and the fit with predictions of left-out groups
table, order        tables of the results, with generations of GPUs kept in order
spreads             widths of the ranges
"""
