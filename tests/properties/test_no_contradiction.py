"""Sentences, tables, records, short form and page of one answer agree, over random questions drawn
with a seed.

`ADVISOR_FUZZ=300 pytest tests/properties/test_no_contradiction.py` asks more of them.
"""

import json
import os
import random
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from html import unescape
from io import StringIO
from typing import Any

import pytest
from ui_app import app, page_text

from advisor.cli.main import main
from advisor.request.texts import from_texts, to_address
from advisor.units import number

COUNT = int(os.environ.get("ADVISOR_FUZZ", "12"))
MODELS = (
    *("Llama-3.1-8B", "Qwen3-32B", "Llama-3.3-70B", "Qwen3-30B-A3B", "gpt-oss-120b", "Kimi-K2"),
    *("Gemma-4-26B-A4B", "Qwen3.6-27B", "DeepSeek-V3", "Mistral-Small-24B", "Falcon-H1-7B"),
)
MACHINES = (
    *("RTX 3060 12GB 32GB RAM", "RTX 3090 64GB RAM", "2x RTX 3090 16GB RAM", "laptop 4060 16gb"),
    *("RTX 5090 128GB RAM", "RX 7900 XTX 32GB RAM", "Arc B580 32GB RAM", "2x EPYC 9654 768GB"),
    *("MacBook Pro M4 Pro 24GB", "Mac Studio M3 Ultra 256GB", "DGX Spark", "g5.xlarge"),
    *("Framework Desktop 128GB", "A100 PCIe 80GB 64GB RAM", "i5-12400 32GB RAM"),
)
OPTIONS: dict[str, tuple[tuple[object, ...], float]] = {
    "replies-per-day": ((5, 40, 200, 5000), 0.5),
    "users": ((2, 8, 32), 0.25),
    "context": ((4096, 16384, 131072), 0.3),
    "prompt": ((2000, 30000), 0.25),
    "kv-type": (("q8_0",), 0.15),
    "quant": (("Q4_K_M", "Q8_0", "BF16", "Q2_K", "AWQ"), 0.3),
    "max-usd": ((500, 2000, 6000), 0.3),
    "runtime": (("llama.cpp", "ollama", "vllm"), 0.3),
    "gpu-layers": ((10, 20), 0.1),
}
"""Values of options, with the share of questions that state one."""
SPEED = re.compile(r"([\d.,]+) tokens a second")
ELSEWHERE = re.compile(r"(?:^|[.:] )([\w .+-]+?) would give ([\d.,]+) here")
BOUGHT = re.compile(r": ((?:\d+x )?(?:RTX|RX|Arc|Radeon|Tesla)[\w ]*?) added, ([\d.,]+) ")
SMALLEST_GAIN = 1.02  # factor of speed below which a free step changes nothing


@dataclass(frozen=True)
class Told:
    """One answer: its record, its text and the question."""

    words: tuple[str, ...]
    record: dict[str, Any]
    text: str
    short: dict[str, Any]
    lines: tuple[str, ...]  # of the short form as it is printed

    @property
    def first(self) -> str:
        """First line of the verdict."""
        return str(self.record["verdict"]).partition("\n")[0]

    @property
    def kept(self) -> dict[str, Any]:
        """Option of the present machine."""
        return dict(self.record["options"][0])


def question_of(seed: int) -> tuple[str, ...]:
    """Words of a random question."""
    chance = random.Random(seed)
    words = ["--model", chance.choice(MODELS), "--machine", chance.choice(MACHINES)]
    for name, (values, share) in OPTIONS.items():
        if chance.random() < share:
            words += [f"--{name}", str(chance.choice(values))]
    return tuple(words)


def printed(*words: str) -> tuple[int, str]:
    """Exit code and what a command prints."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(StringIO()):
        code = main(list(words))
    return code, out.getvalue()


def answered() -> Iterator[Told]:
    for seed in range(COUNT):
        words = question_of(seed)
        code, record = printed("advise", *words, "--json")
        if code == 0:
            stated = dict(zip(words[::2], words[1::2], strict=True))
            named = (stated.pop("--machine"), stated.pop("--model"))
            brief = ("short", *named, *(word for pair in stated.items() for word in pair))
            yield Told(
                words=words,
                record=json.loads(record),
                text=printed("advise", *words)[1],
                short=json.loads(printed(*brief, "--json")[1]),
                lines=tuple(printed(*brief)[1].splitlines()),
            )


@pytest.fixture(scope="module")
def answers() -> list[Told]:
    every = list(answered())
    assert len(every) > COUNT / 2
    return every


def test_what_does_not_run_has_no_speed_and_what_runs_has_one(answers: list[Told]) -> None:
    for told in answers:
        refused = re.search(r"does not (?:fit|run)|cannot run", told.first)
        if refused and "from the drive" not in told.first:
            assert not told.kept["decode_tps"], told.words
        for estimate in told.record["estimates"]:
            assert estimate["fits"] or not estimate["decode_tps"], told.words


def test_a_placement_fits_or_does_not(answers: list[Told]) -> None:
    for told in answers:
        fits: dict[tuple[str, str], bool] = {}
        for estimate in told.record["estimates"]:
            key = (estimate["runtime"], estimate["placement"])
            assert fits.setdefault(key, estimate["fits"]) is estimate["fits"], (told.words, key)


def test_the_speed_of_the_first_line_is_that_of_the_table(answers: list[Told]) -> None:
    for told in answers:
        speed = SPEED.search(told.first)
        if speed and told.kept["decode_tps"]:
            assert number(told.kept["decode_tps"]) == speed[1], told.words


def test_another_engine_gives_what_its_row_says(answers: list[Told]) -> None:
    for told in answers:
        for name, speed in ELSEWHERE.findall(told.record["verdict"]):
            rows = [row for row in told.record["estimates"] if row["runtime"] == name.strip()]
            speeds = {number(row["decode_tps"]) for row in rows if row["decode_tps"]}
            assert not speeds or speed in speeds, (told.words, name)


def test_a_named_purchase_stands_in_the_table_with_its_speed(answers: list[Told]) -> None:
    for told in answers:
        for name, speed in BOUGHT.findall(told.record["verdict"].replace("\n", " ")):
            rows = [line for line in told.text.splitlines() if line.startswith("add ")]
            of_name = [row for row in rows if f" {name} " in row]
            assert of_name, (told.words, name)
            assert any(f" {speed} " in row for row in of_name), (told.words, name, speed)


def test_who_keeps_is_told_to_buy_nothing(answers: list[Told]) -> None:
    bought = ("add", "replace", "machine")
    for told in answers:
        if "Keep what you have" not in told.record["verdict"]:
            continue
        safe = told.record["safe_choice"]
        assert safe is None or safe["kind"] not in bought, told.words
        assert "; it pays." not in told.text, told.words


def test_no_free_step_changes_nothing(answers: list[Told]) -> None:
    for told in answers:
        for step in re.findall(r"([\d.]+) times as fast, free", told.text):
            assert float(step) >= SMALLEST_GAIN, told.words


def test_memory_is_told_in_one_unit(answers: list[Told]) -> None:
    for told in answers:
        assert not re.search(r"\b[GM]iB\b", told.text), told.words


def test_the_short_form_says_what_the_whole_answer_says(answers: list[Told]) -> None:
    for told in answers:
        short = told.short
        assert short["verdict"] == told.record["verdict"], told.words
        assert (short["decode_tps"] or None) == (told.kept["decode_tps"] or None), told.words
        counts = f"{len(told.record['estimates'])} placements and {len(told.record['options'])} "
        assert any(counts in line for line in told.lines), told.words
        if short["decode_tps"]:
            assert f" {number(short['decode_tps'])} tokens/s" in told.lines[0], told.words


def test_purchases_and_apis_of_the_short_form_stand_in_the_table(answers: list[Told]) -> None:
    for told in answers:
        speeds = {number(row["decode_tps"]) for row in told.record["options"] if row["decode_tps"]}
        prices = {row["upfront_usd"] for row in told.record["options"]}
        for way in told.short["ways"]:
            if way["kind"] not in ("buy", "api"):
                continue
            assert not way["decode_tps"] or number(way["decode_tps"]) in speeds, told.words
            assert way["upfront_usd"] is None or way["upfront_usd"] in prices, told.words


ON_PAGE = 3
"""Questions whose page is opened; each takes as long as ten on the command line."""
NAMES = {"quant": "format"}
"""Inputs whose option has another name."""


def page_words(words: tuple[str, ...]) -> str:
    """Words of the page that a link with a question's inputs opens."""
    stated = {
        NAMES.get(name[2:], name[2:].replace("-", "_")): value
        for name, value in zip(words[::2], words[1::2], strict=True)
    }
    page = app(**to_address(from_texts(stated)))
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page_text(page))).split())


def plain_words(text: str) -> str:
    """Letters and digits of a text alone, in lower case."""
    return re.sub(r"[\W_]+", "", text.casefold())


def test_the_page_says_what_the_command_line_says(answers: list[Told]) -> None:
    for told in answers[:ON_PAGE]:
        page = page_words(told.words)
        for line in told.record["verdict"].splitlines()[:2]:  # what is counted stands below
            assert plain_words(line) in plain_words(page), told.words
        if told.kept["decode_tps"]:
            assert f"{number(told.kept['decode_tps'])} tokens a second" in page, told.words
