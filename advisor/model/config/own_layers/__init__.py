"""Families whose layers differ in more than one table of sizes can say, built layer by layer.

data/models/families.csv says which function builds which `model_type`; `parts.py` has what they
share.
"""
