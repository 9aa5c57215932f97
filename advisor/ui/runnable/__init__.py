"""The page "What can I run?": a machine in, the models worth running on it out."""
