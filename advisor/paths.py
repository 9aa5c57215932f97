"""Where this program keeps what it must remember."""

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
