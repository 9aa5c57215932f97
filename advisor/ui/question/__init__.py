"""The question of a visitor: request, its inputs, and what was understood of them."""
