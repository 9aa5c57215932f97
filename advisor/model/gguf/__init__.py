"""A model from what is at hand: for now, from a few published figures."""
