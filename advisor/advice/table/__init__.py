"""Table of answers: speed and cost of everything that a person could do; start at `options`."""
