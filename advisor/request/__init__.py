"""What somebody asks: one flat record, the nouns that it describes, and every door to it.

request         the record, and model, machine, workload, settings, money and ownership from it
texts           addresses, those of before too, saved reports and rows of a table
values          scenario files, cases of claims and Python
command_line    options of the command line
money           money and ownership, nouns that no layer below has
"""
