"""Live measurements of this machine, one file per part; each returns `Measurement`s."""
