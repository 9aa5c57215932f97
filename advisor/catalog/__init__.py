"""Catalogue files: typed CSV tables, names matched loosely, constants of the cost model.

csv_tables      a table of data/ as typed records
name_matching   a row by any of its names
constants       shares of peak and fixed costs, by scope
"""
