"""Sections of the Method page: routes, formulas, constants, limits."""
