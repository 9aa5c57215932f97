"""Settings for tests of the pages in process."""

from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(scope="session", autouse=True)
def _installed_components_are_listed_once():
    """Streamlit lists them for each AppTest, which takes longer than to run most of our pages."""
    with pytest.MonkeyPatch.context() as patch:
        listed = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", listed)
        yield
