"""Finder: machines for a model (module `search`) and models for a machine (module `runnable`)."""
