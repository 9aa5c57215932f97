"""config.json of Transformers: from its keys to the description of a model; start at `read`."""
