"""What somebody asks: one flat record, the nouns that it describes, and every door to it.

request         the record, and model, machine, workload, settings, money and ownership from it
texts           addresses, saved reports and rows of a table; `former_links` reads those of before
values          scenario files, cases of claims and Python
command_line    options of the command line
money, ownership    nouns that no layer below has
"""
