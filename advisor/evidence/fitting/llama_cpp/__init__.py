"""Fit of llama.cpp's constants to published speeds of it and its forks.

timed_row, rows     published speeds; `alike` stacks those of one shape into arrays
parameters, fit     fitted constants (`reading_parameters`, `prompt_parameters`), and the fit with
                    predictions of left-out sources
row_errors, spreads errors of those predictions, and the widths of the ranges that follow
earned              whether each kind of factor makes predictions on other sources better
"""
