"""`python -m advisor`."""

import sys

from advisor.cli.main import main

if __name__ == "__main__":  # not in the processes that answer parts of a file
    sys.exit(main())
