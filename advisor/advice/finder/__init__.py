"""Finder: machines for a model, and models for a machine; start at `machines` and `models`."""
