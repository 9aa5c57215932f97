"""Drive probes: direct reads, and cold reads of a mapped file."""
