"""Diagnosis of a measured speed; start at `diagnose`."""
