"""How right predictions are: published measurements against the model fitted without them.

Each row is predicted from constants fitted with its whole group left out, one source on one
machine, so that no row is judged by what it taught. `ledger` holds it all.
"""
