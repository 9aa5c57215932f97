"""Table of answers: costs and comparison of everything that a person could do.

stack, bounds   one estimate for all machines of a kind, made where a bound allows it
timed_machines  present machine with other cards, and whole machines, in their fastest runtime
cost            cost of a month, for one speed or a column of them
question        model, machine, use and ownership; makes options
option          row of the table, and where it is judged: `Option.may_win`, `choice`
choice          what to choose of the rows: the safe purchase, and the cheapest
options         all rows: kept, changed, added, replaced, other machines, rents, APIs
sensitivity     inputs that a verdict depends on, and where it turns
"""
