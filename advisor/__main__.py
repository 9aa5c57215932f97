"""`python -m advisor`."""

from advisor.cli.main import start

if __name__ == "__main__":  # not in the processes that answer parts of a file
    start()
