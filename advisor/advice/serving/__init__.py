"""Serving: machines that together serve many users, cheapest first; start at `fleets`.

offers      machines to rent or to build, with their cost of a month
replicas    users that a number of GPUs serves, as a whole or divided among copies of the model
fleets      machines of one kind or of several that serve all users
words       the cheapest in sentences
"""
