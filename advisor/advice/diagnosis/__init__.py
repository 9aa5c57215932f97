"""Diagnosis of a measured speed.

diagnose          comparison with the prediction, and the causes that explain a gap
measured_run      the run under diagnosis, and edits of it
causes            causes in the request, the placement and the software; their rows
machine_causes    causes in processor, RAM, drive, link and GPU
bandwidths        bandwidth that alone would give the speed
reported_speeds   speeds in result files of other tools
text              a diagnosis in words
"""
