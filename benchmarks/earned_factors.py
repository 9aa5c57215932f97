"""Whether each kind of fitted factor makes predictions on other sources better.

    python -m benchmarks.earned_factors

Prints, for each constant of llama.cpp and each column it differs by, the mean error of left-out
sources with the factors and without them, as a logarithm; what earns nothing stands first and goes.
"""

from lab.earned import worths
from lab.llama_cpp import published, rows_of


def main() -> None:
    """Print the worth of every kind of factor."""
    known = sorted(worths(rows_of(published())), key=lambda worth: worth.dropped - worth.kept)
    print(f"{'constant':28} {'by':26} factors  rows  groups   kept  dropped")
    for worth in known:
        print(
            f"{worth.constant:28} {' and '.join(worth.columns):26} {worth.factors:7} {worth.rows:5}"
            f" {worth.groups:7}  {worth.kept:.4f}  {worth.dropped:.4f}"
            f"{'' if worth.earned else '  earns nothing'}"
        )


if __name__ == "__main__":
    main()
