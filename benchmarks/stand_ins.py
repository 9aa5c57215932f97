"""How near stand-ins are to models whose family is left out.

    python -m benchmarks.stand_ins [each]

Each model of data/generated/usual_caches.csv is described by the sizes in its name and its year
alone, without its family. Prints the factor within which half and four in five of the models are,
for the bytes read of a token and for the cache of a long text, and the share of models inside the
stated range of what they read; with `each`, every model. Takes some seconds.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from advisor.model import catalog
from advisor.model.architecture import Architecture
from advisor.model.by_name.known import architecture_of
from advisor.model.by_name.named import meant
from advisor.model.by_name.names import is_size, take_apart
from advisor.model.by_name.stand_in import CacheRow, cached_values, rows, stand_in


@dataclass(frozen=True, kw_only=True)
class Apart:
    """How far a stand-in is from a model, as logarithms."""

    row: CacheRow  # the model
    read: float  # bytes read for a token, over the model's
    kept: float  # values of a long text, over the model's
    stated: float  # half width of the range that the stand-in states for what it reads


def apart() -> Iterator[Apart]:
    """Each model of the table beside its stand-in."""
    for row in rows():
        sizes = " ".join(token for token in take_apart(row.model).shape if is_size(token))
        made = stand_in(take_apart(f"unheard of {sizes}"), row.year, without=row.family)
        if made is None:
            continue
        built = made.architecture
        yield Apart(
            row=row,
            read=np.log(read_bytes(built) / read_bytes(architecture_of(meant(row.model).row))),
            kept=np.log(cached_values(built) / row.values),
            stated=built.shape_uncertainty,
        )


def read_bytes(architecture: Architecture) -> float:
    """Bytes read for a token in the usual format."""
    return catalog.in_format(architecture, "Q4_K_M").read_bytes_per_token


def summary(models: list[Apart]) -> str:
    """A line on some models."""
    read, kept = (
        np.abs([getattr(model, figure) for model in models]) for figure in ("read", "kept")
    )
    inside = np.mean([abs(model.read) <= model.stated for model in models])
    return (
        f"{len(models)} models: read within {np.exp(np.median(read)):.2f} and "
        f"{np.exp(np.quantile(read, 0.8)):.2f} times, {inside:.0%} in the range; cache within "
        f"{np.exp(np.median(kept)):.2f} and {np.exp(np.quantile(kept, 0.8)):.2f} times"
    )


def main(each: bool) -> str:
    """The lines."""
    models = list(apart())
    lines = ["All, " + summary(models)]
    for kind, experts in (("Dense", False), ("With experts", True)):
        lines.append(f"{kind}, " + summary([m for m in models if (m.row.experts > 0) == experts]))
    lines += [
        f"{year}, " + summary([model for model in models if model.row.year == year])
        for year in sorted({model.row.year for model in models})
    ]
    if each:
        lines += [
            f"{np.exp(model.read):.2f} {np.exp(model.kept):.2f} {model.row.model}"
            for model in sorted(models, key=lambda model: model.kept)
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(main("each" in sys.argv[1:]) + "\n")
