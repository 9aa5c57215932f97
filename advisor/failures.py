"""Errors of the program's surroundings: a measurement, another computer, the saved reports."""

from advisor.errors import AdvisorError


class ProbeError(AdvisorError):
    """Measurement that this machine does not allow."""


class NetworkError(AdvisorError):
    """Host that is unreachable or busy, or sends an invalid answer."""


class StoreError(AdvisorError):
    """Report that cannot be saved, found or read."""
