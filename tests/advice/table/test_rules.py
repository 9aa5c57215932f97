"""Rules of what an expert rules out: each strikes where its source says, and nowhere beside it."""

from dataclasses import replace

import pytest

from advisor.advice.advise import advise
from advisor.advice.prices.power import further
from advisor.advice.table.option import Option, OptionKind
from advisor.advice.table.rules import card_rules, counts_in, installed, oddities, ruled_out, run_by
from advisor.cost_model.workload import Workload
from advisor.errors import UnknownName
from advisor.machine import from_catalog
from advisor.machine.from_spec import machine
from advisor.machine.machine import Form, Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, VLLM
from lab.many_run import TABLE, many_run

DDR5 = "Desktop DDR5 dual-channel (typical)"


def _odd(gpus: str, *, cpu: str | None = DDR5, before: str = "", form: Form = Form.DESKTOP) -> str:
    """What is odd about a machine's cards."""
    there = machine(MachineSpec(gpu=gpus, cpu=cpu, ram_gb=64 if cpu else None))
    if before:
        had = machine(MachineSpec(gpu=before)).gpus
    else:
        had = ()
    cards = further(had, there.gpus) or there.gpus
    return " ".join(oddities(form, there, cards, (), before=had, built_anew=False))


@pytest.mark.parametrize(
    ("struck", "words", "spared"),
    [
        ({"gpus": "3x RTX 3090", "before": "2x RTX 3090"}, "A third card hangs on a riser",
         {"gpus": "2x RTX 3090", "before": "RTX 3090"}),
        ({"gpus": "Arc B580", "cpu": "i7-6700K"}, "Resizable BAR",
         {"gpus": "Arc B580", "cpu": "i5-12400"}),
        ({"gpus": "P40"}, "CUDA 13 left it out", {"gpus": "RTX 3090"}),
        ({"gpus": "RX 5700 XT"}, "ROCm supports it no more", {"gpus": "RX 7900 XTX"}),
        ({"gpus": "P40"}, "no fan of its own", {"gpus": "RTX A4000"}),
        ({"gpus": "A2"}, "no fan of its own", {"gpus": "RTX A2000 12GB"}),
        ({"gpus": "RTX 3070", "cpu": "i5-6500"}, "Office PCs have supplies",
         {"gpus": "RTX 3070", "cpu": "i7-6700K"}),
        ({"gpus": "2x RTX 3090"}, "A PC that has no card yet", {"gpus": "RTX 3090"}),
        ({"gpus": "RTX 3090", "cpu": "2x Xeon E5-2680 v4", "form": Form.SERVER}, "A rack server",
         {"gpus": "L4", "cpu": "2x Xeon E5-2680 v4", "form": Form.SERVER}),
        ({"gpus": "RTX 2080 Ti 22GB"}, "A reseller changed its memory", {"gpus": "RTX 2080 Ti"}),
        ({"gpus": "RTX 3090 + RX 7900 XTX", "before": "RTX 3090"}, "Another maker's card",
         {"gpus": "RTX 3090 + RTX 4090", "before": "RTX 3090"}),
        ({"gpus": "Jetson Orin Nano Super", "cpu": None, "form": Form.MINI}, "A developer kit",
         {"gpus": "GB10", "cpu": None, "form": Form.MINI}),
        ({"gpus": "Quadro RTX 8000"}, "FlashAttention 2 and BF16 leave", {"gpus": "RTX A6000"}),
        ({"gpus": "Arc Pro B60"}, "Few run it", {"gpus": "RTX 4060 Ti 16GB"}),
    ],
)  # fmt: skip
def test_a_rule_strikes_what_it_is_for_alone(struck, words, spared) -> None:
    assert words in _odd(**struck)
    assert words not in _odd(**spared)


@pytest.mark.parametrize("cpu", ["Raspberry Pi 5", "NVIDIA GB10"])
def test_a_board_without_a_slot_takes_no_card(cpu: str) -> None:
    there = Machine(
        name="",
        gpus=machine(MachineSpec(gpu="RTX 3060 12GB")).gpus,
        disk=None,
        host=machine(MachineSpec(cpu=cpu, gpu="none", ram_gb=8)).host,
    )
    card = from_catalog.gpu("RTX 3060 12GB")
    assert "has no slot" in ruled_out(installed(Form.DESKTOP, there, card))
    desktop = machine(MachineSpec(gpu="RTX 3060 12GB"))
    assert ruled_out(installed(Form.DESKTOP, desktop, card)) == ""


def test_a_machine_that_is_sold_whole_needs_no_slot() -> None:
    spark = machine(MachineSpec(gpu="GB10"))
    assert ruled_out(installed(Form.MINI, spark, spark.gpus[0])) == ""


@pytest.mark.parametrize(
    ("cpu", "has_port"),
    [
        ("i5-9500T", False),
        ("i7-10700T", False),
        ("Ryzen 5 PRO 5650GE", False),
        ("Core Ultra 7 155H", True),
        ("Ryzen 7 8845HS", True),
    ],
)
def test_small_office_computers_have_no_port_for_a_dock(cpu: str, has_port: bool) -> None:
    card = from_catalog.gpu("RTX 3060 12GB")
    there = replace(machine(MachineSpec(cpu=cpu, gpu="none", ram_gb=16)), gpus=(card,))
    assert (ruled_out(installed(Form.MINI, there, card)) == "") is has_port
    assert ruled_out(installed(Form.DESKTOP, there, card)) == ""


def test_unlike_cards_are_odd_for_several_users_alone() -> None:
    there = machine(MachineSpec(gpu="RTX 3090 + RTX 4090"))
    alike = machine(MachineSpec(gpu="2x RTX 3090"))
    for machine_of, users, odd in ((there, 8.0, True), (there, 1.0, False), (alike, 8.0, False)):
        words = " ".join(
            oddities(
                Form.DESKTOP,
                machine_of,
                machine_of.gpus[1:],
                (),
                before=machine_of.gpus[:1],
                built_anew=False,
                users=users,
            )
        )
        assert ("Unlike cards" in words) is odd, (users, words)


@pytest.mark.parametrize(
    ("before", "card", "odd"),
    [
        ("RTX 5090", "Quadro RTX 8000", True),  # 1,792 against 672 GB/s, 2.7 times
        ("RTX 5090", "2x RTX 4090", True),  # 1,792 against 1,008 GB/s, 1.8 times
        ("RTX 3090", "RTX A6000", False),  # 936 against 768 GB/s, 1.2 times
        ("RTX 3060 12GB", "RTX 3090", False),
    ],
)
def test_a_replacement_that_reads_slower_is_odd(before: str, card: str, odd: bool) -> None:
    had = machine(MachineSpec(gpu=before))
    has = machine(MachineSpec(gpu=card))
    words = " ".join(oddities(Form.DESKTOP, has, has.gpus, (), before=had.gpus, built_anew=False))
    assert ("reads its memory slower" in words) is odd


@pytest.mark.parametrize(
    ("before", "card", "odd"),
    [
        ("2x RTX 3090", "2x RTX 5070 Ti", True),  # 48 against 32 GB
        ("RTX 3060 12GB", "RTX 5070", False),  # 12 GB each
        ("RTX 3090", "2x RTX 3090", False),  # one more
    ],
)
def test_a_replacement_with_less_memory_is_odd(before: str, card: str, odd: bool) -> None:
    had = machine(MachineSpec(gpu=before))
    has = machine(MachineSpec(gpu=card))
    bought = has.gpus[len(had.gpus) :] or has.gpus
    words = " ".join(oddities(Form.DESKTOP, has, bought, (), before=had.gpus, built_anew=False))
    assert ("less memory than what you have" in words) is odd


def test_every_rule_has_a_page_and_a_sentence() -> None:
    for row in card_rules():
        assert row.source.startswith("https://"), row.rule
        assert row.sentence.endswith("."), row.rule


def test_the_kept_table_is_what_the_rows_say(tmp_path) -> None:
    from lab.many_run import main

    main(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == TABLE.read_text()
    assert list(many_run(())) == []


def test_many_run_what_people_run() -> None:
    # hundreds of rows of strangers for GeForce cards, a handful for Intel's
    assert run_by("NVIDIA", "Ampere") > 10 * run_by("Intel", "Xe2")
    arc, geforce = (machine(MachineSpec(gpu=gpu)) for gpu in ("Arc Pro B60", "RTX 4090"))
    assert not counts_in(arc, VLLM.engine)
    assert counts_in(arc, LLAMA_CPP.engine)
    assert counts_in(geforce, VLLM.engine)


def _bought(options: tuple[Option, ...]) -> list[Option]:
    kinds = (OptionKind.ADD, OptionKind.REPLACE)
    return [option for option in options if option.kind in kinds]


def test_no_option_exceeds_slots_memory_or_engine_of_its_machine() -> None:
    model = catalog.model("Llama-3.3-70B", "Q4_K_M")
    for spec in (
        MachineSpec(gpu="RTX 3090", ram_gb=64),
        MachineSpec(gpu="none", cpu="Raspberry Pi 5", ram_gb=16),
        MachineSpec(gpu="GB10", ram_gb=128),
        MachineSpec(gpu="RTX 4060 Laptop", ram_gb=32),
        MachineSpec(gpu="Apple M4 Pro 20c", ram_gb=48),
        MachineSpec(gpu="RTX 4090", ram_gb=64, system="windows"),
    ):
        here = machine(spec)
        answer = advise(model, here, Workload())
        # a board and its risers, a server, one in a dock beside a laptop's own
        takes = {Form.DESKTOP: 4, Form.SERVER: 8}.get(here.form, 1 + len(here.gpus))
        for option in _bought(answer.options):
            assert option.machine is not None
            assert len(option.machine.gpus) <= takes, (spec, option.name)
            assert here.host.name not in ("Raspberry Pi 5", "NVIDIA GB10"), (spec, option.name)
            assert option.speed is None or option.speed.decode > 0
            if spec.system == "windows" and option.speed is not None:
                assert option.speed.runtime not in ("vLLM", "SGLang")
        safe = answer.choice.safe
        assert safe is None or not safe.odd
        lossy = safe is not None and safe.loses_quality
        assert not lossy or safe.loss is not None, "free, and no more than people accept"


def test_what_is_rented_or_called_does_not_depend_on_ones_own_machine() -> None:
    model = catalog.model("Llama-3.3-70B", "Q4_K_M")

    def elsewhere(spec: MachineSpec) -> dict[str, tuple[float, float] | None]:
        options = advise(model, machine(spec), Workload()).options
        return {
            option.name: None
            if option.speed is None
            else (round(option.speed.decode, 9), round(option.speed.first_token, 9))
            for option in options
            if option.kind is OptionKind.API
        }

    slow = elsewhere(MachineSpec(gpu="none", cpu="i5-6500", ram_gb=16))
    assert slow == elsewhere(MachineSpec(gpu="2x RTX 3090", ram_gb=128))


def test_an_unknown_card_is_no_evidence() -> None:
    assert run_by("Nobody", "Nothing") == 0
    with pytest.raises(UnknownName):
        machine(MachineSpec(gpu="RTX 9999"))
