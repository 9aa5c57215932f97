"""Prices of GPUs, whole machines, parts, power and APIs, each with its date.

rows            rows of the tables, shipped and fetched, and when one is old
price           price of what is bought or rented, with its parts and its origin
power           what a machine draws, and the parts that further cards need
price_refresh   fetching
"""
