"""Constants of the cost model from published measurements: `python -m advisor.evidence.fitting`.

llama_cpp/      llama.cpp and its forks, with the widths of the ranges
frameworks/     frameworks that stream, stage or batch
engines/        serving engines
gauss_newton    least squares, common to all; `vectorize` makes many cases one
held_out        predictions made without a figure's group
"""
