"""`find` on the command line: what a name was taken for, several contexts, bad contexts."""

import json
import re

import pytest

from advisor.cli.main import main

QUICK = (
    "find", "--runtime", "llama.cpp", "--quant", "Q4_K_M", "--kv-type", "f16", "--min-tps", "60",
    "--max-usd-per-month", "40", "--gpu", "RTX 3090", "--ram-gb", "64",
)  # fmt: skip


def test_rows_say_what_the_name_was_taken_for_and_their_context(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = ("--model", "my-finetune-of-Llama-3.1-8B")
    assert main([*QUICK, *model, "--contexts", "32k,8192", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["context"] for row in rows} == {8192, 32_768}
    assert {row["model"] for row in rows} == {"Llama-3.1-8B"}
    assert all("Llama-3.1-8B" in row["taken_as"] for row in rows)


@pytest.mark.parametrize(
    ("currency", "refused"),
    [
        # 100,000,000 US dollars are 80,000,000 of 1.25 dollars each
        (("--currency", "EUR", "--usd-rate", "1.25"), "is -5; allowed is 0 to 80,000,000 €."),
        (("--currency", "CHF", "--usd-rate", "1.25"), "is -5; allowed is 0 to 80,000,000 CHF."),
        ((), "is -5.0; allowed is 0 to 100,000,000 $."),
    ],
)
def test_limits_stand_in_the_currency_they_were_typed_in(
    currency: tuple[str, ...], refused: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*QUICK, "--model", "Llama-3.1-8B", "--max-usd", "-5", *currency]) == 2
    assert f"Most at once (--max-usd) {refused}" in capsys.readouterr().err


def test_known_speeds_are_told_beside_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    machine = ("find", "--gpu", "RTX 3090", "--ram-gb", "64", "--runtime", "llama.cpp")
    assert main([*machine, "--known", "Qwen3-8B Q4_K_M 90"]) == 0
    told = capsys.readouterr()
    text = told.out + told.err
    assert "What known speeds change is told of the first, " in text
    assert "By your run (Qwen3-8B, Q4_K_M: 90 tokens a second)" in text


FIELDS = {
    "model", "format", "runtime", "placement", "machine", "count", "context", "users", "kv_type",
    "decode_tps", "decode_tps_low", "decode_tps_high", "ttft_s", "quality", "quality_source",
    "monthly_usd", "upfront_usd",
}  # fmt: skip
"""Fields that other programs rely on, of machines and of models."""


def test_records_hold_the_fields_that_programs_rely_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*QUICK, "--model", "Llama-3.1-8B", "--json"]) == 0
    machines = json.loads(capsys.readouterr().out)
    assert main(["find", "--machine", "MacBook Pro M4", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)
    assert machines
    assert models
    for row in (*machines, *models):
        assert set(row) >= FIELDS
        assert row["decode_tps_low"] <= row["decode_tps"] <= row["decode_tps_high"]
        assert (row["quality"] is None) == (row["quality_source"] is None)
        assert row["quality"] is None or "https://" in row["quality_source"]


@pytest.mark.parametrize("typed", ["8k,many", ",", "8 apples"])
def test_contexts_that_are_none_are_refused(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, "--model", "Llama-3.1-8B", "--contexts", typed]) == 2
    assert "--contexts" in capsys.readouterr().err


def test_models_stand_with_their_order_and_the_source_of_their_scores(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["find", "--machine", "MacBook Pro M4", "--reading-tps", "12"]) == 0
    scored, unscored = capsys.readouterr().out.strip().split("\n\n")
    head, *rows, order = scored.splitlines()
    assert head.split() == ["model", "score", "format", "placement", "speed", "context"]
    assert all(
        900 < int(row.split()[1].rstrip("*")) < 1600 for row in rows if "; --json" not in row
    )
    title, head, *rows = unscored.splitlines()
    assert title == "Without a published score, the fastest first:"
    assert {row.split()[1] for row in rows} <= {"none", "more;"}
    assert "12 tokens/s and more (--reading-tps) come first" in order
    assert "LMArena text of 2026-10-08 (https://" in order


def test_a_runtime_that_takes_no_such_format_is_not_a_slow_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    vllm = ("--runtime", "vLLM", "--quant", "Q4_K_M")
    assert main(["find", "--model", "Llama-3.1-8B", *vllm, "--min-tps", "1"]) == 0
    assert "leave out --runtime, --quant" in capsys.readouterr().out
    assert main([*QUICK, "--model", "Llama-3.1-70B", "--min-tps", "9999"]) == 0
    printed = capsys.readouterr()
    assert "lower the speed or raise the budget" in printed.out
    assert "Cards go into your machine, RTX 3090" in printed.err


def test_each_way_to_have_a_machine_has_its_own_rows(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = (
        "find", "--model", "Llama-3.3-70B", "--quant", "Q4_K_M", "--runtime", "llama.cpp",
        "--kv-type", "f16", "--min-tps", "5", "--gpu", "RTX 3090", "--ram-gb", "64",
    )  # fmt: skip
    assert main([*wanted, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["offer"] for row in rows} == {"bought", "rented", "api"}
    # one's own RAM is not in a provider's machine
    assert {row["placement"] for row in rows if row["offer"] == "rented"} == {"gpu-resident"}
    assert "cpu-offload" in {row["placement"] for row in rows if row["offer"] == "bought"}
    called = [row["machine"] for row in rows if row["offer"] == "api"]
    assert "groq: llama-3.3-70b-versatile" in called
    assert all(row["decode_tps"] >= 5 for row in rows)
    assert main([*wanted]) == 0
    budget, *parts = re.split(r"\n\n", capsys.readouterr().out)
    assert budget.startswith("For Llama-3.3-70B you have ")
    assert "safe choice" in budget
    titles = [part.splitlines()[0].split("  ")[0] for part in parts]
    assert titles[:4] == ["To buy, as many run it", "To buy, odd", "To rent", "By API"]
    for part in parts[:3]:
        assert 2 <= len(part.splitlines()) <= 14, part
    assert "Few run it" not in parts[0]
    assert all(". " not in line or line.endswith(".") for line in parts[1].splitlines()[1:-1])


def test_what_to_buy_within_a_budget_stands_in_the_records(
    capsys: pytest.CaptureFixture[str],
) -> None:
    machine = "RTX 3060 12GB, Ryzen 7 5700X, 32 GB DDR4"
    wanted = ("--model", "Qwen3-32B", "--runtime", "llama.cpp", "--quant", "Q4_K_M")
    wanted = ("find", *wanted, "--machine", machine, "--max-usd", "1500")
    assert main([*wanted, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    named = {row["named"]: row for row in rows if row["named"]}
    assert "best buy" in named
    assert set(named) <= {"safe choice", "best buy", "cheapest", "fastest"}
    for row in named.values():
        assert row["offer"] == "bought"
        assert row["upfront_usd"] <= 1500
    fastest = named.get("fastest", named["best buy"])
    cheapest = named.get("cheapest", named["best buy"])  # the best one may be the cheapest
    assert fastest["decode_tps"] >= cheapest["decode_tps"]
    assert fastest["upfront_usd"] >= cheapest["upfront_usd"]
    assert main([*wanted]) == 0
    told = capsys.readouterr().out
    for row in named.values():
        assert row["machine"] in told


def test_more_answers_than_a_machine_can_write_are_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # An answer of 256 tokens at 60 to 1,000 tokens a second takes 0.25 s and more, so that no
    # machine writes 1,000,000 of them in a day of 86,400 s.
    words = (*QUICK, "--model", "Llama-3.1-8B", "--replies-per-day", "1000000")
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert not any(row["keeps_up"] for row in rows if row["offer"] != "api")
    assert main([*words]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^0 of [\d,]+ keep up with 1,000,000 answers a day", printed, re.MULTILINE)
    assert "cannot keep up: " in printed


def test_no_model_stands_that_was_made_for_less_than_prompt_and_reply(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["find", "--gpu", "RTX 4070", "--ram-gb", "32", "--prompt", "40k", "--json"]
    assert main(words) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert all(row["context"] >= 40_000 for row in rows)
