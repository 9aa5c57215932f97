"""Cost model: from a placed model to seconds, tokens per second and their range.

workload        prompt, output, context and users of a request placement       memory that holds
each part of a model schedule        order and route in which a runtime reads the parts: stages of
routes timing          seconds of a schedule, with `processors`, `kernels` and `engine_kernels`
estimate        `Estimate`: result for one runtime and placement runtime         `Runtime`:
interface of a runtime uncertainty     80 % range
"""
