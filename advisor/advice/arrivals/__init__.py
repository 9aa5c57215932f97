"""Load: requests that arrive at random, and how long they wait; start at `load`."""
