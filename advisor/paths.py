"""Folder of the user's data."""

import os
from pathlib import Path

DATA_VARIABLE = "ADVISOR_DATA_DIR"  # environment variable that overrides the user's data folder

HOMELESS = Path("/.local/share/offload-advisor")
"""Data folder of a user without a home folder, as in some containers."""


def data_folder() -> Path:
    """User's data folder; the environment variable ADVISOR_DATA_DIR overrides it."""
    import platformdirs  # takes time to load, and few answers need it

    chosen = os.environ.get(DATA_VARIABLE, "").strip()
    try:
        return Path(chosen or platformdirs.user_data_dir("offload-advisor", False)).expanduser()
    except RuntimeError:
        return HOMELESS
