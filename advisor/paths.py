"""Folders of the program's own files and of the user's data."""

import os
from pathlib import Path

DATA_VARIABLE = "ADVISOR_DATA_DIR"  # environment variable that overrides the user's data folder

HOMELESS = Path("/.local/share/offload-advisor")
"""Data folder of a user without a home folder, as in some containers."""


def data_folder() -> Path:
    """The user's data folder; the environment variable ADVISOR_DATA_DIR overrides it."""
    import platformdirs  # takes time to load, and few answers need it

    chosen = os.environ.get(DATA_VARIABLE, "").strip()
    try:
        return Path(chosen or platformdirs.user_data_dir("offload-advisor", False)).expanduser()
    except RuntimeError:
        return HOMELESS


def product_folder() -> Path:
    """Folder of data/, app.py and .streamlit/: that of the clone, or advisor/installed/ of a wheel.

    A wheel copies them to advisor/installed/, which a clone does not have (pyproject.toml).
    """
    installed = Path(__file__).resolve().parent / "installed"
    if installed.is_dir():
        return installed
    return installed.parents[1]
