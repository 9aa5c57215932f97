"""`machine NAME`, and `--machine NAME` for whole machines."""

import json

import pytest

from advisor.cli.main import main


def answered(capsys, *words: str) -> dict:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


KEYS = {
    "kind", "name", "gpus", "count", "memory_gib", "bandwidth_gbs", "cpu", "cores", "channels",
    "mts", "ram_gbs", "notes", "alternatives",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind", "told"),
    [
        # two cards of 936 GB/s: NVIDIA, GA102 whitepaper
        ("2x 3090", "gpu", {"count": 2, "memory_gib": 24, "bandwidth_gbs": 936}),
        # eight channels of DDR4-3200: 8 x 8 x 3.2 = 204.8 GB/s, as AMD states it
        ("EPYC 7402", "processor", {"cores": 24, "channels": 8, "mts": 3200, "ram_gbs": 204.8}),
        ("dual Xeon E5-2690 v4", "processor", {"cores": 28, "channels": 8, "mts": 2400}),
        ("Mac Studio M3 Ultra 512GB", "machine", {"memory_gib": 512, "bandwidth_gbs": 819.2}),
        ("Ryzen AI Max+ 395", "machine", {"bandwidth_gbs": 256, "cores": 16}),
        ("g6e.xlarge", "machine", {"gpus": ["L40S"], "count": 1, "cores": 2, "ram_gib": 32}),
        ("2x 3090 Threadripper", "machine", {"gpus": ["RTX 3090"], "count": 2}),
        ("Legion with 4070", "machine", {"gpus": ["RTX 4070 Laptop"], "memory_gib": 8}),
    ],
)  # fmt: skip
def test_it_states_the_match_of_a_name(capsys, name: str, kind: str, told: dict) -> None:
    answer = answered(capsys, "machine", name)
    assert set(answer) >= KEYS
    assert answer["kind"] == kind
    assert {key: answer[key] for key in told} == told


def test_in_words_it_states_assumptions_and_result(capsys) -> None:
    assert main(["machine", "M2 Ultra 128GB"]) == 0
    text = capsys.readouterr().out
    assert "76 GPU cores" in text
    assert "or: Apple M2 Ultra 60c" in text
    assert "source: https://" in text


def test_a_price_is_of_the_memory_that_it_was_read_for(capsys) -> None:
    assert answered(capsys, "machine", "Mac mini M4 Pro 24GB")["usd"] == 1599
    assert answered(capsys, "machine", "Mac mini M4 Pro 64GB")["usd"] is None


def test_an_unknown_name_is_refused_with_similar_names(capsys) -> None:
    assert main(["machine", "RTX 3085"]) == 2
    assert "3085" in capsys.readouterr().err


ESTIMATE = ("estimate", "--model", "Llama-3.1-8B", "--runtime", "llama.cpp")


def test_a_machine_by_its_name_is_the_same_as_its_parts(capsys) -> None:
    by_name = answered(capsys, *ESTIMATE, "--machine", "2x 3090 Ryzen 9 7950X 64GB")
    parts = ("--gpu", "RTX 3090", "--gpu-count", "2", "--cpu", "Ryzen 9 7950X", "--ram-gb", "64")
    assert by_name == answered(capsys, *ESTIMATE, *parts)


def test_typed_parts_take_precedence_over_the_name(capsys) -> None:
    typed = answered(capsys, *ESTIMATE, "--machine", "DGX Spark", "--gpu", "RTX 4090 x2")
    assert len(typed[0]["vram_bytes"]) == 2


def test_the_match_of_each_name_is_reported_beside_the_answer(capsys) -> None:
    assert main([*ESTIMATE, "--machine", "m3 ultra 512"]) == 0
    assert "'m3 ultra 512' is taken as Apple M3 Ultra 80c" in capsys.readouterr().err


def test_sizes_are_read_as_people_type_them(capsys) -> None:
    machine = ("--gpu", "4090 x2", "--cpu", "5950x")
    short = answered(
        capsys,
        *ESTIMATE,
        *machine,
        "--ram-gb",
        "64GB",
        "--context",
        "32k",
        "--disk-gbs",
        "3500 MB/s",
    )
    long = answered(
        capsys, *ESTIMATE, *machine, "--ram-gb", "64", "--context", "32768", "--disk-gbs", "3.5"
    )
    assert short == long


def test_an_unreadable_size_states_what_is_allowed(capsys) -> None:
    assert main([*ESTIMATE, "--gpu", "RTX 4090", "--ram-gb", "lots"]) == 2
    error = capsys.readouterr().err
    assert "--ram-gb" in error
    assert "24GB" in error


def test_unlike_cards_are_shown_each_with_its_number(capsys) -> None:
    for name in ("2x RTX 5090 + RTX 4090", "2x RTX 5090 + RTX 4090, Ryzen 9 7950X"):
        assert main(["machine", name]) == 0
        assert "GPU: 2x RTX 5090 + RTX 4090, 32 GB" in capsys.readouterr().out


def test_a_board_without_published_figures_is_refused_with_the_reason(capsys) -> None:
    assert main(["machine", "AMD BC-250"]) == 2
    assert "publishes no figures" in capsys.readouterr().err
