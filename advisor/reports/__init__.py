"""Reports: comparisons as plain data, saved in a database and exported to files.

document        the data; `parts` are its records, `from_advice` makes it
store           saved reports; `database_tables` are their tables
export          HTML, PDF, Markdown and CSV, from `front_page` and `sections`
comparison      reports side by side; `scenarios` for files of many
"""
