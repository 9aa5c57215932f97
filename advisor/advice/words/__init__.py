"""Words: sentences about an answer.

verdict             present speed, best option, when it pays
context_limits      warnings about a prompt or context that is too long
price_notes         typed prices far from those on record, a rent that nobody knows
"""
