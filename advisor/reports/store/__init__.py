"""Store of saved reports, in SQLite or PostgreSQL.

Used from outside: `store.open_store`, `saved.SavedReport`, and the order of a listing in
`rows`. The rest are tables, and their migrations.
"""
