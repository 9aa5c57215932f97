"""Constants of the cost model from published measurements: `python -m advisor.evidence.fitting`.

parameters, fit         constants to be fitted (parameters.csv), and the fit, the same for all
stack                   timed runs of one shape as a single case of arrays
llama_cpp, frameworks   published runs of llama.cpp and its forks, and of frameworks that stream,
engines                 stage or batch; published and simulated runs of serving engines
row_errors, spreads     errors of predictions made without a source, and the widths of ranges
engine_tables           tables of serving engines
held_out, rolling       predictions made without a figure's group, and errors by date
earned                  whether each kind of factor makes predictions on other sources better
"""
