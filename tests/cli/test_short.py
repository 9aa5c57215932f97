"""A machine and a model, without a command: the answer in six lines."""

import json

import pytest

from advisor.cli import terminal
from advisor.cli.main import main

LAPTOP = ("laptop 4060 16gb", "qwen3.6-27b")


def lines_of(capsys, *words: str) -> list[str]:
    assert main([*words]) == 0
    return capsys.readouterr().out.splitlines()


def test_six_lines_say_how_fast_what_is_free_what_to_buy_and_what_to_type(capsys) -> None:
    lines = lines_of(capsys, *LAPTOP)
    assert len(lines) == 6
    level, free, buy, api, run, more = (line.split()[0] for line in lines)
    assert level == "THINKS"  # it thinks for minutes, however fast it writes then
    assert (free, buy, api, run, more) == ("free", "buy", "api", "run", "--all")
    assert "tokens/s (" in lines[0]
    assert "offload to RAM, llama.cpp Q4_K_M" in lines[0]
    assert lines[4].endswith("ollama run qwen3.6:27b-q4_K_M")
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.parametrize(
    ("machine", "model"),
    [
        ("rtx 3060 12gb 32gb", "gpt-oss-20b"),
        ("mac mini m4 pro 24gb", "gemma-3-27b"),
        ("4090 64gb", "kimi-k2"),
        ("no gpu 16gb", "qwen3-8b"),
        ("3060", "OPT-13B"),
    ],
)
def test_at_most_six_lines_whatever_is_asked(capsys, machine: str, model: str) -> None:
    lines = lines_of(capsys, machine, model)
    assert 2 <= len(lines) <= 6
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.parametrize("stated", [("--kv-type", "q8_0"), ("--gpu-layers", "20")])
def test_the_line_to_type_is_a_command_in_all_of_its_words(capsys, stated) -> None:
    """A team's is longer than a terminal is wide, lines of Ollama may begin with a remark."""
    lines = lines_of(capsys, "2x RTX 3090 128gb", "Qwen3-32B", "--users", "20", *stated)
    (run,) = [line.strip() for line in lines if line.strip().startswith("run ")]
    program, *rest = run.split()[1:]
    assert program in ("vllm", "llama-server", "ollama", "python", "lms")
    assert len(rest) > 3
    assert not run.endswith("...")


def test_a_mac_offloads_nothing_to_its_only_memory(capsys) -> None:
    first, *_ = lines_of(capsys, "Mac mini M4 Pro 24GB", "qwen3-30b")
    assert "in shared memory, the rest on the processor" in first
    assert len(first) <= 100


def test_who_reads_fast_enough_is_told_to_buy_nothing(capsys) -> None:
    lines = lines_of(capsys, "rtx 3060 12gb 32gb", "gpt-oss-20b")
    (buy,) = [line for line in lines if line.strip().startswith("buy")]
    assert "nothing" in buy


def test_all_is_the_answer_of_advise(capsys) -> None:
    whole = lines_of(capsys, *LAPTOP, "--all")
    assert whole == lines_of(capsys, "advise", "--machine", LAPTOP[0], "--model", LAPTOP[1])


def test_options_of_advise_are_taken(capsys) -> None:
    record = json.loads("\n".join(lines_of(capsys, *LAPTOP, "--context", "32k", "--json")))
    assert record["judgement"] == "THINKS FIRST"
    assert record["decode_tps_low"] < record["decode_tps"] < record["decode_tps_high"]
    assert {way["kind"] for way in record["ways"]} <= {"free", "buy", "api"}


@pytest.mark.parametrize("words", [("advize", "foo"), ("estmate", "x"), ("foo",)])
def test_a_mistyped_command_is_no_machine(capsys, words) -> None:
    assert main([*words]) == 2
    assert "No command is called" in capsys.readouterr().err


def test_a_machine_that_nobody_knows_is_said(capsys) -> None:
    assert main(["no such thing", "qwen3-8b"]) == 2
    assert "No machine is called 'no such thing'" in capsys.readouterr().err


def test_bold_and_colour_are_for_a_terminal_alone(monkeypatch) -> None:
    assert terminal.bold("x") == "x"
    monkeypatch.setattr(terminal, "is_one", lambda: True)
    assert terminal.bold("x") == "\033[1mx\033[0m"


def test_no_colour_where_it_is_not_wanted(monkeypatch) -> None:
    monkeypatch.setattr(terminal.sys, "stdout", type("T", (), {"isatty": lambda _: True})())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal.is_one()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.is_one()


def test_a_long_line_ends_in_points() -> None:
    assert terminal.cut("x" * 101) == "x" * 97 + "..."
    assert terminal.cut("x" * 100) == "x" * 100


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("qwen3-8b", "rtx 4090"), "Machine and model are the other way round"),
        (("llama 3.3 70b", "qwen3-8b"), "'llama 3.3 70b' is a model, not a machine."),
        (("", "qwen3-8b"), "The name of the machine is empty."),
        (("rtx 4090", " "), "The name of the model is empty."),
        (("laptop", "qwen3-8b"), "No machine is called 'laptop'."),
        (("rtx 4090", "qwen3-8b", "--hours-on", "x", "--wat", "1"), "`short` has no option --wat."),
    ],
)
def test_what_is_wrong_with_two_words_is_said(words, sentence: str, capsys) -> None:
    assert main(words) == 2
    assert sentence in capsys.readouterr().err
