"""Runtimes, users together, streaming and renting on the Advise page."""

import re

import pytest
from ui_app import app as page
from ui_app import chart_words, copied, page_text, run, shared_link, tab, unfolded

from advisor.advice.advise import advise
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import TYPICAL, machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.command_line import command
from advisor.request.request import Request
from advisor.runtimes import RUNTIMES


@pytest.fixture(autouse=True)
def _own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))


def shown():
    """The answer behind the first visit's page."""
    here = machine(MachineSpec(gpu="RTX 3090", ram_gb=64, cpu=TYPICAL.host))
    return advise(catalog.model("Llama-3.1-70B", "Q4_K_M"), here, Workload())


def table_of(text: str, label: str) -> str:
    return text.partition(f"aria-label='{label}'")[2].partition("</table>")[0]


def app(**parameters: str):
    """A model that is offloaded, unless others are named, with all runtimes shown."""
    usual = {"model": "Llama-3.1-70B", "gpu": "RTX 3090", "ram_gb": "64", "cpu": TYPICAL.host}
    return tab(page(**{**usual, **parameters}), "All runtimes")


TAB_OF = {"open_streaming": "Where the time goes", "open_renting": "What it costs"}


def opened(part: str, **parameters: str):
    test = app(**parameters)
    if part in TAB_OF:
        tab(test, TAB_OF[part])
    return unfolded(test, part)


def chart_about(test, part: str) -> str:
    """Words of the chart whose words have this part."""
    (words,) = [words for words in chart_words(test) if part in words]
    return words


def test_fitting_runtimes_are_listed_fastest_first_with_their_set_up_effort() -> None:
    rows = table_of(page_text(app()), "Runtimes, fastest first").split("<tr>")[2:]
    speeds = [float(re.search(r">([\d.]+) tokens/s", row)[1]) for row in rows]
    assert speeds == sorted(speeds, reverse=True)
    assert len(rows) == sum(bool(estimate.fits) for estimate in shown().estimates)
    assert all("<abbr title='" in row for row in rows)


def test_impossible_options_are_below_with_their_reason() -> None:
    text = page_text(app())
    refused = table_of(text, "Runtimes that do not work")
    for estimate in shown().estimates:
        if estimate.refusal:
            assert estimate.runtime.name in refused
    assert "too large" in refused
    assert "runs nothing" not in table_of(text, "Runtimes, fastest first")


def test_the_command_shown_is_of_the_runtime_chosen() -> None:
    test = app()
    best = shown().best
    assert best.command in copied(test)
    test.selectbox(key="command_of").select("Accelerate, Offload to NVMe")
    test = run(test)
    assert any("from_pretrained" in text for text in copied(test))
    assert best.command not in copied(test)


def test_every_runtime_of_the_registry_is_on_the_page() -> None:
    text = page_text(app())
    for runtime in RUNTIMES:
        assert runtime.name in text


def test_a_command_that_no_longer_fits_gives_way_to_the_best() -> None:
    test = app()
    test.selectbox(key="command_of").select("Accelerate, Offload to NVMe")
    run(test)
    test.query_params["users"] = "8"
    assert "Accelerate" not in run(test).selectbox(key="command_of").value


def test_nothing_is_worked_out_until_its_part_is_opened() -> None:
    test = app()
    assert not [
        selectbox for selectbox in test.selectbox if selectbox.key in ("users_of", "rented")
    ]
    assert chart_words(test) == []


def test_users_together_says_where_memory_and_speed_end() -> None:
    test = opened("open_users", model="Llama-3-8B")
    text = chart_about(test, "together get")
    assert "together get" in text
    assert re.search(r"Memory is enough for \d+ users", text)
    assert "memory is the limit" in text
    test.number_input(key="target_each").set_value(60.0)
    assert re.search(r"Up to \d+ get 60 tokens/s each", chart_about(run(test), "together get"))


def test_users_of_a_paged_cache_hold_what_their_requests_do():
    # 512 + 256 / 2 tokens; llama.cpp allocates whole contexts.
    test = opened("open_users", model="Llama-3-8B", gpu="L40S", runtime="vLLM")
    text = page_text(test)
    assert re.search(r"Memory is enough for .*users with 640 tokens each", text)
    assert "with full contexts" not in text


def test_users_who_come_and_go_are_counted_with_the_limit() -> None:
    test = opened("open_load", model="Llama-3-8B", gpu="L40S")
    first = re.search(
        r"serves (\d+) users at once with 20 tokens/s", chart_about(test, "users at once")
    )
    assert first is not None
    test.text_input(key="in_user_tps").set_value("40")
    run(test)
    test.text_input(key="in_requests_per_hour").set_value("100")
    text = chart_about(run(test), "users at once")
    fewer = re.search(r"serves (\d+) users? at once with 40 tokens/s", text)
    assert fewer is not None
    assert int(fewer[1]) < int(first[1])
    assert "At 100 requests an hour the first token comes after" in text


def test_streaming_is_named_with_the_users_or_tokens_from_which_it_is_faster() -> None:
    test = opened("open_streaming")
    assert re.search(
        r"users on, streaming is faster|Streaming is faster for every number of users",
        chart_about(test, "user"),
    )
    assert re.search(
        r"tokens on, streaming is faster|Streaming is faster with prompts of every length",
        chart_about(test, "prompts of"),
    )


def test_nothing_is_streamed_where_the_gpu_holds_it() -> None:
    test = opened("open_streaming", model="Llama-3-8B")
    assert not [words for words in chart_words(test) if "Streaming" in words]


def test_a_rented_gpu_comes_with_its_task_file() -> None:
    test = opened("open_renting")
    test.selectbox(key="rented").select("H100 SXM")
    (text,) = [text for text in copied(run(test)) if "accelerators:" in text]
    assert "{H100:1, H100-SXM:1}" in text


def test_without_a_gpu_the_page_stands() -> None:
    test = opened("open_users", gpu="none", model="Llama-3-8B")
    assert "together get" in chart_about(test, "together get")


def test_a_card_of_another_kind_beside_the_first() -> None:
    test = app(gpu="RTX 3090 + RTX 4090")
    text = page_text(test)
    assert "RTX 3090 24 GB</span>" in text
    assert "RTX 4090 24 GB</span>" in text
    assert "Runs well" in text
    assert "gpu=RTX+3090+%2B+RTX+4090" in shared_link(test)


@pytest.mark.parametrize("gpu", ["RTX 3090 + RTX 4090", "2x RTX 3090 + RTX 4090"])
def test_cards_of_two_kinds_are_stated_on_the_command_line_too(gpu: str) -> None:
    text = command(Request(model="Llama-3.1-70B", gpu=gpu))
    assert f"--gpu '{gpu}'" in text
    assert "--gpu-count" not in text


@pytest.mark.parametrize("name", ["vLLM", "Accelerate", "Ollama"])
def test_the_runtime_chosen_is_the_one_of_the_cards_and_the_verdict(name: str) -> None:
    test = app(runtime=name)
    text = page_text(test)
    assert f"With {name}, " in text.partition("oa-verdict")[2].partition("</h1>")[0]
    assert test.selectbox(key="command_of").value.startswith(f"{name}, ")
    assert f"runtime={name}" in shared_link(test)
    cards = page_text(tab(test, "Where the time goes"))
    named = re.findall(r"<span>Runtime</span><span>([^,<]+),", cards)
    assert named
    assert set(named) == {name}


def test_a_card_states_what_the_chosen_runtime_cannot_do() -> None:
    text = page_text(app(runtime="vLLM"))
    assert "vLLM does not run a model from the drive." in text
    assert "DeepSpeed ZeRO-Inference always leaves a part outside the GPU." in page_text(
        app(runtime="DeepSpeed ZeRO-Inference")
    )


def test_a_runtime_that_does_not_take_the_model_leaves_a_page_with_its_reason() -> None:
    text = page_text(app(runtime="KTransformers"))
    assert "KTransformers does not run it here." in text
    assert "is for models with experts" in text


@pytest.mark.parametrize(
    ("name", "words"), [("vLLM", "vllm serve "), ("Ollama", "ollama create"), ("SGLang", "sglang.")]
)
def test_the_task_file_is_of_the_runtime_chosen(name: str, words: str) -> None:
    test = opened("open_renting", runtime=name)
    (file,) = [text for text in copied(test) if "resources:" in text]
    assert words in file


def test_a_runtime_without_a_task_file_says_so() -> None:
    test = opened("open_renting", runtime="Accelerate", ram_gb="256")
    assert "For Accelerate, rent the GPU and type" in page_text(test)


def test_two_cards_at_once_are_named_beside_the_command() -> None:
    test = app(gpu_count="2", bridge="true", runtime="llama.cpp")
    part = next(each for each in test.get("expander") if each.label == "About this command")
    text = page_text(unfolded(test, part.proto.id.rsplit("-", 1)[1]))
    assert "With -sm tensor -fa on in place of -sm layer" in text


def test_a_bridge_and_a_runtime_are_stated_on_the_command_line_too() -> None:
    text = command(
        Request(model="Llama-3.1-70B", gpu="RTX 3090", gpu_count=2, bridge=True, runtime="vLLM")
    )
    assert "--nvlink" in text
    assert "--runtime vLLM" in text
