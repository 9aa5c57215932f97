"""One request through every door: address, report, row, file, options, Python."""

import argparse
import json
import re
from dataclasses import fields
from functools import cache, partial

import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from request_values import to_values

from advisor.catalog.inputs import INPUTS, Kind
from advisor.cost_model.placement import Settings
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, InputError
from advisor.machine.spec import MachineSpec
from advisor.request import command_line, texts, values
from advisor.request.lists import CLOSED, listed
from advisor.request.money import Form, MoneyInputs, Ownership, room_for
from advisor.request.request import Request
from advisor.units import GIB

NAMES = (
    st.text("abcdefgXYZ 0123456789.+-/xé", min_size=1, max_size=20)
    .map(str.strip)
    .filter(lambda text: text and not text.startswith("-"))
)
PRICED = st.text("abcXYZ 019", min_size=1, max_size=12).map(str.strip).filter(bool)
AMOUNTS = st.lists(
    st.tuples(PRICED, st.floats(0.01, 1000.0)), max_size=2, unique_by=lambda price: price[0]
)
AMOUNTS = AMOUNTS.map(tuple)
KNOWN = st.lists(
    st.tuples(st.sampled_from(("Qwen3-8B Q4_K_M", "gpt-oss-20b")), st.integers(1, 500)), max_size=2
)
KNOWN = KNOWN.map(lambda known: tuple(f"{model} {speed}" for model, speed in known))


def value_of(entry):
    """Any value that an input takes."""
    if entry.name in CLOSED or entry.name == "context":
        if entry.name in CLOSED:
            return st.sampled_from(listed(entry.name))
        return st.integers(1, 2**24)
    if entry.name == "currency":
        return st.just("USD")
    low, high = entry.limits or (0, 0)
    return {
        Kind.NAME: NAMES,
        Kind.NUMBER: st.floats(low, high),
        Kind.WHOLE: st.integers(int(low), int(high)),
        Kind.SWITCH: st.booleans() if entry.name != "kv_in_ram" else st.sampled_from([None, True]),
        Kind.OFF: st.booleans(),
        Kind.PRICES: AMOUNTS,
        Kind.TEXTS: KNOWN,
        Kind.SIZES: st.lists(st.integers(1, 2**20), unique=True, max_size=3)
        .map(sorted)
        .map(lambda sizes: tuple(map(float, sizes))),
    }[Kind(entry.kind)]


REQUESTS = st.fixed_dictionaries(
    {"model": NAMES},
    optional={
        entry.name: value_of(entry)
        for entry in INPUTS.values()
        if entry.name not in ("model", "usd_rate")
    },
).map(lambda stated: Request(**stated))


@cache
def every_option():
    parser = command_line.StrictParser(add_help=False)
    command_line.add_options(parser, f"{command_line.FULL} target")
    return parser


def parsed(words):
    return command_line.from_args(every_option().parse_args(words))


@settings(max_examples=100, deadline=None, phases=[Phase.generate])
@given(REQUESTS)
def test_any_request_comes_back_from_every_door(request):
    written = texts.to_texts(request)
    assert texts.from_texts(written) == request
    assert texts.from_address(written) == texts.Opened(request=request)
    assert texts.from_texts(texts.to_texts(request, defaults=True)) == request
    assert values.from_values(to_values(request)) == request
    assert (
        values.from_values(yaml.safe_load(yaml.safe_dump(to_values(request), sort_keys=False)))
        == request
    )
    assert values.from_values(json.loads(json.dumps(to_values(request)))) == request
    assert parsed(command_line.to_argv(request)) == request
    assert Request(**request.stated()) == request


def test_the_record_has_every_input_of_the_registry_in_its_order():
    assert [field.name for field in fields(Request)] == [entry.name for entry in INPUTS.values()]
    assert len({entry.option for entry in INPUTS.values()}) == len(INPUTS)
    keys = [entry.former for entry in INPUTS.values() if entry.former]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & set(INPUTS)


def test_every_attribute_of_the_nouns_is_an_input():
    of_machine = {field.name for field in fields(MachineSpec)}
    of_request = {field.name for field in fields(Workload)} - {"draft_model", "image_patches"}
    of_money = {field.name for field in fields(MoneyInputs)}
    assert of_machine | of_request | of_money <= set(INPUTS)


def test_the_nouns_have_what_is_stated_in_units_of_the_package():
    request = Request(
        model="Llama-3.1-8B",
        format="Q8_0",
        gpu="RTX 3090",
        ram_gb=64,
        context=16_384,
        users=2,
        prompt=4000,
        cached_share=0.25,
        gpu_layers=20,
        cache_gb=8,
        flash_attention=False,
        runtime="llama.cpp",
        currency="EUR",
        usd_rate=1.25,
        usd_per_hour_of_time=40,
        own_price=(("dock", 100.0),),
        resale=400,
        form="desktop",
    )
    nouns = request.nouns()
    assert nouns.model.format == "Q8_0"
    assert [gpu.name for gpu in nouns.machine.gpus] == ["RTX 3090"]
    assert nouns.machine.host.memory.value == 64 * 2**30
    assert (nouns.work.context, nouns.work.users, nouns.work.cached) == (16_384, 2, 1000)
    assert not nouns.work.flash_attention
    assert (nouns.settings.gpu_layers, nouns.settings.page_cache) == (20, 8 * 2**30)
    assert nouns.settings.counts_head
    assert nouns.runtime is not None
    assert nouns.runtime.name == "llama.cpp"
    assert nouns.money.usd_per_hour_of_time == pytest.approx(50)
    assert nouns.money.own_price == (("dock", 125.0),)
    assert nouns.ownership.resale == pytest.approx(500)
    assert nouns.machine is nouns.machine  # built once


def settings_of(**split) -> Settings:
    return Request(**split).nouns().settings


def test_typed_options_become_settings() -> None:
    assert settings_of() == Settings()
    typed = settings_of(gpu_layers=20, cpu_moe=3, cache_gb=2, kv_in_ram=True, load_mode="mlock")
    assert (typed.gpu_layers, typed.cpu_moe, typed.kv_in_ram) == (20, 3, True)
    assert typed.page_cache == 2 * GIB
    assert typed.counts_head  # `-ngl 20` is the head and 19 layers
    assert settings_of(cache_gb=0).page_cache == 0
    assert settings_of(expert_cache_gb=3).expert_cache == 3 * GIB
    with pytest.raises(InputError, match="'nmap' is not known; use one of auto, mmap"):
        settings_of(load_mode="nmap")


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"users": 0}, "Users (--users) is 0"),
        ({"users": "4"}, "Users (--users) is '4'; it should be a whole number"),
        ({"gpu": 3090}, "GPU (--gpu) is 3090; it should be text"),
        ({"flash_attention": 1}, "Flash attention (--no-flash-attention) is 1; it should be true"),
        ({"own_price": {"dock": 5}}, "it should be names with amounts"),
        ({"currency": "VND"}, "on record are the rates of"),
        ({"currency": "euro", "usd_rate": 1}, "three letters"),
        ({"usd_rate": 1.1}, "--usd-rate is the value of another currency, and none is named"),
        ({"own_price": (("dock", 5e7),)}, "Own price of dock (--own-price) is 50000000"),
        ({"contexts": (0.0,)}, "Context (--context) is 0"),
    ],
)
def test_a_record_of_what_nobody_can_ask_is_refused(stated, sentence):
    with pytest.raises(InputError) as refused:
        Request(**stated)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"gpu_count": 2}, "--gpu-count describes a GPU"),
        ({"bridge": True}, "--nvlink describes a GPU"),
        ({"gpu": "RTX 3090", "form": "toaster"}, "No kind of machine is called 'toaster'"),
        ({"gpu": "RTX 3090", "api_usd_in": 1}, "give both --api-usd-in"),
        ({"gpu": "RTX 3090", "rented_at": 1, "resale": 5}, "cannot be sold"),
        ({"gpu": "RTX 3090", "draft": "Qwen3-0.6B"}, "needs an acceptance"),
        ({"gpu": "RTX 3090", "load_mode": "fast"}, "Load mode 'fast'"),
        ({"gpu": "RTX 3090", "placement": "gpu"}, "No placement is called 'gpu'"),
    ],
)
def test_what_does_not_go_together_is_said_where_it_is_built(stated, sentence):
    nouns = Request(model="Llama-3.1-8B", **stated).nouns()
    with pytest.raises(AdvisorError) as refused:
        _ = (nouns.machine, nouns.work, nouns.settings, nouns.money, nouns.ownership,
             nouns.strategy)  # fmt: skip
    assert sentence in str(refused.value)


def test_an_address_shows_its_default_for_what_it_gets_wrong():
    opened = texts.from_address(
        {
            "users": "many",
            "gpu_count": "500",
            "context": "32k",
            "kv_type": "Q8_0",
            "numa": "some",
            "colour": "red",
        }
    )
    assert opened.request == Request(context=32_768, kv_type="q8_0")
    assert len(opened.problems) == 3
    assert "'many' cannot be read" in opened.problems[0]
    assert all("Shown instead:" in problem for problem in opened.problems)


@pytest.mark.parametrize(
    ("values_typed", "sentence"),
    [
        ({"ram": 64}, "did you mean ram_gb"),
        ({"ram_gb": [64]}, "file.ram_gb is '(64,)'; it should be a number"),
        ({"users": 1.5}, "file.users is '1.5'; it should be a whole number"),
        ({"gpu": 3090}, "file.gpu is '3090'; it should be text"),
        ({"swa_full": "yes"}, "file.swa_full is 'yes'; it should be true or false"),
        ({"users": 0}, "file: Users (--users) is 0"),
    ],
)
def test_a_file_says_which_value_is_wrong(values_typed, sentence):
    with pytest.raises(InputError) as refused:
        values.from_values(values_typed, "file")
    assert sentence in str(refused.value)


def test_a_file_may_state_numbers_with_their_units():
    assert values.from_values({"ram_gb": "64GB", "context": "32k"}) == Request(
        ram_gb=64.0, context=32_768
    )


@pytest.mark.parametrize(
    ("link", "meant"),
    [
        (
            {"machine": "Another machine", "model": "Llama-3.1-8B", "gpu": "RTX 4090", "ram": "32",
             "context": "16k", "kv": "q8_0", "link": "PCIe 3 x4", "layers": "20", "hour": "12.5"},
            {"model": "Llama-3.1-8B", "gpu": "RTX 4090", "ram_gb": 32, "context": 16_384,
             "kv_type": "q8_0", "pcie_gen": 3, "pcie_lanes": 4, "gpu_layers": 20,
             "usd_per_hour_of_time": 12.5},
        ),
        (
            {"machine": "Another machine", "gpus": "2", "gpu2": "RTX 4090", "cachedshare": "0.5"},
            {"gpu": "2x RTX 3090 + RTX 4090", "cached_share": 0.5},
        ),
        (
            {"machine": "Another machine", "gpus": "2", "bridge": "NVLink bridge",
             "division": "Whole ones", "draft": "None", "runtime": "Any", "backend": "Auto"},
            {"gpu": "RTX 3090", "gpu_count": 2, "bridge": True, "expert_parallel": True},
        ),
        (
            {"machine": "Another machine", "gpu": "No GPU", "numa": "none", "having": "Rented"},
            {"gpu": "none", "rented_at": 0.5},
        ),
        (
            {"machine": "Another machine", "having": "Nothing yet", "currency": "EUR",
             "rate": "1.25", "rentgpu": "RTX 4090", "rentusd": "0.4", "buygpu": "dock"},
            {"gpu": "RTX 3090", "cards_owned": "nothing", "currency": "EUR", "usd_rate": 1.25,
             "own_rent": (("RTX 4090", 0.4),), "own_price": (("dock", 1000.0),)},
        ),
    ],
)  # fmt: skip
def test_a_former_link_asks_what_it_asked(link, meant):
    opened = texts.from_address(link)
    assert not opened.problems
    usual = {
        "cpu": "Desktop DDR5 dual-channel (typical)",
        "ram_gb": 64.0,
        "disk": "NVMe PCIe 4.0 x4 (typical)",
    }
    assert opened.request == Request(**(usual | meant))


@pytest.mark.parametrize(
    ("link", "meant"),
    [
        ({"machine": "This machine", "mygpu": "RTX 4090", "ramspeed": "40"},
         {"machine": "this", "gpu": "RTX 4090", "ram_gbs": 40.0}),
        ({"machine": "This machine", "mygpu": "As seen"}, {"machine": "this"}),
        ({"machine": "By name", "owned": "Mac Studio M3 Ultra 512GB", "pool": "256"},
         {"machine": "Mac Studio M3 Ultra 512GB", "ram_gb": 256.0}),
        ({"machine": "By name", "owned": "g6e.xlarge", "namedrent": "1.5"},
         {"machine": "g6e.xlarge", "rented_at": 1.5}),
        ({"machine": "Another machine", "gpu": "Apple M2 Ultra 76c", "pool": "128", "ram": "64"},
         {"gpu": "Apple M2 Ultra 76c", "ram_gb": 128.0, "disk": "NVMe PCIe 4.0 x4 (typical)"}),
    ],
)  # fmt: skip
def test_a_former_link_means_the_machine_that_it_meant(link, meant):
    assert texts.from_address(link) == texts.Opened(request=Request(**meant))


def test_former_links_of_the_finding_pages_have_their_own_keys():
    link = {"machine": "Another machine", "gpu": "No GPU", "format": "Q4_K_M",
            "formats": "Any", "engine": "vLLM", "caches": "q8_0", "leasttps": "60",
            "contexts": "8k, 32k"}  # fmt: skip
    finding = texts.from_address(link, "find").request
    assert (finding.format, finding.runtime, finding.kv_type) == (None, "vLLM", "q8_0")
    assert finding.min_tps == 60
    assert finding.contexts == (8192, 32_768)
    runs = texts.from_address({"machine": "This machine", "enough": "20"}, "runnable").request
    assert (runs.runtime, runs.reading_tps) == ("llama.cpp", 20)


def test_a_method_drafts_by_itself_and_any_other_name_is_a_model() -> None:
    by_method = Request(draft="MTP").nouns().work
    assert (by_method.draft, by_method.draft_model, by_method.acceptance) == ("mtp", None, 0.85)
    by_model = Request(draft="Llama-3.2-1B", acceptance=0.6).nouns().work
    assert by_model.draft_model is not None
    assert "1B" in by_model.draft_model.name
    with pytest.raises(InputError, match="needs an acceptance"):
        Request(draft="Llama-3.2-1B").nouns().work  # noqa: B018 - asked for, not used


def test_rents_and_prices_of_ones_own_are_in_the_money_that_is_typed() -> None:
    request = Request(
        model="m",
        gpu="RTX 3090",
        currency="EUR",
        usd_rate=1.25,
        own_rent=(("RTX 4090", 0.4),),
        own_price=(("dock", 100.0),),
    )
    assert request.nouns().money.own_rent == (("RTX 4090", 0.5),)
    assert request.nouns().money.own_price == (("dock", 125.0),)


def test_what_is_owned_is_answered_for_unless_a_card_is_asked() -> None:
    owned = Request(model="m", machine="Mac Studio M3 Ultra 256GB").nouns()
    assert owned.machine.unified
    beside = Request(model="m", gpu="RTX 5090", cards_owned="2x RTX 3090").nouns()
    assert [gpu.name for gpu in beside.machine.gpus] == ["RTX 5090"]
    assert [gpu.name for gpu in beside.owned.gpus] == ["RTX 3090", "RTX 3090"]
    assert beside.owned.host == beside.machine.host


def test_owned_cards_that_the_stated_machine_has_not_stand_idle() -> None:
    machine = "RTX 3060 12GB, Ryzen 5 5600, 32GB DDR4-3200"
    second = Request(model="m", machine=machine, cards_owned="2x RTX 3060 12GB").nouns().machine
    assert [gpu.name for gpu in second.gpus] == ["RTX 3060 12GB"]
    assert [gpu.name for gpu in second.idle] == ["RTX 3060 12GB"]
    same = Request(model="m", machine=machine, cards_owned="RTX 3060 12GB").nouns().machine
    assert not same.idle
    other = Request(model="m", machine=machine, cards_owned="2x RTX 3090").nouns().machine
    assert [gpu.name for gpu in other.gpus] == ["RTX 3090", "RTX 3090"]
    assert not other.idle
    left_out = Request(model="m", machine=machine, backend="cpu").nouns().machine
    assert ([*left_out.gpus], [gpu.name for gpu in left_out.idle]) == ([], ["RTX 3060 12GB"])


@pytest.mark.parametrize(
    ("form", "most"), [("desktop", 8), ("server", 8), ("laptop", 1), ("mini", 1), ("mac", 0)]
)
def test_a_machine_has_room_for_so_many_cards(form: str, most: int) -> None:
    assert [room_for(Form(form), cards) for cards in (most, most + 1)] == [True, False]
    assert Ownership(form=Form(form)).takes_cards is (most > 1)
    assert not Ownership(form=Form(form), nothing=True).takes_cards


@pytest.mark.parametrize(
    ("gpu", "cpu", "form"),
    [
        ("RTX 3090", "Ryzen 9 7950X", "desktop"), ("RTX 4060 Laptop", None, "laptop"),
        ("Apple M4 Max 40c", None, "mac"), ("GB10", None, "mini"),
        ("H100 SXM", "EPYC 9355", "server"),
    ],
)  # fmt: skip
def test_parts_tell_the_form_of_a_machine(gpu: str, cpu: str | None, form: str) -> None:
    assert Request(model="m", gpu=gpu, cpu=cpu).nouns().ownership.form == Form(form)


def test_words_of_former_links_that_left_a_format_open_leave_it_open() -> None:
    for word, form in (("As stored", None), ("auto", None), ("Q5_K_M", "Q5_K_M"), ("", None)):
        link = {"machine": "This machine", "repack": word}
        assert texts.from_address(link).request.format == form, word
    # any part makes it a described machine, with the others as the form began
    for part, text in (("gpu", "RTX 4090"), ("gpus", "2"), ("cpu", "EPYC 9355"), ("ram", "128")):
        described = texts.from_address({part: text, "layers": "20"}).request
        assert described.machine is None, part
        assert described.gpu is not None, part
    # an address by today's names alone is read as it stands
    assert texts.from_address({"gpu": "RTX 4090"}).request == Request(gpu="RTX 4090")
    assert texts.from_address({"gpu": "No GPU"}).request.gpu == "none"
    assert texts.from_address({"machine": "By name", "owned": "DGX Spark"}).request.machine == (
        "DGX Spark"
    )


def test_help_says_units_names_and_defaults() -> None:
    parser = argparse.ArgumentParser(
        prog="x", formatter_class=partial(argparse.HelpFormatter, width=400)
    )
    command_line.add_options(parser)
    text = parser.format_help()
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  --")}
    assert lines["--context"].split()[1] == "TOKENS"
    assert lines["--context"].endswith("(8192)")
    assert lines["--gpu"].split()[1] == "NAME"
    assert lines["--gpu-count"].split()[1] == "N"
    assert lines["--own-rent"].split()[1] == "NAME=USD"
    assert "f16, bf16, q8_0" in lines["--kv-type"]
    assert "q8_0" not in lines["--runtime"]
    assert not lines["--bench"].endswith("(0)"), "a switch has no number"


def test_words_that_are_no_options_are_refused_in_words() -> None:
    for words in (["--help"], ["--gpu"], ["--nonsense", "1"], ["--model=m", "--context=many"]):
        with pytest.raises(InputError, match=r"\w"):
            command_line.from_argv(words)


def test_an_unknown_name_is_said_in_the_middle_of_a_sentence() -> None:
    """Labels of inputs begin with a capital; GPU and KV cache keep theirs."""
    refused = {
        name: "".join(texts.from_address({"model": "Llama-3.1-8B", name: "foo"}).problems)
        for name in ("session", "kv_type", "runtime")
    }
    assert "No session is called 'foo'" in refused["session"]
    assert "No KV cache is called 'foo'" in refused["kv_type"]
    assert "No runtime is called 'foo'" in refused["runtime"]


def test_an_old_link_keeps_the_defaults_of_its_month(monkeypatch):
    """A default that was another one until January 2027 is kept by links of before."""
    row = texts.FormerDefault(name="reading_tps", text="10", until="2027-01")
    older = texts.FormerDefault(name="reading_tps", text="8", until="2026-06")
    monkeypatch.setattr(texts, "former_defaults", lambda: (older, row))
    for month, reading in (("2026-05", 8), ("2026-11", 10), ("2027-01", 6), ("nonsense", 6)):
        opened = texts.from_address({"model": "m", "v": month})
        assert opened.request.reading_tps == reading
        assert opened.problems == ()
    assert texts.from_address({"model": "m"}).request.reading_tps == 6
    assert texts.from_address({"v": "2026-11", "reading_tps": "7"}).request.reading_tps == 7


def test_every_former_default_can_be_read():
    for row in texts.former_defaults():
        assert texts.from_texts({row.name: row.text})
        assert re.fullmatch(texts.MONTH, row.until)
