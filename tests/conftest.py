"""Settings of all tests."""

import os

from hypothesis import HealthCheck, settings

# The fit multiplies small matrices: BLAS threads wait for each other longer than they compute, and
# ten times as long where several processes run tests side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Both judge by the clock, which a busy machine makes run: slowness is shown by `make bench`.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
