"""Edits: the same question with one thing changed; start at `edit`."""
