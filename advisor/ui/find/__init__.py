"""The Find page: a target in, machines out."""
