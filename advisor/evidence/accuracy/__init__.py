"""Accuracy: published measurements beside predictions that were fitted without them.

Each row is predicted from constants fitted with its whole group left out, one source on one
machine, so that no row is judged by what it taught. `ledger` holds it all.
"""
