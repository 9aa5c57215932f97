"""The face for notebooks and scripts: what `from advisor import ...` gives.

description     a model and a machine from what a person says
answers         `estimate`, `compare`
advising        `advise`
sweep           many requests at a time, as a table of pandas
"""
