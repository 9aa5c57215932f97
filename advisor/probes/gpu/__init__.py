"""GPU probes: detection by each driver, and copies to NVIDIA GPUs."""
