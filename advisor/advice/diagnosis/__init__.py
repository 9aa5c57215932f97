"""Diagnosis: why a measured speed is not the predicted one; start at `diagnose`."""
