"""Our bytes against llama.cpp's own, for catalogue models cut to a few layers.

Widths are the catalogue's; layers, vocabulary and experts are fewer so that files are small. The
last layer computes one row only, so the kind of layer that is to decide must come before it.
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import Allocated, load, needs_engine
from synthetic import write_model

from advisor.cost_model.workload import Workload
from advisor.model.architecture import ArchitectureSpec
from advisor.model.build import build
from advisor.model.catalog import find_model, in_format
from advisor.model.model import Model
from advisor.runtimes.llama_cpp.buffers import compute_buffer, kv_cache_bytes, output_buffer
from advisor.units import MIB

ROUNDING = 0.02 * MIB
"""The log has two decimals, and a line may stand for two parts."""


@dataclass(frozen=True)
class Shape:
    """A catalogue model as llama.cpp's architecture `arch`, with some of its numbers replaced."""

    model: str
    arch: str
    form: str
    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def facts(self) -> ArchitectureSpec:
        return replace(find_model(self.model), **{"layers": 2, "vocab": 8192, **dict(self.changes)})


def shape(model: str, arch: str, form: str = "Q4_K_M", **changes: Any) -> Shape:
    return Shape(model, arch, form, tuple(changes.items()))


SHAPES = [
    shape("Llama-2-7B", "llama", "Q2_K"),
    shape("Llama-3.2-1B", "llama", vocab=128256),
    shape("Qwen2.5-1.5B", "qwen2"),
    shape("Qwen3-4B", "qwen3", "Q8_0"),
    shape("Mixtral-8x7B", "llama", "IQ2_XXS", experts=2),
    shape("Qwen3-30B-A3B", "qwen3moe", experts=16),
    shape("MiniMax-M2", "minimax-m2", experts=8),
    shape("gpt-oss-20b", "gpt-oss", "MXFP4", experts=4),
    shape("GLM-4.7-Flash", "deepseek2", experts=8, layers=3),
    shape(
        "DeepSeek-V3.2",
        "deepseek32",
        experts=8,
        layers=3,
        first_dense=1,
        hidden=2048,
        heads=32,
        intermediate=4096,
        moe_intermediate=512,
    ),
    shape("Gemma-3-4B", "gemma3", "Q3_K_M", layers=6),
    shape(
        "Gemma-4-31B",
        "gemma4",
        layers=6,
        hidden=1536,
        intermediate=6144,
        heads=8,
        kv_heads=4,
        global_kv_heads=1,
    ),
    shape("Qwen3.5-4B", "qwen35", layers=4),
    shape("Qwen3.5-35B-A3B", "qwen35moe", layers=4, experts=8),
    shape("Nemotron-3-Nano-30B-A3B", "nemotron_h_moe", "Q2_K", layers=7, experts=8),
]
"""Multi-head, grouped, tied, with experts, sliding window, MLA, and three kinds of hybrid."""

RUNS: list[dict[str, Any]] = [
    {"context": 500},
    {"context": 16384, "kv_type": "q8_0", "ubatch": 256},
    {"context": 4096, "kv_type": "q4_0", "ubatch": 1024, "users": 3},
]

TELLS_HEADS = {"Llama-2-7B", "Qwen3-4B", "gpt-oss-20b", "GLM-4.7-Flash", "Gemma-3-4B", "Qwen3.5-4B"}


@cache
def in_its_format(shape: Shape) -> Model:
    return in_format(build(shape.facts), shape.form)


def ask(path: Path, work: Workload, **options: Any) -> Allocated:
    return load(
        path,
        n_ctx=int(work.context * work.users),
        n_ubatch=int(work.ubatch),
        n_parallel=int(work.users),
        kv_type=work.kv_type,
        no_extra_bufts=True,
        **options,
    )


@needs_engine
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.model)
def test_the_engine_allocates_the_predicted_sizes(shape: Shape, tmp_path: Path) -> None:
    path = write_model(tmp_path / "model.gguf", shape.arch, shape.facts, shape.form)
    model = in_its_format(shape)
    for run in RUNS:
        work = Workload(**run)
        engine = ask(path, work)
        cache_bytes = np.sum(kv_cache_bytes(model, work)) * work.users
        assert model.file_bytes == pytest.approx(engine.mapped, rel=0.001), run
        assert cache_bytes == pytest.approx(engine.cache, rel=0.001, abs=ROUNDING), run
        assert compute_buffer(model.architecture, work) == pytest.approx(
            engine.compute, rel=0.05, abs=ROUNDING
        ), run
        assert output_buffer(model.architecture, work) == pytest.approx(
            engine.output, abs=ROUNDING
        ), run


@needs_engine
@pytest.mark.parametrize(
    "shape",
    [shape for shape in SHAPES if shape.model in TELLS_HEADS],
    ids=lambda shape: shape.model,
)
def test_without_flash_attention_scores_are_written_out(shape: Shape, tmp_path: Path) -> None:
    path = write_model(tmp_path / "model.gguf", shape.arch, shape.facts, shape.form)
    work = Workload(context=8192, flash_attention=False)
    engine = ask(path, work, flash_attention=False)
    ours = compute_buffer(in_its_format(shape).architecture, work)
    assert ours == pytest.approx(engine.compute, rel=0.05)


@needs_engine
def test_windowed_layers_can_keep_the_whole_context(tmp_path: Path) -> None:
    shape = next(item for item in SHAPES if item.arch == "gpt-oss")
    path = write_model(tmp_path / "model.gguf", shape.arch, shape.facts, shape.form)
    work = Workload(context=4096)
    engine = ask(path, work, swa_full=True)
    ours = np.sum(kv_cache_bytes(in_its_format(shape), replace(work, swa_full=True)))
    assert ours == pytest.approx(engine.cache, rel=0.001)


@needs_engine
def test_a_large_vocabulary_counts_once_per_user(tmp_path: Path) -> None:
    item = shape("Qwen3-4B", "qwen3", "Q8_0", hidden=256, intermediate=512, vocab=151936)
    path = write_model(tmp_path / "model.gguf", item.arch, item.facts, item.form)
    work = Workload(context=256, users=48)
    engine = ask(path, work)
    assert compute_buffer(in_its_format(item).architecture, work) == pytest.approx(
        engine.compute, rel=0.05
    )
    assert output_buffer(in_its_format(item).architecture, work) == pytest.approx(
        engine.output, abs=ROUNDING
    )


@needs_engine
@pytest.mark.parametrize(("form", "copied"), [("Q4_0", True), ("Q6_K", False)])
def test_repacked_weights_are_copies_beside_the_mapped_file(
    form: str, copied: bool, tmp_path: Path
) -> None:
    item = shape("Qwen3-4B", "qwen3", form)
    path = write_model(tmp_path / "model.gguf", item.arch, item.facts, item.form)
    engine = load(path, n_ctx=512)
    read = load(path, n_ctx=512, load_mode=0)
    whole = in_its_format(item).file_bytes
    assert engine.mapped == pytest.approx(whole, rel=0.001)
    assert bool(engine.repacked > 0.5 * whole) is copied
    assert read.mapped + read.repacked == pytest.approx(whole, rel=0.001)
