"""What visitors may do, by who reaches the server."""

import pytest

from advisor.ui.parts import audience


@pytest.mark.parametrize(
    ("settings", "address", "public", "files", "probes"),
    [
        ({}, "127.0.0.1", False, True, True),
        ({}, "localhost", False, True, True),
        ({}, "0.0.0.0", True, False, False),
        ({}, None, True, False, False),  # Streamlit listens to all without an address
        ({"ADVISOR_PUBLIC": "off"}, "0.0.0.0", False, True, True),
        ({"ADVISOR_PUBLIC": "on"}, "127.0.0.1", True, False, False),
        ({"ADVISOR_LOCAL_FILES": "on"}, "0.0.0.0", True, True, False),
        ({"ADVISOR_LOCAL_FILES": "off"}, "127.0.0.1", False, False, True),
        ({"ADVISOR_PUBLIC": "off", "ADVISOR_PROBES": "off"}, "0.0.0.0", False, True, False),
        ({"ADVISOR_PUBLIC": "perhaps"}, "0.0.0.0", True, False, False),
    ],
)
def test_a_server_that_others_reach_is_public_unless_its_operator_trusts_them(
    settings, address, public, files, probes, monkeypatch
):
    for name in ("ADVISOR_PUBLIC", "ADVISOR_LOCAL_FILES", "ADVISOR_PROBES"):
        monkeypatch.setenv(name, settings.get(name, ""))
    monkeypatch.setattr(audience.st, "get_option", lambda name: address)
    assert audience.is_public() is public
    assert audience.reads_local_files() is files
    assert audience.probes() is probes
