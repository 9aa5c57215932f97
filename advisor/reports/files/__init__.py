"""Files of a report: HTML, PDF, Markdown and CSV, and a measured result as a contribution.

Used from outside: `export.export` and `contribution`.
"""
