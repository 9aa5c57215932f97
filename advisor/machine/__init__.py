"""Machines: GPUs, host, drive and links, each figure with its origin.

machine         `Machine`, `Gpu`, `Host`, `Disk`
quantity        `Figure`: a value, its kind, source and date
spec            what a person states about a machine
from_spec       a machine from a statement; `from_catalog` makes its parts
catalog         GPUs, processors and drives by name
"""
