"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# Both judge by the clock, which a busy machine makes run: slowness is shown by `make bench`.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
