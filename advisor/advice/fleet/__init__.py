"""Fleet: speeds of one model on many machines, by as few estimates as there are kinds of machines.

Used from outside: `fleet.Fleet`, and `timed_fleet.TimedFleet` for the fastest runtime of each
machine. `stacks` makes one estimate for machines of a kind, which fills a `speed_table`;
`speed_bounds` rules out those that cannot reach a speed.
"""
