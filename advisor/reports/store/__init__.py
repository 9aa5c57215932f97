"""Store of saved reports, in SQLite or PostgreSQL.

Used from outside: `store.open_store`, `saved.SavedReport`, limits in `annotations` and the order
of a listing in `queries`. The rest are tables, their migrations, and sessions.
"""
