"""Finder: machines for a model, and models for a machine; start at `search` and `runnable`."""
