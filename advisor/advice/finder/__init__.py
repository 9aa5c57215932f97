"""Finder: machines for a model (`search`) and models for a machine (`runnable`)."""
