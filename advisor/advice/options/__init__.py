"""Options: what a person could do, with its cost and when it pays; start at `table`.

table, option       every option, and the fields of each
kept, cards, elsewhere      the kinds: what is kept or changed, cards to add or replace, other
                            machines, rents and APIs
turning, sureness   when the verdict would change, and how sure it is
pareto              options that no other beats in cost and speed
"""
