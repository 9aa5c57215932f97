"""Finder: machines for a model (`search`) and models for a machine (`runnable`).

target          what a search looks for, and what it finds
candidates, combinations, costs, formats    machines, speeds, prices and formats of a search
choice          best results, and the Pareto front
cores           the same search on all cores
cluster         the same search on a Dask cluster
heat_map        speeds of several models on several machines
quality         published scores of models and losses of formats
"""
