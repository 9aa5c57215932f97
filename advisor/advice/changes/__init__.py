"""Changes that cost less than a bigger GPU.

what_ifs        each change with the speed that it gives
drafting        drafted tokens: who drafts, and models with layers for it
"""
