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
