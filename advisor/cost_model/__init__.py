"""The cost model: from a placed model to seconds, tokens per second and their range.

workload        one kind of request
placement       where every byte lies
schedule        how a runtime reads it: stages of routes
timing          seconds of a schedule; `processors`, `kernels` and `engine_kernels` compute
estimate        `Estimate`: the answer for one runtime and placement
runtime         what a runtime must offer
uncertainty     the 80 % range
"""
