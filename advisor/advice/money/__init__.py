"""Money: what hardware, power, rent and waiting cost in a month.

inputs          use and prices that a person states
ownership       form of the machine, and the cards that it takes
formulas        costs of rent, purchase, power and waiting
use             waiting and rented hours from speeds
chances         probability that an option pays, from the ranges of speeds and prices
"""
