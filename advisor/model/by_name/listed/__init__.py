"""Models of the Hub's list: rows, their families' rules, and a refresh."""
