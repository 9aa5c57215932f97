"""Measurements kept: of this machine and of machines measured elsewhere.

local_store     what was measured here; `local_machine` is this machine with it
imported_store  machines measured elsewhere, by name; `imported_machine` makes one
measurement_file   the file format and its history
"""
