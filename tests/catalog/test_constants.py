"""Which row of the constants holds where."""

import pytest

from advisor.catalog.constants import FACTOR, ConstantRow, Constants, Scope
from advisor.errors import DataError


def row(value: float, constant: str = "share", unit: str = "share", **scope: str) -> ConstantRow:
    """A constant; what `scope` leaves out stands for all."""
    return ConstantRow(
        constant=constant, value=value, unit=unit, kind="assumed", source="this test", **scope
    )


EVERYWHERE = row(0.1)
IN_FORMAT = row(0.2, decode_class="k")
IN_RUNTIME = row(0.3, runtime="vllm")
IN_RUNTIME_AND_FORMAT = row(0.4, runtime="vllm", decode_class="k")
ON_FAMILY = row(0.5, family="Ada")
ON_FAMILY_IN_FORMAT = row(0.6, family="Ada", decode_class="k")
ON_FAMILY_IN_RUNTIME = row(0.7, family="Ada", runtime="vllm")
ALL_THREE = row(0.8, family="Ada", runtime="vllm", decode_class="k")
ROWS = (EVERYWHERE, IN_FORMAT, IN_RUNTIME, IN_RUNTIME_AND_FORMAT, ON_FAMILY,
        ON_FAMILY_IN_FORMAT, ON_FAMILY_IN_RUNTIME, ALL_THREE)  # fmt: skip


def test_a_family_counts_most_then_the_runtime_then_the_format() -> None:
    precisions = [row.precision for row in ROWS]
    assert precisions == sorted(set(precisions))


@pytest.mark.parametrize("dropped", range(len(ROWS)))
def test_the_most_precise_row_that_is_there_holds(dropped: int) -> None:
    left = ROWS[: len(ROWS) - dropped]
    table = Constants(reversed(left), Scope(runtime="vllm", decode_class="k"))
    assert table.row("share", "Ada") is left[-1]


@pytest.mark.parametrize(
    ("runtime", "decode_class", "family", "value"),
    [
        ("llama.cpp", "iq", "Ampere", 0.1),
        ("llama.cpp", "k", "Ampere", 0.2),
        ("vllm", "iq", "Ampere", 0.3),
        ("vllm", "k", "", 0.4),
        ("llama.cpp", "iq", "Ada", 0.5),
        ("vllm", "k", "Ada", 0.8),
    ],
)
def test_rows_of_another_scope_do_not_hold(runtime, decode_class, family, value) -> None:
    assert (
        Constants(ROWS, Scope(runtime=runtime, decode_class=decode_class)).value("share", family)
        == value
    )


def test_a_table_bound_anew_answers_anew() -> None:
    table = Constants(ROWS, Scope(runtime="llama.cpp", decode_class="iq"))
    assert table.value("share", "Ada") == 0.5
    assert table.bound(Scope(runtime="vllm", decode_class="k")).value("share", "Ada") == 0.8
    assert table.value("share", "Ada") == 0.5


def test_a_record_names_each_constant_once_and_leaves_the_table_as_it_was() -> None:
    table = Constants((EVERYWHERE, row(2.0, "token")))
    recorded = table.recorded()
    for _ in range(2):
        assert recorded.value("token") == table.value("token") == 2.0
    assert [first.constant for (first,) in recorded.used] == ["token"]
    assert table.recorded().used == ()


@pytest.mark.parametrize(("constant", "family"), [("speed", ""), ("share", "Ampere")])
def test_a_case_without_a_row_is_named(constant: str, family: str) -> None:
    with pytest.raises(DataError, match=f"{constant}.*{family}"):
        Constants((ON_FAMILY,)).value(constant, family)


def test_factors_multiply_the_common_row() -> None:
    # 0.5 x 1.2 for Ada x 0.8 on Vulkan; an unseen family and backend keep the 0.5.
    table = Constants(
        (
            row(0.5),
            row(1.2, unit=FACTOR, family="Ada"),
            row(0.8, unit=FACTOR, backend="vulkan"),
            row(3.0, unit=FACTOR, build="2024"),
        )
    )
    on_vulkan = table.bound(Scope(backend="vulkan"))
    assert on_vulkan.value("share", "Ada") == pytest.approx(0.48)
    assert on_vulkan.value("share", "Hopper") == pytest.approx(0.4)
    assert table.value("share", "Hopper") == 0.5
    assert table.bound(Scope(build="2024")).value("share") == pytest.approx(1.5)


def test_a_scaled_table_multiplies_the_named_constants_only() -> None:
    table = Constants((EVERYWHERE, row(3.0, constant="other")), Scope(build="2024"))
    scaled = table.scaled({"share": 0.5}, "this test")
    assert scaled.value("share") == pytest.approx(0.05)
    assert scaled.value("other") == 3.0
    assert scaled.scope == table.scope == Scope(build="2024")
    assert table.value("share") == 0.1


def test_a_scaled_table_says_who_scaled_it() -> None:
    scaled = Constants((EVERYWHERE,)).scaled({"share": 0.5}, "this test").recorded()
    scaled.value("share")
    ((_, factor),) = scaled.used
    assert (factor.unit, factor.value, factor.source) == (FACTOR, 0.5, "this test")


def test_measured_constants_are_used_unchanged() -> None:
    rows = (row(0.5), row(1.2, unit=FACTOR, family="Ada"), row(0.3, "spread", family="layers"))
    own = (row(0.9), row(0.1, "spread", family="layers"))
    table = Constants(rows).with_measured(own).bound(Scope(runtime="vllm"))
    assert table.value("share", "Ada") == 0.9
    assert table.value("spread", "layers") == 0.1
    assert Constants(rows).value("share", "Ada") == pytest.approx(0.6)
    assert table.row("share") is own[0]


def test_measured_constants_are_scaled_too() -> None:
    table = Constants((row(0.5), row(3.0, "token"))).with_measured([row(0.8)])
    scaled = table.scaled({"share": 0.5, "token": 2.0}, "this test")
    assert scaled.value("share") == pytest.approx(0.4)
    assert scaled.value("token") == pytest.approx(6.0)
