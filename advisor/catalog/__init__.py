"""Catalogue: typed CSV tables, loose names, constants of the cost model, limits of inputs.

csv_tables      tables of data/ as typed records
name_matching   rows by name, alias or loose match
constants       shares of peak speeds and fixed costs, by scope
inputs          name, unit, limits and help of every input

Errors: `DataError` for a broken table, `InputError` for a number outside its limits, `UnknownName`
for a name of no row, with similar ones.
"""
