"""Stand-ins for models that are known by their name's words alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

from advisor.errors import InputError, Refusal
from advisor.model import catalog, resolve
from advisor.model.architecture import Architecture
from advisor.model.by_name import stand_in
from advisor.model.by_name.names import StatedSize, stated_size, take_apart
from advisor.model.by_name.stand_in import ACTIVE_UNCERTAINTY, SHAPE_UNCERTAINTY, of_size


@pytest.mark.parametrize(
    ("text", "params", "active"),
    [
        ("Foo-35B-A3B", 35e9, 3e9),
        ("some 8B", 8e9, None),
        ("tiny-270M", 270e6, None),
        ("Big-1T-A32B", 1e12, 32e9),
        # Mixtral 8x7B has 46.7e9 weights and uses 12.9e9 (arXiv:2401.04088, section 2).
        ("Other-8x7B", 46.7e9, 12.9e9),
        ("REAP-139B-A10B", 139e9, 10e9),
        ("Qwen3-30B-A3B-REAP-25B", 25e9, 3e9),  # pruned from 30 B
    ],
)
def test_a_name_tells_its_sizes(text: str, params: float, active: float | None) -> None:
    size = stated_size(take_apart(text))
    assert size is not None
    assert size.params == pytest.approx(params)
    assert (size.active or 0) == pytest.approx(active or 0)


@pytest.mark.parametrize("text", ["Foo", "gpt", "Kimi-K9", "4bit"])
def test_a_name_may_tell_no_size(text: str) -> None:
    assert stated_size(take_apart(text)) is None
    assert stand_in.stand_in(take_apart(text)) is None


@pytest.mark.parametrize(
    ("params", "active"),
    [(0.5e9, None), (7e9, None), (70e9, None), (35e9, 3e9), (235e9, 22e9), (1e12, 32e9)],
)
def test_a_stand_in_has_the_requested_size(params: float, active: float | None) -> None:
    built = of_size("x", StatedSize(params=params, active=active))
    assert built.params == pytest.approx(params, rel=0.01)
    assert built.active_params == pytest.approx(active or params, rel=0.05)
    assert built.shape_uncertainty == SHAPE_UNCERTAINTY


@pytest.mark.parametrize(("params", "active"), [(0.0, None), (7e9, 8e9), (float("nan"), None)])
def test_a_stand_in_of_nothing_is_refused(params: float, active: float | None) -> None:
    with pytest.raises(InputError, match="not a model"):
        StatedSize(params=params, active=active)


def test_a_cut_model_has_its_familys_shape_and_its_own_size() -> None:
    made = stand_in.stand_in(take_apart("MiniMax-M2.1-REAP-139B-A10B"))
    assert made is not None
    assert made.architecture.layers == catalog.architecture("MiniMax-M2.1").layers
    assert made.architecture.params == pytest.approx(139e9, rel=0.01)
    assert "Its name says 139 B weights, 10 B of them active" in made.notes[0]
    assert "MiniMax-M2.1" in made.notes[0]


@pytest.mark.parametrize(("text", "experts"), [("Foo-60B", False), ("Foo-560B", True)])
def test_a_large_model_without_stated_active_weights_has_experts(text: str, experts: bool) -> None:
    made = stand_in.stand_in(take_apart(text))
    assert made is not None
    assert (made.architecture.experts is not None) == experts
    assert ("It does not say that" in made.notes[0]) == experts
    assert (made.architecture.shape_uncertainty > SHAPE_UNCERTAINTY) == experts


@pytest.mark.parametrize(
    ("text", "relative"), [("gpt-oss-200b", "gpt-oss"), ("Qwen3.5-40B", "qwen3.5-27b")]
)
def test_a_name_without_active_weights_is_of_its_familys_kind(text: str, relative: str) -> None:
    """gpt-oss states no active weights in names of models with experts, Qwen3.5 does."""
    made = stand_in.stand_in(take_apart(text))
    assert made is not None
    assert relative in made.row.name.casefold()


@pytest.mark.parametrize("year", [2023, 2024, 2025, 2026])
def test_a_model_without_a_relative_has_a_shape_of_its_years(year: int) -> None:
    made = stand_in.stand_in(take_apart("Foo-8B"), year)
    assert made is not None
    assert abs(stand_in.year_of(made.row) - year) <= 1


def test_the_uncertainty_of_assumed_experts_is_that_of_known_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each model with experts from 100 billion weights, described by its total alone."""
    known_sizes = stand_in._known_sizes("")
    errors = []
    for name, row in catalog.model_rows().items():
        exact = catalog.architecture(name)
        family = take_apart(name).shape[0]
        if not row.experts or exact.params < 100e9:
            continue
        others = tuple(entry for entry in known_sizes if entry[0].split()[0] != family)
        monkeypatch.setattr(stand_in, "_known_sizes", lambda _, others=others: others)
        made = of_size("x", StatedSize(params=exact.params, active=None, may_have_experts=True))
        errors.append(abs(math.log(read_bytes(made) / read_bytes(exact))))
    assert len(errors) > 25
    assert np.quantile(errors, 0.9) < ACTIVE_UNCERTAINTY


def read_bytes(architecture: Architecture) -> float:
    return catalog.in_format(architecture, "Q4_K_M").read_bytes_per_token


def test_the_uncertainty_is_that_of_stand_ins_for_known_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each model of the catalogue whose name tells its size, described without itself."""
    known_sizes = stand_in._known_sizes
    errors = []
    for name, row in catalog.model_rows().items():
        size = stated_size(take_apart(name))
        key = " ".join(take_apart(name).shape)
        if size is None or row.released < "2024" or name.startswith("gpt-oss"):
            continue
        known = known_sizes(take_apart(name).shape[0])
        others = tuple(entry for entry in known if entry[0] != key and entry[1].name != name)
        monkeypatch.setattr(stand_in, "_known_sizes", lambda _, others=others: others)
        made = of_size(name, size)
        errors.append(abs(math.log(read_bytes(made) / read_bytes(catalog.architecture(name)))))
    assert len(errors) > 45
    assert np.quantile(errors, 0.9) < SHAPE_UNCERTAINTY


def test_an_uncertain_shape_widens_the_range() -> None:
    exact = catalog.architecture("Llama-3.1-8B")
    assert exact.shape_uncertainty == 0.0
    assert replace(exact, shape_uncertainty=0.3).params == exact.params


@pytest.mark.parametrize(
    "text",
    ["Finch-14B", "Hymba-1.5B", "Jet-Nemotron-2B", "Plamo-2-8B", "Qwerky-72B", "evo2-7b",
     "BlackMamba-2.8B"],
)  # fmt: skip
def test_a_name_of_layers_that_keep_a_state_gets_no_growing_cache(text: str) -> None:
    """RWKV-6 (arXiv 2404.05892), Hymba (2411.13676), Jet-Nemotron (2508.15884), PLaMo 2 (Samba,
    2406.07522), Qwerky (2505.03005), StripedHyena 2, BlackMamba (2402.01771).
    """
    with pytest.raises(Refusal, match="keep a state"):
        resolve.from_name(text)
