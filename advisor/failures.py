"""Errors of the program's surroundings: a measurement, another computer, the saved reports."""

from advisor.errors import AdvisorError


class ProbeError(AdvisorError):
    """A measurement that this machine does not allow."""


class NetworkError(AdvisorError):
    """A host that is unreachable or busy, or sends an invalid answer."""


class StoreError(AdvisorError):
    """A report that cannot be saved, found or read."""
