"""Releases: a row for every runtime, of the release that its command names."""

from provenance import is_past, is_public

from advisor.refresh.releases import releases
from advisor.runtimes import named
from advisor.runtimes.tiered import tiered_runtimes


def test_every_runtime_has_the_release_that_it_was_written_for() -> None:
    in_tiers = {runtime.name for runtime in tiered_runtimes()}
    versions = {
        runtime.name: runtime.version for runtime in named() if runtime.name not in in_tiers
    }
    assert {row.runtime: row.written_for for row in releases()} == versions


def test_every_release_was_checked_at_a_page() -> None:
    for row in releases():
        assert is_public(row.source)
        assert is_past(row.checked)
