"""Many users on the command line: waits by number of users, and machines that serve all."""

import json

from advisor.cli.main import main

WISH = (
    "advise", "--model", "Qwen3-8B", "--quant", "FP8", "--gpu", "L40S", "--users", "6",
    "--user-tps", "15", "--own-rent", "L40S=0.02",
)  # fmt: skip


def test_waits_are_a_table_and_fleets_follow(capsys) -> None:
    assert main(WISH) == 0
    text = capsys.readouterr().out
    assert "first token, mean load" in text
    assert "one in twenty" in text
    assert "beyond the limits" in text
    after = text[text.index("Machines that serve 6 users with 15 tokens/s each") :]
    # 0.02 USD an hour for 730.5 hours
    assert "$15 a month: 1 machine with L40S, rented (6 users each" in after


def test_json_has_fleets_only_where_they_are_wanted(capsys) -> None:
    assert main([*WISH, "--json"]) == 0
    fleets = json.loads(capsys.readouterr().out)["fleets"]
    cheapest = fleets[0]
    assert cheapest["monthly_usd"] == 0.02 * 730.5
    assert cheapest["users"] >= 6
    part = cheapest["machines"][0]
    assert (part["machine"], part["count"], part["offer"]) == ("L40S", 1, "rented")
    assert main([*WISH[:7], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fleets"] == []
