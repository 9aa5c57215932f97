"""Renewal of dated tables, each from its source, into the user's data folder.

`renewal.py` runs it; `models.py`, `prices.py` and `boards.py` ask the sources, `checks.py` looks
through whole tables before anything is kept.
"""
