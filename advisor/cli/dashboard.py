"""`app`: start the dashboard with the settings of `.streamlit/config.toml`."""

import argparse
import runpy
import sys
from importlib.util import find_spec

from advisor.catalog.csv_tables import DATA
from advisor.errors import InputError

PORTS = range(1, 65536)


def run(args: argparse.Namespace) -> None:
    """Serve the pages until interrupted.

    Streamlit is started as a program, so that the command line need not know it. It reads the
    settings that lie beside the script: no address but this machine's, no host name but its own, no
    details of an error on a page.
    """
    if find_spec("streamlit") is None:
        raise ModuleNotFoundError("No module named 'streamlit'", name="streamlit")
    options = []
    if args.port is not None:
        if args.port not in PORTS:
            raise InputError(f"--port is {args.port}; give {PORTS[0]} to {PORTS[-1]}.")
        options = [f"--server.port={args.port}"]
    sys.argv = ["streamlit", "run", str(DATA.parent / "app.py"), *options]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
