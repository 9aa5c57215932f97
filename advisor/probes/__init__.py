"""Probes: measurements of this machine, each a function that returns `Measurement`s.

What this machine does not allow, or cannot do for want of memory, raises ProbeError.

suite           all probes, in order
host, ram       what the host has, and how fast its processor reads RAM
disk/ gpu/      drives, GPUs
llama_cpp/      short runs of llama.cpp
"""
