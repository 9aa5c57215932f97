"""A present machine that its name says is rented."""

from dataclasses import replace

import pytest

from advisor.advice.advise import advise
from advisor.advice.prices.rows import last_day, rent_rows
from advisor.advice.table.option import OptionKind, as_rented, rent_on_record, unknown_rent
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Form
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import Ownership

PRICED = "g6e.xlarge"
UNPRICED = "g5.12xlarge"


@pytest.mark.parametrize(
    ("name", "rented"),
    [
        (PRICED, PRICED),
        ("m7a.24xlarge", "m7a.24xlarge"),  # by the rule of its family
        ("Mac Studio M3 Ultra 512GB", ""),
        ("Legion with 4070", ""),
        ("we rent an H100", "H100 SXM"),  # by the words beside its cards
        ("2x 3090 Threadripper", ""),
    ],
)
def test_a_name_says_whether_a_provider_owns_the_machine(name: str, rented: str) -> None:
    assert machine_by_name(name).rented == rented


def test_rented_cards_cost_the_least_rent_of_as_many_and_take_no_further_one() -> None:
    rented = machine_by_name("2x A100 80GB, rented")
    row = rent_on_record(rented)
    alike = [each for each in rent_rows() if each.gpu == rented.gpus[0].name and each.date]
    assert row is not None
    assert row.usd == min(each.usd for each in alike if each.gpu_count == 2)
    answer = advise(catalog.model("Llama-3.3-70B", "AWQ"), rented, Workload())
    assert answer.options[0].cost is not None
    assert answer.options[0].cost.rent + answer.options[0].cost.starts > 0
    kinds = {option.kind for option in answer.options}
    assert not kinds & {OptionKind.ADD, OptionKind.REPLACE}


def test_a_card_typed_over_makes_it_a_machine_of_ones_own() -> None:
    assert machine_by_name(PRICED, MachineSpec(gpu="RTX 3090")).rented == ""


def test_it_is_rented_at_its_newest_price_on_record() -> None:
    machine = machine_by_name(PRICED)
    row = rent_on_record(machine)
    assert row is not None
    others = [other for other in rent_rows() if other.instance == PRICED and other.date]
    assert last_day(row.date) == max(filter(None, (last_day(other.date) for other in others)))
    kept = as_rented(Ownership(), machine)
    assert (kept.rented_at, kept.owned, kept.on_record) == (row.usd, False, True)
    assert not [*unknown_rent(kept, machine)]


def test_what_is_kept_pays_the_rent_of_its_hours() -> None:
    """Rent a month: hours rented times the price; nothing is tied up, and nothing is sold."""
    machine = machine_by_name(PRICED)
    advice = advise(catalog.model("Qwen3-32B", "Q4_K_M"), machine, Workload())
    row = rent_on_record(machine)
    kept = advice.options[0]
    assert row is not None
    assert kept.cost is not None
    assert kept.kind is OptionKind.KEEP
    typed = advise(
        catalog.model("Qwen3-32B", "Q4_K_M"),
        machine,
        Workload(),
        ownership=Ownership(rented_at=row.usd),
    )
    assert kept.monthly == typed.options[0].monthly
    assert (kept.price.date, kept.price.sources) == (row.date, (row.source,))
    assert OptionKind.ADD not in {option.kind for option in advice.options}
    assert OptionKind.REPLACE not in {option.kind for option in advice.options}


def test_without_a_price_it_is_said_and_counts_as_free() -> None:
    machine = machine_by_name(UNPRICED)
    kept = as_rented(Ownership(), machine)
    assert kept.rented_at == 0
    (sentence,) = unknown_rent(kept, machine)
    assert "--rented-at" in sentence
    typed = Ownership(rented_at=5.67)
    assert as_rented(typed, machine) == typed
    assert not [*unknown_rent(typed, machine)]


def test_it_cannot_be_sold() -> None:
    with pytest.raises(InputError, match=r"belongs to its provider and cannot be sold for \$500"):
        as_rented(Ownership(resale=500), machine_by_name(PRICED))


def test_others_stay_as_they_are() -> None:
    own = Ownership(form=Form.MAC, resale=900)
    assert as_rented(own, machine_by_name("Mac Studio M3 Ultra 512GB")) == own
    nothing = Ownership(nothing=True)
    assert as_rented(nothing, replace(machine_by_name(PRICED))) == nothing
