"""Lengths: no input of any door is read beyond what names and numbers have."""

from dataclasses import fields
from typing import Any

import pytest

from advisor.catalog.inputs import INPUTS, MOST_VALUES, Kind
from advisor.cli import mcp
from advisor.cli.main import main
from advisor.errors import AdvisorError, InputError, UnknownName
from advisor.machine.catalog import DISKS, GPUS, HOSTS
from advisor.machine.identify import Identified, machine_by_name
from advisor.model import resolve
from advisor.model.formats import Format
from advisor.request import command_line, texts
from advisor.request.request import Request
from advisor.request.values import from_values
from advisor.units import gibibytes, tokens

NAMES = [entry.name for entry in INPUTS.values() if entry.kind == Kind.NAME]
LISTS = [entry.name for entry in INPUTS.values() if entry.kind in (Kind.PRICES, Kind.SIZES)]
LONG = (UnknownName.LONGEST + 1, 1_000, 20_000, 1_000_000)
PIECES = (" ", "a", "1", "3090 + ", "(", "é")
"""What long texts are made of: patterns are slow for different ones."""
WORDS = rf"letters|at most {UnknownName.LONGEST}"


def long(piece: str, length: int) -> str:
    """A text of a length, whose ends are no blanks."""
    return "x" + (piece * length)[: length - 2] + "!"


@pytest.mark.parametrize("name", NAMES)
def test_a_request_takes_no_name_beyond_the_limit(name: str) -> None:
    entry = INPUTS[name]
    for length in LONG:
        for piece in PIECES:
            text = long(piece, length)
            for door in (
                lambda text=text: Request(**{name: text}),
                lambda text=text: entry.read(text),
                lambda text=text: from_values({name: text}),
                lambda text=text: texts.from_texts({name: text}),
                lambda text=text: command_line.from_argv(["--model=x", f"{entry.option}={text}"]),
            ):
                with pytest.raises(InputError, match=WORDS) as error:
                    door()
                assert len(str(error.value)) < 500
            opened = texts.from_address({name: text})
            problems = opened.problems
            assert len(problems) == 1
            assert len(problems[0]) < 500


@pytest.mark.parametrize("name", ["model", "gpu", "machine", "cpu", "disk", "driver", "build"])
def test_an_address_with_a_long_name_is_no_other_question(name: str) -> None:
    """What is too long is neither cut to a known name nor left out."""
    known = {"model": "Llama-3.1-8B", "gpu": "RTX 3090"}
    request = texts.from_address({**known, name: "RTX 4090 " * 100}).request
    with pytest.raises(InputError, match="too long"):
        _ = [request.nouns().resolved, request.nouns().machine]


def test_a_new_field_has_the_limit_by_itself() -> None:
    """The check goes over the registry, not over a list of fields."""
    texts_of = {field.name for field in fields(Request) if "str" in str(field.type)}
    of_lists = {"own_price", "own_rent", "known", "also"}
    assert texts_of - of_lists == set(NAMES)
    assert {field.name for field in fields(Request)} == set(INPUTS)


@pytest.mark.parametrize("name", NAMES)
def test_the_longest_name_is_read(name: str) -> None:
    text = "x" * UnknownName.LONGEST
    if name != "currency":  # three letters, as its own check says
        assert getattr(Request(**{name: text}), name) == text


@pytest.mark.parametrize("name", LISTS)
def test_lists_have_a_length_too(name: str) -> None:
    prices = INPUTS[name].kind == Kind.PRICES
    each: Any = ("RTX 3090", 1000.0) if prices else 8192.0
    assert getattr(Request(**{name: (each,) * MOST_VALUES}), name)
    with pytest.raises(InputError, match=f"at most {MOST_VALUES}"):
        Request(**{name: (each,) * (MOST_VALUES + 1)})
    text = "RTX 3090=1000;" if prices else "8192,"
    for door in (texts.from_texts, from_values):
        with pytest.raises(InputError):
            door({name: text * 1_000_000})
    if prices:
        with pytest.raises(InputError, match=WORDS):
            Request(**{name: ((long("a", 1000), 1.0),)})


@pytest.mark.parametrize(
    "name", [entry.name for entry in INPUTS.values() if entry.limits is not None]
)
def test_no_number_is_longer(name: str) -> None:
    for piece in ("1", " ", "1,", "9_", "1 "):
        for length in LONG:
            with pytest.raises(InputError):
                INPUTS[name].read(long(piece, length))


@pytest.mark.parametrize(
    "reader",
    [
        GPUS.find, HOSTS.find, HOSTS.named, DISKS.find, Identified.of, machine_by_name,
        Format.meant, resolve.from_name, resolve.find,
    ],
)  # fmt: skip
def test_readers_of_names_refuse_them_before_a_pattern_looks(reader: Any) -> None:
    """Names come from configs, files of tools and measurements as well."""
    for length in LONG:
        with pytest.raises(UnknownName, match=rf"{length:,} letters"):
            reader("x" * length)


@pytest.mark.parametrize("reader", [tokens, gibibytes])
def test_readers_of_numbers_do(reader: Any) -> None:
    for length in LONG:
        with pytest.raises(InputError, match="letters"):
            reader("1" * length)


@pytest.mark.parametrize(
    "command",
    [
        ("machine", "{}"), ("model", "{}"), ("find", "--model", "{}", "--min-tps", "10"),
        ("estimate", "--model", "Llama-3.1-8B", "--gpu", "{}"),
        ("report", "list", "--search", "{}"),
    ],
)  # fmt: skip
def test_no_command_reads_more(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for piece in PIECES:
        assert main([word.format(long(piece, 20_000)) for word in command]) == 2
    assert len(capsys.readouterr().err) < 500 * len(PIECES)


def test_no_tool_of_an_assistant_reads_more() -> None:
    for tool, name in (("estimate", "gpu"), ("describe_machine", "name"), ("estimate", "draft")):
        for piece in PIECES:
            values = {"model": "Llama-3.1-8B", name: long(piece, 20_000)}
            if tool == "describe_machine":
                del values["model"]
            with pytest.raises(AdvisorError) as error:
                mcp.answer(tool, values, allow_files=False)
            assert len(str(error.value)) < 500


@pytest.mark.parametrize("name", ["own_price", "own_rent"])
@pytest.mark.parametrize(
    "amounts",
    [{"RTX 3090": "$1500"}, {"RTX 3090": None}, {"RTX 3090": [1]}, {"RTX 3090": True}, ["x"], [[]]],
)
def test_a_price_that_is_none_is_refused_at_every_door(name: str, amounts: Any) -> None:
    pairs = tuple(amounts.items()) if isinstance(amounts, dict) else tuple(amounts)
    for door in (lambda: from_values({name: amounts}), lambda: Request(**{name: pairs})):
        with pytest.raises(InputError, match=r"is no (price|rent)|names with amounts"):
            door()


def test_texts_of_a_list_are_read_with_their_units() -> None:
    assert from_values({"contexts": ["8k", 1024]}).contexts == (8192.0, 1024)
    assert from_values({"own_price": {"RTX 3090": "1500"}}).own_price == (("RTX 3090", 1500.0),)


def test_a_whole_number_is_one_whatever_its_type() -> None:
    """Files write 2.0 for 2; a machine has no 2.0 cards."""
    assert repr(Request(gpu_count=2.0)) == repr(Request(gpu_count=2))  # type: ignore[arg-type]  # as files have it
    assert len(from_values({"gpu": "RTX 4090", "gpu_count": 2.0}).nouns().machine.gpus) == 2


@pytest.mark.parametrize("piece", PIECES)
def test_what_is_longer_than_a_path_is_a_name_that_is_too_long(piece: str) -> None:
    """No pattern and no disk looks at it."""
    with pytest.raises(UnknownName, match="at most 300 are read"):
        resolve.find(long(piece, 1_000_000))
    assert resolve.way(long("/", 1_000_000)) is resolve.ReferenceKind.NAME
