"""Lab: constants fitted to published measurements, and predictions judged by what they left out.

It lies beside the program, which reads only the tables in data/generated/ that it writes:
`python -m lab` fits the constants, `python -m lab.ledger` judges predictions with them.

fit                     constants to be fitted (parameters.csv), and the fit, the same for all
stack                   timed runs of one shape as a single case of arrays
llama_cpp, frameworks   published runs of llama.cpp and its forks, and of frameworks that stream,
engines                 stage or batch; published and simulated runs of serving engines
spreads                 errors of predictions made without a source, and the widths of ranges
engine_tables           tables of serving engines, and the order of generations (generations.csv)
folds, held_out         whole fits without a fold of publishers, and what they predicted
roles                   who chose parameters, and who sets the level of ranges (publishers.csv)
fresh, forecasts        scores of rows before anything sees them, and of predictions by later rows
rolling                 errors by date
chance, known           how far machines and runs differ, and how one known run teaches others
hub_models, usual_caches    lists of models, and the caches of their families
listed_models           check of the whole list, and what cannot be right in it
built_models, hosted_models    models of families without a rule; names that APIs alone sell
new_architectures       how far architectures are predicted off that were left out of the fit
leaderboard             newer scores of models
many_run                what many run: publishers of figures by card and engine
points/, peers          published figures beside their predictions, and those of public formulas
ledger                  all of them, and how far two sources differ
intake/                 runs that people send: rows, or refusals with a reason
months                  scores by engine, family and month, by commit, with an alarm
monthly, repository     the monthly round, and what git keeps
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Read where numpy is first imported: matrices of a fit are small, so threads wait longer for each
other than they compute, and their number would decide the last digits."""


def rounded(number: Any, digits: int) -> float:
    """Number with some digits, as files hold it."""
    return float(f"{float(number):.{digits}g}")


def write(tables: Mapping[Path, str]) -> int:
    """Write tables of data/generated/; returns the exit code."""
    for path, text in tables.items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.name}: written.\n")
    return 0
