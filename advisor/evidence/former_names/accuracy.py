"""`python -m advisor.accuracy`: the same as `python -m advisor accuracy --write`."""

import sys

from advisor.evidence.accuracy.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
