"""Text of `advise`: what a buyer reads, by the situation of who asks."""

import pytest

from advisor.cli.main import main


def text_of(capsys, *words: str) -> str:
    assert main(["advise", "--model", "Llama-3.3-70B", *words]) == 0
    return str(capsys.readouterr().out)


@pytest.fixture
def nothing_owned(capsys) -> str:
    return text_of(capsys, "--own", "nothing")


def test_who_owns_nothing_reads_of_no_machine(nothing_owned: str) -> None:
    title, _, verdict, *rest = nothing_owned.splitlines()
    assert title == "Llama-3.3-70B, Q4_K_M"
    assert verdict == "You have no machine for it yet."
    assert "of RAM" not in nothing_owned
    assert "instead of Q4_K_M" not in nothing_owned
    assert not any("limited by" in line for line in rest)


def test_a_machine_that_is_described_is_answered_though_not_owned(capsys) -> None:
    text = text_of(capsys, "--own", "nothing", "--gpu", "RTX 3090")
    assert text.startswith("Llama-3.3-70B, Q4_K_M, on RTX 3090,")
    assert "limited by" in text


@pytest.mark.parametrize(
    # 42.5 GB x 1.15 are 45.5 GiB, of which the card holds 8: 64 GB are the next size that kits with
    # a price add up to: two modules of 32 GB DDR4 at 1.4 x 160 USD, or of DDR5 at 900
    ("cpu", "price"),
    [
        ("Ryzen 7 5800X", ": 64 GB DDR4 kit (2x 32 GB) $450"),
        ("Ryzen 7 7700", ": 64 GB DDR5 kit (2x 32 GB) $900"),
    ],
)
def test_memory_is_priced_in_kits_of_the_processors_generation(capsys, cpu, price) -> None:
    text = text_of(capsys, "--gpu", "RTX 4060", "--cpu", cpu, "--ram-gb", "32")
    assert "\n64 GB of RAM" in text
    assert price in text.replace("\n  ", " ")


def test_soldered_memory_is_neither_enlarged_nor_exchanged(capsys) -> None:
    text = text_of(capsys, "--gpu", "RTX 4060", "--cpu", "Core Ultra 7 155H", "--ram-gb", "32")
    assert "to hold the model" not in text
    assert "a second drive" in text


def test_options_say_what_waiting_they_leave_and_when_they_pay(capsys) -> None:
    text = text_of(capsys, "--gpu", "RTX 3090", "--cpu", "Ryzen 7 5800X", "--ram-gb", "64")
    (second,) = [row for row in text.splitlines() if row.startswith("add      RTX 3090, 2 in all")]
    assert " min " in second
    assert "after " in second or "within a month" in second


def test_a_line_fits_a_terminal(capsys) -> None:
    for machine in ("laptop 4060 16gb", "2x 3090 with 128 GB", "Mac Studio M4 Max 64GB"):
        assert main(["advise", "--model", "Qwen3-30B-A3B", "--machine", machine]) == 0
        for line in capsys.readouterr().out.splitlines():
            assert len(line) <= 100, line
            assert "\033" not in line  # colour is for a terminal alone


def test_what_does_not_fit_is_one_line(capsys) -> None:
    lines = text_of(capsys, "--gpu", "RTX 4060", "--ram-gb", "32").splitlines()
    missing = [line for line in lines if "do not fit" in line]
    assert len(missing) == 1
    assert " short" in missing[0]
