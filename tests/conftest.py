"""Settings of all tests."""

import os

# The fit multiplies small matrices: BLAS threads wait for each other longer than they compute, and
# ten times as long where several processes run tests side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
