"""Machines: GPUs, host, drive and links, each figure with its origin.

machine         `Machine`, `Gpu`, `Host`, `Disk`, and networks between machines
spec            what a person states about a machine
from_spec       a machine from a statement; `from_catalog` makes its parts
catalog         GPUs, processors, machines and drives by name
names/          names of GPUs, processors and whole machines
identify        hardware that a name means, of any kind
backends        what drives a card, by vendor and system; `stated_software` reads versions
shared_memory   the part of shared memory that a GPU may use
stacked         many machines as one with arrays

Errors: `UnknownName` for a name that means nothing or several things, with similar ones;
`InputError` for numbers outside their limits, and for software that does not go with the cards.
"""
