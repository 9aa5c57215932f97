"""The shipped constants are what the command writes, and the solver finds what it should."""

import numpy as np
import pytest

from advisor.evidence.fitting.__main__ import refitted
from advisor.evidence.fitting.llama_cpp_fit import problem, solve
from advisor.evidence.fitting.llama_cpp_parameters import PARAMETERS
from advisor.evidence.fitting.llama_cpp_rows import decoded, seconds
from advisor.evidence.fitting.spreads import _covering

ROW = {
    "id": "1", "category": "resident", "runtime": "llama.cpp", "gpu": "RTX 4090", "gpu_count": "1",
    "cpu": "", "threads": "", "ram_channels": "", "ram_mts": "", "ram_bw_gbs": "", "model":
    "Llama-3.1-8B", "params_b": "8.03", "quant": "Q4_K_M", "model_size_gib": "4.58", "ngl": "999",
    "n_cpu_moe": "", "context_depth": "0", "pp_tps": "", "tg_tps": "100", "date": "2026-01",
    "source_url": "https://example.com", "source_note": "test=tg128", "doubtful": "False",
}  # fmt: skip


def test_the_shipped_tables_are_what_the_command_writes() -> None:
    written = refitted()
    assert {path.name for path in written} == {"efficiency.csv", "left_out.csv"}
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text


def test_a_stack_times_rows_by_the_cost_model_itself() -> None:
    # 8B in Q4_K_M: 4.92 GB less the embedding, at 1008 GB/s and a share of 0.85; 32 layers.
    stack = decoded([ROW])
    values = {name: np.array([one.start]) for name, one in PARAMETERS.items()}
    weights = float(stack.on_gpu.weights[0])
    cache = float(stack.on_gpu.kv[0])
    by_hand = weights / (0.85 * 1008e9) + cache / (0.6 * 1008e9) + 32 * 45e-6 + 200e-6
    assert seconds(stack, values)[0] == pytest.approx(by_hand, rel=1e-6)
    assert 4.4e9 < weights < 4.92e9


def test_rows_made_with_known_constants_give_them_back() -> None:
    # Rows of three sources whose time is exactly 0.75 of peak and 60 us a layer.
    models = ("Llama-3.2-3B", "Llama-3.1-8B", "Qwen2.5-14B", "Qwen2.5-32B", "Llama-3.1-70B")
    rows = [
        {**ROW, "id": f"{name} {form} {source}", "model": name, "params_b": "", "quant": form,
         "model_size_gib": "", "gpu": "RTX PRO 6000 Blackwell", "source_url": source}
        for name in models for form in ("Q4_K_M", "Q8_0") for source in "abc"
    ]  # fmt: skip
    stack = decoded(rows)
    values = {name: np.full(len(rows), one.start) for name, one in PARAMETERS.items()}
    values["gpu_read_share"][:] = 0.75
    values["gpu_layer"][:] = 60e-6
    object.__setattr__(stack, "seconds", seconds(stack, values))
    task = problem(stack, ("gpu_read_share", "gpu_layer"))
    found = solve(task)
    again = np.exp(task.log_seconds(found.values))
    assert np.allclose(again, stack.seconds, rtol=0.01)
    assert np.allclose(found.predicted, stack.seconds, rtol=0.03)


def test_the_width_that_covers_four_in_five() -> None:
    off = np.linspace(0.01, 1.0, 100)
    assert _covering(lambda width: np.full(100, width), off) == pytest.approx(0.8, abs=0.01)
