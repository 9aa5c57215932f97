"""Constants of the cost model from published measurements: `python -m advisor.evidence.fitting`."""
