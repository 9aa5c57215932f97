"""Reports: comparisons as plain data, saved in a database and exported to files.

`document` is the data, `store` keeps it, `export` writes it as HTML, CSV or Markdown.
"""
