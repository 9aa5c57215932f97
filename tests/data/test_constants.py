"""data/generated/efficiency.csv: every constant explained, plausible, and there for whoever
asks."""

import ast
from pathlib import Path

import pytest
from provenance import is_past

import advisor
from advisor.catalog.constants import FACTOR, Constants, Scope, constant_rows
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.processors import matrices
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import FixedTime
from advisor.cost_model.uncertainty import BY_TRAIT, PUBLISHERS, TRAITS, Margins
from advisor.evidence.published.engines import ENGINES
from advisor.evidence.published.row import SourceWordsRow
from advisor.machine import from_catalog
from advisor.machine.catalog import GPUS, HOSTS
from advisor.machine.machine import THIN_LAPTOP
from advisor.model.architecture import OPERATORS, Group
from advisor.model.formats import StorageType
from advisor.runtimes import RUNTIMES
from advisor.units import GIB, Provenance, Quantity
from lab.fit import SERVING_ENGINES, parameters

ROWS = tuple(constant_rows(DATA / "generated/efficiency.csv"))
ENGINE_ROWS = tuple(constant_rows(DATA / "generated/engine_kernels.csv"))
TIER_ROWS = tuple(constant_rows(DATA / "generated/tiers.csv"))
OTHER_ENGINES = {runtime.key for runtime in ENGINES.values()}
RANGES = {
    "share": (0, 1.5),
    "factor": (0.02, 20),  # loops over single weights beside the kernels of AVX2
    "s": (1e-7, 1e-2),
    "B/value": (5, 1e4),
    "B/s": (1e8, 1e15),
    "FLOP/s": (1e9, 1e13),
    "count": (0, 1000),
    "FLOP": (1, 2000),
    "B": (0, 1000),
    "tokens": (1, 1000),
    "ratio": (0, 10),
}
"""Smallest and largest constant of each unit. A share may pass 1 by what the datasheet rounds."""


def test_it_says_where_it_comes_from() -> None:
    for row in ROWS:
        assert row.kind in {"assumed", "derived", "measured", "fitted"}
        assert len(row.source) > 5
        assert is_past(row.date)


def test_kinds_are_kinds_of_figures() -> None:
    assert {row.kind for row in ROWS} <= {kind.value for kind in Provenance}


def test_it_is_plausible() -> None:
    for row in ROWS:
        low, high = (0, 2.5) if row.constant.startswith("spread") else RANGES[row.unit]
        assert low <= row.value <= high, row
        if row.unit == "share" and not row.constant.startswith("spread"):
            assert row.value > 0


def test_each_scope_has_one_row() -> None:
    scopes = [
        (row.constant, row.runtime, row.family, row.backend, row.build, row.decode_class)
        for row in ROWS
    ]
    assert len(set(scopes)) == len(scopes)


def test_a_constant_has_one_unit() -> None:
    units: dict[str, str] = {}
    for row in ROWS:
        if row.unit != FACTOR:
            assert units.setdefault(row.constant, row.unit) == row.unit


def test_a_fitted_constant_states_its_number_of_rows() -> None:
    for row in ROWS:
        assert (row.kind == "fitted") == (row.rows is not None)
        assert row.rows is None or 0 < row.rows <= 6000


def test_scopes_name_things_that_exist() -> None:
    classes = {entry.decode_class for entry in StorageType.by_name().values()}
    gpus = {row.family for row in GPUS.rows().values()}
    hosts = {THIN_LAPTOP, *(row.segment for row in HOSTS.rows().values())}
    links = {f"PCIe {generation}" for generation in range(1, 8)}
    parts = {*map(str, Route), FixedTime.LAYERS, FixedTime.CROSSINGS, FixedTime.TOKEN}
    words = read(DATA / "measurements/source_words.csv", SourceWordsRow)
    fork = {row.means for row in words if row.of == "kernels of ik_llama.cpp"}
    sets = {"amx", "avx512", "vnni", "avx2", "sse", "neon", "apple", "Apple", "NVLink", *TRAITS}
    sets |= {"sse4", "scalar", "lasx", "rvv", "asimd", "avx512_wide"}
    kinds = {row.family for row in ROWS if row.constant == PUBLISHERS and row.family}
    assert all(set(kind.split(" + ")) <= set(OPERATORS) for kind in kinds)
    for row in ROWS:
        assert row.runtime in {None, *(runtime.key for runtime in RUNTIMES), *OTHER_ENGINES}
        assert row.decode_class in {None, *classes, *fork}
        assert row.family in {None, *gpus, *hosts, *links, *parts, *sets, *kinds}


def asked_for() -> set[str]:
    """Constants that the code names where it reads their value or row."""
    package = Path(advisor.__file__).parent
    calls = (
        node
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("value", "value_by_family", "row")
    )
    firsts = (call.args[0] for call in calls if call.args)
    spreads = {
        Margins.IN_DECODE,
        Margins.IN_PROMPT,
        *BY_TRAIT.values(),
    }  # asked for through a variable
    return {first.value for first in firsts if isinstance(first, ast.Constant)} | spreads


def test_no_file_is_unused() -> None:
    by_name = {"zero_copy_share", PUBLISHERS}  # asked for through a variable
    here = {row.constant for row in ROWS}
    elsewhere = {row.constant for row in (*ENGINE_ROWS, *TIER_ROWS)} - here
    assert here == (asked_for() | by_name) - elsewhere


def test_constants_of_serving_engines_are_fitted() -> None:
    known = parameters(SERVING_ENGINES).items()
    fitted = {name.partition(" ")[0] for name, parameter in known if parameter.width}
    ranges = {"spread", "spread_by", "spread_prompt", "spread_prompt_by", "sources"}
    ranges.add("engine_publishers")
    assert {row.constant for row in ENGINE_ROWS} == fitted | ranges


def test_constants_of_serving_engines_are_plausible() -> None:
    for row in ENGINE_ROWS:
        parameter = parameters(SERVING_ENGINES).get(row.constant)
        if parameter and row.unit == parameter.unit and row.family != "NVLink":
            assert 0.9 * parameter.least <= row.value <= parameter.most, row


SCOPED = {
    "pcie_x16": [f"PCIe {row.pcie_gen}" for row in GPUS.rows().values() if row.pcie_gen],
    "ram_sustained_share": ["Apple", *(row.segment for row in HOSTS.rows().values())],
    "spread": [*map(str, Route), FixedTime.LAYERS, FixedTime.CROSSINGS, FixedTime.TOKEN],
    "spread_prompt": [*map(str, Route), FixedTime.LAYERS, FixedTime.CROSSINGS, FixedTime.TOKEN],
    "spread_unmeasured": [*map(str, Route), FixedTime.LAYERS, FixedTime.CROSSINGS, FixedTime.TOKEN],
}
"""Constants that hold in families only, and the families they are asked for."""


def test_it_covers_every_case(subtests: pytest.Subtests) -> None:
    for constant in sorted({row.constant for row in ROWS}):
        with subtests.test(str(constant)):
            classes = {entry.decode_class for entry in StorageType.by_name().values()}
            for runtime in RUNTIMES:
                for decode_class in classes:
                    table = Constants.fitted().bound(
                        Scope(runtime=runtime.key, decode_class=decode_class)
                    )
                    for family in set(SCOPED.get(constant, [""])):
                        assert table.value(constant, family) >= 0


def test_two_and_three_bit_formats_decode_at_a_quarter_of_four_bit_ones() -> None:
    # Published sweeps of IQ2 and IQ3 beside Q4_K on the same cores; DESIGN: "a quarter".
    iq, k = (
        Constants.fitted().bound(Scope(decode_class=text)).value("core_decode_rate", "avx2")
        for text in ("iq", "k")
    )
    assert 0.2 <= iq / k <= 0.45


@pytest.mark.parametrize("generation", [1, 2, 3, 4, 5, 6])
def test_no_link_passes_its_line_rate(generation: int) -> None:
    # 16 lanes x 2.5, 5 GT/s x 8b/10b, then 8, 16, 32 GT/s x 128b/130b, then 64 GT/s [GB/s]
    line = {1: 4.0, 2: 8.0, 3: 15.75, 4: 31.5, 5: 63.0, 6: 121.0}[generation]
    reached = Constants.fitted().value("pcie_x16", f"PCIe {generation}") / 1e9
    assert 0.6 * line <= reached <= 0.9 * line


@pytest.mark.parametrize(
    ("cpu", "name"),
    [
        ("Xeon Platinum 8480+", "amx"),
        ("Ryzen 9 7950X", "avx512"),
        ("EPYC 9355", "avx512_wide"),
        ("Ryzen AI 9 HX 370", "avx512"),
        ("Ryzen 9 5950X", "avx2"),
        ("Core i9-13900K", "vnni"),
        ("Xeon Gold 6138", "avx2"),
        ("Apple M4 Max", "apple"),
        ("NVIDIA Grace", "neon"),
    ],
)
def test_the_widest_arithmetic_for_matrices(cpu: str, name: str) -> None:
    assert matrices(from_catalog.host(cpu, Quantity.given(64 * GIB))) == name


def test_groups_are_not_scopes() -> None:
    assert not {row.family for row in ROWS} & {str(group) for group in Group}


def test_fitted_constants_state_their_uncertainty() -> None:
    spreads = ("spread", "sources", "engine_publishers", "batch_share", PUBLISHERS)
    fitted = [row for row in ROWS if row.kind == "fitted" and not row.constant.startswith(spreads)]
    assert len(fitted) > 150
    for row in fitted:
        assert row.spread is not None, row
        assert 0.0 < row.spread < 1.5, row
    assert all(row.spread is None for row in ROWS if row.kind != "fitted")
