"""The page "What can I run?": models worth running on a machine."""
