"""How long and how much memory a GGUF header with a vocabulary of 250,000 tokens takes.

    python -m benchmarks.gguf_header

Prints one line per figure: seconds and peak MB of ours, and the ratio to gguf.GGUFReader.
"""

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from gguf import GGUFReader, GGUFWriter

from advisor.model.gguf.read import describe_path

TOKENS = 250_000
REPEATS = 7


def write(path: Path) -> None:
    """A file with the arrays of a large vocabulary and one layer."""
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_embedding_length(64)
    writer.add_head_count(4)
    writer.add_token_list([f"token{number}" for number in range(TOKENS)])
    writer.add_token_types([1] * TOKENS)
    for name in ("token_embd.weight", "blk.0.attn_q.weight"):
        writer.add_tensor_info(name, (64, 64), np.dtype(np.float32), 64 * 64 * 4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + 2 * 64 * 64 * 4 + 64)


def seconds(action: Callable[[], object], repeats: int) -> float:
    """The fastest of some runs [s]."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def peak(action: Callable[[], object]) -> float:
    """Most memory of Python objects during a run [B]."""
    tracemalloc.start()
    action()
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(size)


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vocabulary.gguf"
        write(path)
        ours = seconds(lambda: describe_path(path), REPEATS)
        theirs = seconds(lambda: GGUFReader(path), 1)
        memory = peak(lambda: describe_path(path))
        print(f"gguf header, {TOKENS:,} tokens: {ours:.3f} s")
        print(f"gguf header, peak memory: {memory / 1e6:.1f} MB of {path.stat().st_size / 1e6:.1f}")
        print(f"gguf header, faster than gguf.GGUFReader ({theirs:.2f} s): {theirs / ours:.0f} x")


if __name__ == "__main__":
    main()
