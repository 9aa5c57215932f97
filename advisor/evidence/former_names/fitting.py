"""`python -m advisor.fitting`: the same as `python -m advisor refit`."""

import sys

from advisor.evidence.fitting.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
