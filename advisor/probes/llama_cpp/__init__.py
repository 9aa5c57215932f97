"""llama.cpp probes: short runs of the engine on synthetic models, and results of other tools."""
