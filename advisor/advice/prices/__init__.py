"""Prices of GPUs, whole machines, parts, power and APIs, each with its date.

price_rows       prices of GPUs shipped with the program; `without_price` says why some have none
machine_prices   of whole machines; `host_parts`, `api_prices` and `power` likewise
fresh_prices     prices fetched since; `price_refresh` fetches them
price_dates      age of a price, and when it is old
"""
