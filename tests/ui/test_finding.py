"""Machines and Models: the same answers as the command line, state in the address."""

import json
import re
import shlex
from dataclasses import replace
from functools import cache
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest
from ui_app import app, chart_words, copied, page_text, run, unfolded

from advisor.catalog.constants import Constants
from advisor.cli.main import main
from advisor.cost_model.estimate import estimate
from advisor.model import catalog
from advisor.request.request import Request
from advisor.request.texts import from_address
from advisor.runtimes import LLAMA_CPP
from advisor.ui.find import page as find
from advisor.ui.question.models import pick
from advisor.ui.runnable import page as models_page

TARGET = {
    "model": "Llama-3.1-8B", "gpu": "RTX 3090", "ram_gb": "64", "min_tps": "60",
    "max_usd_per_month": "60", "format": "Q8_0", "context": "16k", "offers": "Both",
    "machines_tab": "All rows",
}  # fmt: skip
MODELS = (
    "Qwen3-30B-A3B",
    "Gemma-3-12B",
    "Llama-3.1-8B",
    "Llama-3.1-70B",
    "Qwen3-4B",
    "Phi-3.5-mini",
)
HERE = {"gpu": "RTX 3060", "ram_gb": "64", "reading_tps": "20"}
TABLE = {"models_tab": "All rated models"}


def opened(page: str, **parameters: str) -> AppTest:
    return app(page, **parameters)


@cache
def find_page() -> AppTest:
    test = unfolded(opened("find", **TARGET), "filters")
    test.toggle(key="unpriced").set_value(True)
    return run(test)


def printed(command: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    assert main([*shlex.split(command)[3:], "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def linked(address: str) -> Request:
    """What Advise is opened with."""
    return from_address(dict(parse_qsl(urlsplit(address).query))).request


def test_rows_meet_the_target_and_are_those_of_the_copied_command(capsys) -> None:
    table = find_page().dataframe[0].value
    rows = printed(copied(opened("find", **{**TARGET, "machines_tab": "Command"}))[0], capsys)
    assert len(table) > 10
    assert (table["tokens/s"] >= 60).all()
    assert (table["A month"].dropna() <= 60).all()
    speeds = {(row["machine"], row["count"], row["offer"]): row["decode_tps"] for row in rows}
    for name, offer, speed in zip(
        table["Machine"], table["Bought or rented"], table["tokens/s"], strict=True
    ):
        count, _, gpu = name.partition("x ")
        card, _, with_mine = name.removesuffix(" in all").partition(", ")
        if with_mine.isdigit():  # one's own card and more of it
            key = (card.partition("x ")[2] or card, int(with_mine), offer)
        elif count.isdigit():
            key = (gpu, int(count), offer)
        else:
            key = (name, 1, offer)
        assert speed == speeds[key]


def test_cards_in_a_new_desktop_cost_what_the_copied_command_says(capsys) -> None:
    stated = {**TARGET, "max_usd_per_month": "200", "cards_owned": "nothing"}
    page = opened("find", **stated)
    (command,) = copied(opened("find", **{**stated, "machines_tab": "Command"}))
    assert "--own nothing" in command
    upfront = {
        (row["machine"], row["count"], row["offer"]): row["upfront_usd"]
        for row in printed(command, capsys)
    }
    table = page.dataframe[0].value
    # RTX 3090 at 990 on record, and a desktop of 188.99, 699.99, 203, 244.94, 124.99 and 125.99 USD
    (mine,) = table[(table["Machine"] == "RTX 3090") & (table["Bought or rented"] == "bought")][
        "At once"
    ]
    assert mine == pytest.approx(upfront["RTX 3090", 1, "bought"])
    assert mine == pytest.approx(1120 + 188.99 + 900 + 290 + 244.94 + 124.99 + 125.99)
    assert "GPUs go into a new desktop" in page_text(page)


def test_a_row_opens_advise_with_everything_filled_in() -> None:
    table = find_page().dataframe[0].value
    for place in (0, len(table) // 2, len(table) - 1):
        nouns = linked(table["Advise"][place]).nouns()
        model = nouns.model
        how = nouns.runtime or LLAMA_CPP
        speeds = [
            float(answer.decode.value)
            for strategy in how.strategies
            if bool(
                (
                    answer := estimate(
                        model, nouns.machine, nouns.work, how, strategy, Constants.fitted()
                    )
                ).fits
            )
        ]
        assert speeds[0] == pytest.approx(table["tokens/s"][place], rel=1e-12)


def test_the_answer_is_in_words_and_jargon_has_a_tooltip() -> None:
    text = page_text(find_page())
    assert "60 tokens/s with Llama-3.1-8B at 16k" in text
    assert re.search(r"Cheapest (to buy|to rent|in place of your cards): ", text)
    assert "of rent" in text  # hours of a rent stand beside its month
    assert chart_words(find_page())[0].startswith("Nothing beats in both: ")
    settings = json.loads(find_page().dataframe[0].proto.columns)
    assert all(settings[name].get("help") for name in find_page().dataframe[0].value)


def test_an_unreachable_target_and_a_wrong_link_are_reported() -> None:
    text = page_text(opened("find", **{**TARGET, "min_tps": "-5", "max_usd": "1"}))
    assert "Least speed is -5" in text
    assert "rented" in text  # nothing is paid at once for these
    text = page_text(opened("find", **{**TARGET, "min_tps": "9000"}))
    assert "Nothing with a price on record is fast enough" in text


def test_what_is_added_to_the_present_machine_and_apis_have_rows_of_their_own() -> None:
    mine = {"model": "Gemma-3-27B", "machine": "gaming PC with a 3060 12GB and 32 GB RAM"}
    added = page_text(opened("find", **mine, offers="Add to mine"))
    assert "Cheapest added to what you have: " in added
    assert "gpu=RTX+3060+12GB" in added  # a row opens Advise with both cards
    called = page_text(opened("find", **mine, offers="API"))
    assert "Cheapest by API: " in called
    assert "Your texts leave your house" in called
    bought = page_text(opened("find", **mine))
    assert "For Gemma-3-27B you have " in bought, "the budget is the question"
    assert "the safe choice" in bought
    assert "Cheapest in place of your cards: " in bought


def test_a_budget_is_answered_by_three_buys_above_what_is_owned() -> None:
    mine = {"model": "Llama-3.3-70B", "machine": "gaming PC with a 3090 and 64 GB RAM"}
    text = page_text(opened("find", **mine, max_usd="2000"))
    have = re.search(r"you have ([\d.]+) tokens a second", text)
    assert have
    told = text.partition("you have")[2].partition("Cheapest in place")[0]
    speeds = [float(speed) for speed in re.findall(r">([\d.]+)<span class='oa-small'>", told)]
    assert all(speed > float(have[1]) for speed in speeds)
    prices = re.findall(r"\$([\d,]+)</td>", told)
    assert all(float(price.replace(",", "")) <= 2000 for price in prices)


@pytest.fixture
def few_models(monkeypatch) -> None:
    some = {name: row for name, row in catalog.model_rows().items() if name in MODELS}
    monkeypatch.setattr(catalog, "model_rows", lambda: some)
    monkeypatch.setattr("advisor.advice.finder.runnable.ranked_models", lambda: tuple(some))
    models_page.answer.clear()
    yield
    models_page.answer.clear()


@pytest.mark.usefixtures("few_models")
def test_models_stand_in_the_stated_order_as_on_the_command_line(capsys) -> None:
    scored = opened("run", **HERE, **TABLE).dataframe[0].value
    unscored = opened("run", **HERE, models_tab="Not rated").dataframe[0].value
    (command,) = copied(opened("run", **HERE, models_tab="Command"))
    rows = printed(command, capsys)
    assert [row["model"] for row in rows] == [*scored["Model"], *unscored["Model"]]
    assert [row["decode_tps"] for row in rows] == [*scored["tokens/s"], *unscored["tokens/s"]]
    fast = scored[scored["Keeps up"] == "yes"]
    at_ease = list(fast["tokens/s"] >= 2 * 20)
    assert at_ease == sorted(at_ease, reverse=True)
    assert (fast["tokens/s"] >= 20).all()
    assert scored["Source"].str.startswith("https://").all()
    assert "Score" not in unscored
    (drawn,) = chart_words(opened("run", **HERE, models_tab="Quality and speed"))
    assert drawn.startswith("No other beats in both score and speed: ")


@pytest.mark.usefixtures("few_models")
def test_cards_have_the_speed_words_and_lead_to_the_advice_that_they_name() -> None:
    page = opened("run", **HERE, **TABLE)
    text = page_text(page)
    assert re.search("Best (model|for chat) here: Qwen3-30B-A3B", text)
    for words in ("tokens/s", "to download", "Rated 13", ">keeps up<", "Meta", "Google"):
        assert words in text
    first = page.dataframe[0].value.iloc[0]
    shown = linked(first["Advise"])
    assert (shown.model, shown.format) == (first["Model"], first["Format"])


@pytest.mark.usefixtures("few_models")
def test_the_card_alone_holds_smaller_formats_and_kinds_are_kept_apart() -> None:
    whole = opened("run", **HERE, **TABLE, in_card="true").dataframe[0].value
    assert set(whole["Weights are"]) == {"In the GPU"}
    assert "Llama-3.1-8B" in set(whole["Model"])
    seen = opened("run", **HERE, **TABLE, kind="Vision")
    assert list(seen.dataframe[0].value["Model"]) == ["Gemma-3-12B"]
    assert "No code model runs here" in page_text(opened("run", **HERE, kind="Code"))


def test_states_that_have_no_answer_say_what_to_do_next() -> None:
    for page in ("find", "run"):
        unknown = opened(page, gpu="RTX 9090", model="Gemma-3-27B")
        assert "I know no GPU called" in page_text(unknown), page
        assert unknown.button(key="meant_RTX 5090").label == "RTX 5090", page
        unread = page_text(opened(page, gpu="RTX 3060", ram_gbs="abc", model="Gemma-3-27B"))
        assert "cannot be read; give a rate" in unread, page


@pytest.mark.usefixtures("few_models")
def test_what_only_the_drive_holds_is_no_card_where_something_runs() -> None:
    # 70 billion weights in Q2_K are 26 GB: 22 of them from a drive at 7 GB/s, 3 s for a token
    small = {"gpu": "none", "ram_gb": "4"}
    page = opened("run", **small, **TABLE)
    assert "Llama 3.1 70B" not in page_text(page)
    assert "Llama-3.1-70B" in set(page.dataframe[0].value["Model"])


def test_an_old_price_is_called_so_and_users_are_counted() -> None:
    mine = {"model": "Gemma-3-27B", "machine": "gaming PC with a 3060 12GB and 32 GB RAM"}
    text = page_text(opened("find", **mine))
    assert re.search(r"\* old prices, of 20\d\d-\d\d( to 20\d\d-\d\d)?<", text)
    assert re.search(r"\$[\d,]+\*", text)
    assert "tokens a second for each of 4 users" in page_text(opened("find", **mine, users="4"))


def test_every_model_that_is_ranked_has_a_card_with_its_maker() -> None:
    # The whole list: a repository of the Hub has no row in the catalogue.
    for kind in ("Chat", "Vision"):
        text = page_text(opened("run", kind=kind, gpu="RTX 4090", ram_gb="128"))
        assert "Something went wrong" not in text
        assert text.count("oa-gives") == 9
    named = placeless(text_of_a_card("Qwen/Qwen3.8-27B"))
    assert named.startswith("Qwen3.8-27B")
    assert "Qwen, " in named


def text_of_a_card(name: str) -> str:
    request = Request(gpu="RTX 4090", ram_gb=128.0)
    every = models_page.answer(request, 0, rated=True, whole=False)
    return str(
        models_page._card(request.nouns(), next(row for row in every if row.model.name == name))
    )


def placeless(html: str) -> str:
    return re.sub("<[^>]+>", "", html)


def test_other_models_are_those_that_the_machines_hold() -> None:
    page = app("find", model="Qwen3-8B", machine="gaming PC with a 3060 12GB and 32 GB RAM")
    table = page_text(page).partition("Fastest of these machines")[2]
    assert "Qwen3-30B-A3B" in table
    assert "Kimi-K2" not in table  # 1,000 billion weights


def test_a_search_is_made_once_for_all_who_ask_the_same(monkeypatch) -> None:
    """A second visitor waits for the first one's search; one that was left begins anew."""
    made: list[object] = []
    shares: list[float] = []

    def findings(nouns, compute):
        made.append(nouns)
        for share in (0.0, 0.5):
            compute.keywords["told"](share)
        return f"search {len(made)}"

    monkeypatch.setattr(find, "findings_of", findings)
    request = Request(model="Llama-3.1-8B", gpu="RTX 3090", ram_gb=64, min_tps=77)
    picked = pick(request.model)
    assert find.answer(request, picked, 0, shares.append) == "search 1"
    assert find.answer(request, picked, 0) == "search 1"
    assert (len(made), shares) == (1, [0.0, 0.5])

    def left(share):
        raise TimeoutError

    other = replace(request, min_tps=78)
    with pytest.raises(TimeoutError):
        find.answer(other, picked, 0, left)
    assert find.answer(other, picked, 0) == "search 3"


def test_a_team_is_looked_for_in_the_runtime_that_serves_it_best() -> None:
    test = opened("find", machine="2x 3090 64gb", model="Qwen3-32B", users="8")
    assert ", in AWQ. " in page_text(test)


def test_engines_with_experts_in_tiers_stand_on_machines_unless_a_runtime_is_chosen() -> None:
    asks = {"model": "Qwen3.8-Flash-Next", "machine": "RTX 3060 12GB, Ryzen 7 5700X, 32 GB DDR4"}
    told = "Free, on what you have: the same model in "
    assert told in page_text(opened("find", **asks))
    assert told not in page_text(opened("find", **asks, runtime="llama.cpp"))
