"""Published runs of MLX in the columns of llama.cpp's rows, with which they are fitted."""

import re
from collections.abc import Iterator

from advisor.catalog.csv_tables import DATA
from advisor.evidence.published.row import PublishedRow, published_rows
from advisor.runtimes.by_bits import IN_GROUPS

FILE = DATA / "measurements" / "frameworks_more.csv"
RUNTIME = re.compile(r"mlx-lm\b", re.IGNORECASE)
"""mlx-vlm reads pictures too and omlx keeps prompts: other programs, and slower ones."""
BITS = re.compile(r"(?:mlx )?q?(\d)(?:[ -]?bit)?(?: \(mlx\))?$", re.IGNORECASE)
"""A number of bits as sources write it: "q4", "MLX 4bit", "4bit (MLX)"; other sizes of groups and
floats of 4 bits say more, and are not read."""
CHUNK = "ub2048"
"""Tokens of a prompt that mlx_lm computes together (`--prefill-step-size`)."""


def rows() -> Iterator[PublishedRow]:
    """Runs of one sequence with an ordinary cache, in formats whose size is known."""
    for row in published_rows(FILE):
        form = _form(row.quant)
        if not RUNTIME.search(row.runtime) or form is None or not _ordinary(row):
            continue
        cells = {
            **row.cells,
            "tg_tps": row.cells["tg_tps_total"],
            "quant": form,
            "ngl": "999",
            "source_note": f"{row.source_note}; {CHUNK}",
        }
        yield PublishedRow(cells)


def _ordinary(row: PublishedRow) -> bool:
    """An ordinary cache, one sequence, on a chip that is known: M4 Max is two, by GPU cores."""
    if "core count" in row.source_note and "not stated" in row.source_note:
        return False
    packed = "kv_cache=" in row.other_metric and "kv_cache=default" not in row.other_metric
    return row.batch == 1.0 and not packed


def _form(quant: str) -> str | None:
    stated = BITS.match(quant.strip())
    if stated is not None:
        return IN_GROUPS.get(int(stated[1]))
    return "BF16" if quant.strip().casefold() == "bf16" else None
