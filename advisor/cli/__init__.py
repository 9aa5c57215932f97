"""Commands of the command line that need a room of their own; `cli` puts them together."""
