"""Names of hardware: GPUs, processors and whole machines, as people, drivers and shops write them.

Used from outside: `gpu_names`, `cpu_names` and `machine_names`, by `machine.catalog`.
"""
