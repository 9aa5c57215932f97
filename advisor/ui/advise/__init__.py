"""Sections of the Advise page."""
