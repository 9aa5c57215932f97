"""Sections of the Accuracy page."""
