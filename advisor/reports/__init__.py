"""Reports: comparisons as plain data, saved in a database and exported to files.

document/       the data of a report, and how it is made from an answer
store/          saved reports in a database; start at `store.open_store`
charts/         charts as descriptions, and their painter for files
content/        a report in words and tables, common to all file formats
files/          HTML, PDF, Markdown and CSV; start at `export`
side_by_side/   reports beside each other, before and after, and scenario files
"""
