"""Files of a report in every format; start at `export`."""
