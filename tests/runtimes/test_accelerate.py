"""Accelerate's own placement, block by block, against ours."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings, Tier
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Host, Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.build import build
from advisor.model.config.read import facts_of
from advisor.model.config.values import language_config
from advisor.model.model import Model
from advisor.model.resolve import from_file
from advisor.runtimes.accelerate import (
    ACCELERATE,
    HEAD,
    MEMORY_USED,
    NORM,
    TABLE,
    blocks,
    blocks_that_fit,
    device_map,
)
from advisor.runtimes.weight_streaming import ACTIVATIONS

needs_transformers = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("accelerate", "transformers", "torch")),
    reason="accelerate, transformers and torch are not installed (requirements-oracles.txt)",
)

CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "llama": {"hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 8,
              "num_key_value_heads": 4, "tie_word_embeddings": False},
    "qwen2": {"hidden_size": 896, "intermediate_size": 4864, "num_attention_heads": 14,
              "num_key_value_heads": 2, "tie_word_embeddings": True},
    "qwen3": {"hidden_size": 1024, "intermediate_size": 3072, "num_attention_heads": 16,
              "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": False},
    "mistral": {"hidden_size": 768, "intermediate_size": 6144, "num_attention_heads": 12,
                "num_key_value_heads": 4, "tie_word_embeddings": False},
    "mixtral": {"hidden_size": 512, "intermediate_size": 1792, "num_attention_heads": 8,
                "num_key_value_heads": 4, "num_local_experts": 8, "tie_word_embeddings": False},
    "gemma": {"hidden_size": 1024, "intermediate_size": 8192, "num_attention_heads": 8,
              "num_key_value_heads": 1, "head_dim": 128, "tie_word_embeddings": True},
    "phi3": {"hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 8,
             "num_key_value_heads": 8, "tie_word_embeddings": False, "pad_token_id": 0},
}  # fmt: skip
"""Small models of seven architectures; of each 12 layers and 32,000 tokens."""

LIMITS = [(0.2, 0.3), (0.4, 0.3), (0.5, 10.0), (0.8, 0.05), (0.97, 10.0), (2.0, 10.0), (0.05, 0.5)]
"""Shares of the model's size that one GPU and RAM may hold."""
SHORT = Workload(prompt=16, output=4, context=64)


@cache
def config(kind: str) -> Any:
    from transformers import AutoConfig

    return AutoConfig.for_model(
        kind, num_hidden_layers=12, vocab_size=32_000, dtype="bfloat16", **CONFIGS[kind]
    )


@cache
def ours(kind: str) -> Model:
    facts = facts_of(*language_config(kind, json.loads(config(kind).to_json_string())))
    return catalog.in_format(build(facts), "BF16-hf")


@cache
def theirs(kind: str) -> Any:
    """The model itself, without its weights, its head tied where it is."""
    import torch
    from accelerate import init_empty_weights
    from transformers import AutoModelForCausalLM

    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(config(kind), dtype=torch.bfloat16)
    model.tie_weights()
    return model


def block_of(module: str) -> str | None:
    """Our name for a module of theirs; None for buffers of a few bytes."""
    layer = re.search(r"layers\.(\d+)", module)
    if layer:
        return layer[1]
    names = {"embed_tokens": TABLE, "norm": NORM, "lm_head": HEAD}
    return names.get(module.split(".")[-1])


def their_map(kind: str, limits: Mapping[int | str, int]) -> dict[str, int | str]:
    """What `device_map="auto"` makes of limits, for every block."""
    from accelerate import infer_auto_device_map

    model = theirs(kind)
    result = infer_auto_device_map(
        model,
        max_memory={**limits, "disk": 10**15},
        no_split_module_classes=model._no_split_modules,
        clean_result=False,
        offload_buffers=True,
    )
    return by_blocks(kind, result)


def by_blocks(kind: str, record: Mapping[str, int | str]) -> dict[str, int | str]:
    """A map of modules, for every block in them."""
    model = theirs(kind)
    whole: dict[str, int | str] = {}
    for module, device in record.items():
        inside = f"{module}." if module else ""
        names = [name for name, _ in model.named_modules() if f"{name}.".startswith(inside)]
        blocks_there = {block_of(name) for name in names if name.count(".") <= 2}
        whole |= dict.fromkeys(blocks_there - {None}, device)  # type: ignore[arg-type]
    return whole


@needs_transformers
@pytest.mark.parametrize("kind", CONFIGS)
def test_blocks_are_as_large_as_theirs(kind: str) -> None:
    from accelerate.utils import compute_module_sizes

    sizes = compute_module_sizes(theirs(kind))
    for module, size in sizes.items():
        if module.count(".") <= 2:
            name = block_of(module)
        else:
            name = None
        outcome = blocks(ours(kind))
        if name in outcome and size:
            # Gemma keeps a factor of two bytes beside its table.
            assert outcome[name] == pytest.approx(size, abs=2), module


@needs_transformers
@pytest.mark.parametrize("kind", CONFIGS)
def test_every_block_lies_where_accelerate_puts_it(kind: str) -> None:
    model = ours(kind)
    for shares in LIMITS:
        gpu, ram = (int(share * model.file_bytes) for share in shares)
        assert device_map(model, [gpu], ram) == their_map(kind, {0: gpu, "cpu": ram}), shares


@needs_transformers
@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_two_gpus_are_filled_one_after_the_other(kind: str, monkeypatch: Any) -> None:
    from accelerate.utils import modeling

    monkeypatch.setattr(modeling, "get_max_memory", lambda limits: dict(limits))
    model = ours(kind)
    gpu = int(0.45 * model.file_bytes)
    ram = int(0.2 * model.file_bytes)
    expected = their_map(kind, {0: gpu, 1: gpu, "cpu": ram})
    assert device_map(model, [gpu, gpu], ram) == expected
    assert {0, 1} <= set(expected.values())


def machine_for(model: Model, gpus: Sequence[float], ram: float) -> Machine:
    """GPUs and RAM that leave such shares of a model's size to its weights."""
    base = machine(MachineSpec(gpu="RTX 3090", gpu_count=len(gpus), ram_gb=64))
    cache = float(np.sum(model.kv_bytes(SHORT.context, SHORT.kv_type)))
    sizes = [(share * model.file_bytes + cache + ACTIVATIONS) / MEMORY_USED for share in gpus]
    cards = [
        replace(gpu, memory=replace(gpu.memory, value=size))
        for gpu, size in zip(base.gpus, sizes, strict=True)
    ]
    memory = replace(
        base.host.memory, value=(ram * model.file_bytes + Host.SYSTEM_RAM) / MEMORY_USED
    )
    return replace(base, gpus=tuple(cards), host=replace(base.host, memory=memory))


def key(place: Location) -> int | str:
    """What Accelerate calls a location."""
    return {Tier.VRAM: place.device, Tier.RAM: "cpu", Tier.DISK: "disk"}[place.tier]


def lies(model: Model, placement: Placement) -> dict[str, int | str]:
    """The place of each block in a placement, which has none of its own for the final norm."""
    layers = {
        str(layer): key(place)
        for place, shares in placement.weights.items()
        for layer in np.flatnonzero(shares[Group.NORMS])
    }
    heads = [key(place) for place, share in placement.output.items() if float(share)]
    return {TABLE: key(placement.embedding), **layers, HEAD: heads[0]}


@needs_transformers
@pytest.mark.parametrize("kind", CONFIGS)
def test_the_placement_follows_from_the_printed_limits(kind: str) -> None:
    model = ours(kind)
    for shares, strategy in product(LIMITS, PlacementStrategy):
        where = machine_for(model, shares[:1], shares[1])
        result = ACCELERATE.place(model, where, SHORT, strategy, Settings())
        limits = {key(place): int(size) for place, size in result.limits.items()}
        theirs = their_map(kind, limits)
        theirs.pop(NORM)
        assert lies(model, result) == theirs, (shares, strategy)
        printed = ACCELERATE.command(model, result, where, SHORT)
        assert all(f'"{size // 2**20}MiB"' in printed for size in limits.values())


@needs_transformers
@pytest.mark.parametrize("kind", CONFIGS)
def test_several_gpus_hold_the_blocks_of_transformers(kind: str, monkeypatch: Any) -> None:
    """`device_map="auto"` balances GPUs first, so its own function is asked, not Accelerate's."""
    from transformers.integrations import accelerate

    monkeypatch.setattr(accelerate, "get_max_memory", lambda limits: dict(limits))
    model = ours(kind)
    of_two = ((0.3, 0.4, 0.2), (0.2, 0.2, 2.0), (0.7, 0.6, 1.0))
    for shares, strategy in product(of_two, PlacementStrategy):
        where = machine_for(model, shares[:2], shares[2])
        result = ACCELERATE.place(model, where, SHORT, strategy, Settings())
        limits = {key(place): int(size) for place, size in result.limits.items()}
        whole = accelerate._get_device_map(theirs(kind), "auto", limits, None)
        held = by_blocks(kind, whole)
        assert lies(model, result).items() <= held.items(), (shares, strategy)


@needs_transformers
@pytest.mark.parametrize("shares", [(0.4, 1.0), (0.3, 0.3)], ids=str)
@pytest.mark.parametrize("kind", ["llama", "mistral", "mixtral", "gemma"])
def test_the_snippet_runs_as_printed(
    kind: str, shares: tuple[float, float], tmp_path: Path
) -> None:
    """Without a GPU its share goes to the CPU; what neither holds comes from the drive."""
    saved(kind, tmp_path / "tiny")
    model = from_file(tmp_path / "tiny", "BF16-hf").model
    where = machine_for(model, shares[:1], shares[1])
    if sum(shares) < 1:
        strategy = PlacementStrategy.NVME_OFFLOAD
    else:
        strategy = PlacementStrategy.CPU_OFFLOAD
    placement = ACCELERATE.place(model, where, SHORT, strategy, Settings())
    snippet = ACCELERATE.command(model, placement, where, SHORT)
    gpu, ram = (int(placement.limits[place]) // 2**20 for place in (Location.vram(0), Location.RAM))
    of_both = snippet.replace(f'0: "{gpu}MiB", "cpu": "{ram}MiB"', f'"cpu": "{gpu + ram}MiB"')
    of_both = of_both.replace("'tiny'", "'./tiny'")
    assert of_both.count("cpu") == snippet.count("cpu")
    whole = "{'': 'cpu'}"  # a model on one device has no map
    shown = f"\nprint(sorted(set(getattr(model, 'hf_device_map', {whole}).values())))"
    done = subprocess.run(
        [sys.executable, "-c", of_both + shown],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    on_drive = placement.weights.keys() >= {Location.DISK}
    assert done.stdout.splitlines()[-1] == ("['cpu', 'disk']" if on_drive else "['cpu']")


def saved(kind: str, folder: Path) -> None:
    """A model of a few MB with random weights, and a tokenizer of a few words."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

    small = {name: value for name, value in CONFIGS[kind].items() if name != "head_dim"}
    heads = min(small["num_key_value_heads"], 4)
    small |= {"hidden_size": 256, "intermediate_size": 1024, "head_dim": 32}
    small |= {"num_attention_heads": 8, "num_key_value_heads": heads}
    chosen = AutoConfig.for_model(kind, num_hidden_layers=8, vocab_size=4096, **small)
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(chosen, dtype=torch.bfloat16).save_pretrained(folder)
    words = {"[UNK]": 0, "Paris": 1, "is": 2, "the": 3, "capital": 4, "city": 5, "of": 6}
    made = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]").save_pretrained(folder)


def test_by_hand() -> None:
    """Table 4, layers 3, 3, 3, norm 0, head 4; of 14: 4 + 3 and 4 for the head are 11, another 3
    makes 14, another 17. Of 9 in RAM 3 + 0 + 4 fit.
    """
    sizes = np.array([4.0, 3, 3, 3, 0, 4])
    assert float(blocks_that_fit(sizes, 14.0, keeps_room=True)) == 3
    assert float(blocks_that_fit(sizes, 14.0, keeps_room=False)) == 5
    assert float(blocks_that_fit(sizes[3:], 9.0, keeps_room=True)) == 3
    assert list(blocks_that_fit(sizes, np.array([0.0, 14.0, 100.0]), keeps_room=True)) == [0, 3, 6]


@given(st.floats(1e8, 4e11), st.floats(0, 4e11))
def test_more_room_never_moves_a_block_outwards(gpu: float, ram: float) -> None:
    model = catalog.model("Llama-3.1-8B", "BF16-hf")
    order: list[int | str] = [0, "cpu", "disk"]
    small = device_map(model, [gpu], ram)
    large = device_map(model, [1.5 * gpu], ram)
    assert small.keys() == {TABLE, *map(str, range(32)), NORM, HEAD}
    assert all(order.index(large[name]) <= order.index(small[name]) for name in (TABLE, "0"))
    counted = [list(result.values()).count(0) for result in (small, large)]
    assert counted[0] <= counted[1]


def test_a_tied_head_lies_with_its_table() -> None:
    model = catalog.model("Qwen3-0.6B", "BF16-hf")
    placed = device_map(model, [0.5 * model.file_bytes], 1e12)
    assert placed[HEAD] == placed[TABLE] == 0
    assert "cpu" in placed.values()
