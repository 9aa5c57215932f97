"""Command line: one file per command, assembled by `main`."""
