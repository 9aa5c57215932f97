"""Host probes: cores, memory, and the rate of reading RAM."""
