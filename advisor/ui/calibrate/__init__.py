"""Sections of the Calibrate page."""
