"""Reports: comparisons as plain data, saved in a database and exported to files.

document        the data of a report; `from_advice` makes it from an answer
store/          saved reports in a database; start at `store.open_store`
charts          charts as descriptions
content         a report in words and tables, common to all file formats
files/          HTML, PDF, Markdown and CSV; start at `export`
comparison      reports beside each other, before and after; `scenarios` are files of many requests
"""
