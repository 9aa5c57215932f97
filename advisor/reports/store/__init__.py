"""Saved reports in a database; start at `store.open_store`."""
