"""GGUF files: from their header to the description of a model; start at `read`."""
