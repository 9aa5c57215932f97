"""Words: sentences about an answer."""
