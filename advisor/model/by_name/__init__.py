"""Models by name: of the catalogue, of the Hub's list, or of neither; start at `named`."""
