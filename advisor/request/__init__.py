"""Request of a person: one flat record, the nouns that it describes, and every door to it."""
