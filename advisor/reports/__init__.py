"""Reports: a comparison as plain data, kept in a database and written to files.

`document` is the data, `store` keeps it, `export` writes it as HTML, CSV or Markdown.
"""
