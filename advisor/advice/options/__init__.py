"""Options: what a person could do, with its cost and when it pays; start at `table`."""
