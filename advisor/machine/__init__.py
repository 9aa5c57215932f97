"""Machines: GPUs, host, drive and links, each figure with its origin.

machine         `Machine`, `Gpu`, `Host`, `Disk`
quantity        `Quantity`: a value, its kind, source and date
spec            what a person states about a machine
from_spec       a machine from a statement; `from_catalog` makes its parts
catalog         GPUs, processors, machines and drives by name
gpu_names       what GPUs are called; `cpu_names`, `apple_names`, `machine_names` alike
identify        what any name of hardware was taken as
"""
