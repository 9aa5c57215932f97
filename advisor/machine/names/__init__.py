"""Names of hardware: what people, drivers and shops call GPUs, processors and whole machines.

Used from outside: `gpu_names`, `cpu_names` and `machine_names`, by `machine.catalog`.
"""
