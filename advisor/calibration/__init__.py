"""Saved measurements of this machine and of imported ones.

local_store       measurements of this machine; `local_machine` builds its `Machine`
imported_store    imported measurements, by machine name; `imported_machine` builds the `Machine`
measurement_file  file format of a measurement history
"""
