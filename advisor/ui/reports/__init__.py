"""Sections of the Reports page."""
