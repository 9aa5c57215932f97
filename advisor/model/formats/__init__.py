"""Formats of weights: recipes, bytes per weight, and the spellings that people use."""
