"""Points of the ledger: published figures beside predictions that were made without them.

One file for each kind of source, which gives its points to `ledger`; `point` is their common
record.
"""
