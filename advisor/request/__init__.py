"""What somebody asks: one flat record, and the nouns that it describes."""
