"""This machine, without a command."""

import json

import pytest

from advisor.cli.main import main
from advisor.request.request import Request


def test_without_a_command_this_machine_and_what_to_type_next_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"This machine: {Request(machine='this').nouns().machine.name}, ")
    assert main(["here"]) == 0
    assert capsys.readouterr().out == text


def test_its_models_keep_up_with_a_reader(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["here", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["models"]) <= 5
    assert all(model["decode_tps"] >= 6 for model in answer["models"])


def test_a_machine_alone_gets_the_models_that_run_well_on_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["laptop 4060 16gb"]) == 0
    printed = capsys.readouterr()
    first, _, well, best = printed.out.splitlines()[:4]
    assert first.startswith("Your machine: RTX 4060 Laptop")
    assert "16.0 GB of RAM" in first
    assert "best first" in well
    assert "'laptop 4060 16gb' is taken as RTX 4060 Laptop" in printed.err
    # The first is that of `find`, which lists all; the next command takes both names as printed.
    name = best.split()[0]
    assert main(["find", "--machine", "laptop 4060 16gb"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[0] == name
    assert f'advisor "laptop 4060 16gb" "{name}"' in printed.out
    assert main(["4090"]) == 0
    assert "Your machine: RTX 4090" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("no such thing",), "No machine is called 'no such thing'"),
        (("qwen3.6-27b",), "'qwen3.6-27b' is a model, not a machine."),
        (("foo",), 'need no command: `python -m advisor "laptop 4060 16gb" qwen3-8b`'),
        (("rtx 4090", "--context", "4k"), "`here` has no option --context."),
        (("here", ""), "The name of the machine is empty."),
    ],
)
def test_one_word_that_is_no_machine_is_told_what_it_is(words, sentence: str, capsys) -> None:
    assert main([*words]) == 2
    assert sentence in capsys.readouterr().err


def test_the_commands_that_it_names_exist(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    lines = capsys.readouterr().out.partition("Next:\n")[2].splitlines()
    named = [line.split("advisor ", 1)[1].split()[0] for line in lines]
    assert named[-1] == "--help"
    for command in named[:-1]:
        with pytest.raises(SystemExit) as shown:
            main([command, "--help"])
        assert shown.value.code == 0
        capsys.readouterr()
