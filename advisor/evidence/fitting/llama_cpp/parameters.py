"""Fitted constants of llama.cpp: start values, limits and the scopes they may differ by.

Each constant is one value times a factor for each scope. The prior keeps factors near 1: a GPU
family with one measurement hardly moves, one with fifty does. A scope is kept only if it improves
predictions of left-out sources.
"""

from collections.abc import Mapping

from advisor.evidence.fitting.llama_cpp.parameter import Parameter
from advisor.evidence.fitting.llama_cpp.prompt_parameters import PROMPT_PARAMETERS
from advisor.evidence.fitting.llama_cpp.reading_parameters import READING_PARAMETERS

PARAMETERS: Mapping[str, Parameter] = {**READING_PARAMETERS, **PROMPT_PARAMETERS}
"""Fitted constants by name, in the order of the fit."""
