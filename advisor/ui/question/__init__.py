"""Question of a visitor: request, its inputs, and its meaning."""
