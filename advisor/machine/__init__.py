"""Machines: GPUs, host, drive and links, each figure with its origin.

machine         `Machine`, `Gpu`, `Host`, `Disk`
quantity        `Quantity`: a value, its kind, source and date
spec            what a person states about a machine
from_spec       a machine from a statement; `from_catalog` makes its parts
catalog         GPUs, processors, machines and drives by name
names/          names of GPUs, processors and whole machines
identify        hardware that a name means, of any kind
"""
