"""`find` on the command line: what a name was taken for, several contexts, bad contexts."""

import json

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


@pytest.mark.parametrize("typed", ["8k,many", ",", "8 apples"])
def test_contexts_that_are_none_are_refused(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*QUICK, "--model", "Llama-3.1-8B", "--contexts", typed])
    assert "--contexts" in capsys.readouterr().err
