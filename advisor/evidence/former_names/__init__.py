"""Commands by the names they had before `evidence/`: `python -m advisor.fitting`, and `.accuracy`.

Rows of data/generated/ and notes of people cite them. `advisor.__path__` holds this folder, so that
Python finds them there; nothing in the program imports them.
"""
