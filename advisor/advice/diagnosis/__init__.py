"""Diagnosis: likely causes of a measured speed other than the predicted one; see `diagnose`."""
