"""The Find page: machines that reach a target."""
