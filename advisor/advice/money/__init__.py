"""Money: what hardware, power, rent and waiting cost in a month.

formulas        costs of rent, purchase, power and waiting
use             waiting and rented hours from speeds
chances         probability that an option pays, from the ranges of speeds and prices
"""
