"""Saved measurements of this machine and of imported ones.

local_machine     measurements of this machine, and its `Machine` with them
imported_names    names of imported machines
imported_store    imported measurements, by machine name, and the `Machine` with them
measurement_file  file format of a measurement history
"""
