"""Models by name: of the catalogue, of the Hub's list, or of neither.

Used from outside: `named`, which every way of naming a model asks, and `native_format`.
"""
