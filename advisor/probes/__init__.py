"""Probes: measurements of this machine, each a function that returns `Measurement`s.

suite           all probes, in order
host/ disk/ gpu/    RAM and processor, drives, GPUs
llama_cpp/      short runs of llama.cpp
"""
