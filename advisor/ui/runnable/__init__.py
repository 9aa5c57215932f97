"""The page Models: models worth running on a machine."""
