"""Where the program's own files lie, and where it keeps what it must remember."""

import os
from pathlib import Path

import platformdirs

DATA_VARIABLE = "ADVISOR_DATA_DIR"

HOMELESS = Path("/.local/share/offload-advisor")
"""The folder of a user without a home, as containers have them: their home is the root."""


def data_folder() -> Path:
    """The person's data folder; the environment variable ADVISOR_DATA_DIR overrides it."""
    chosen = os.environ.get(DATA_VARIABLE, "").strip()
    try:
        return Path(chosen or platformdirs.user_data_dir("offload-advisor", False)).expanduser()
    except RuntimeError:
        return HOMELESS


def product_folder() -> Path:
    """Folder of data/, app.py and .streamlit/: the clone, or within a package that was installed.

    The wheel carries them in advisor/installed/, which a clone does not have (pyproject.toml).
    """
    installed = Path(__file__).resolve().parent / "installed"
    return installed if installed.is_dir() else installed.parents[1]
