"""Python interface for notebooks and scripts: the names of `from advisor import ...`.

description     models and machines from names and numbers
answers         `estimate`, `compare`
advising        `advise`
sweep           many requests at a time, as a pandas DataFrame
"""
