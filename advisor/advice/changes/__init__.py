"""Changes that cost less than a bigger GPU.

what_ifs        each change with the speed that it gives
several_formats     smaller formats, by one estimate of each placement
drafting        drafted tokens: who drafts, and models with layers for it
"""
