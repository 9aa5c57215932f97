"""Task of an agent: sums of single estimates, what is read again, what the runtimes keep."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from flags import flags, listed

from advisor.advice.advise import answer
from advisor.advice.task import (
    Task,
    held_by,
    kind_of_layers,
    prefix_cache,
    prefix_caches,
    sentences,
    task_of,
)
from advisor.advice.words.phrases import duration
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Tier
from advisor.formatting import percent
from advisor.request.request import Request
from advisor.request.session import AgentSession
from advisor.runtimes import ASIDE, RUNTIMES, SGLANG, VLLM, runtime
from advisor.runtimes.compare import compare
from advisor.units import GIB, number

DENSE = "Llama-3.1-8B"
HYBRID = "Qwen3.6-35B-A3B"
WINDOWED = "gemma-3-27b"


def _estimates(model: str, name: str, **stated: object) -> list[Estimate]:
    gpu = {"gpu": "RTX 4090", "ram_gb": 96.0}
    request = Request(model=model, session="swe-bench", **{**gpu, **stated})  # type: ignore[arg-type]
    nouns = request.nouns()
    estimates = compare(nouns.model, nouns.machine, nouns.work, runtimes=[runtime(name)])
    return [each for each in estimates if bool(np.all(each.fits))]


def _task(estimate: Estimate, **changed: object) -> Task:
    shape = Request(model="m", session="swe-bench").nouns().session
    assert shape is not None
    task = task_of(estimate, replace(shape, **changed))  # type: ignore[arg-type]
    assert task is not None
    return task


def test_a_task_is_the_sum_of_its_turns_asked_singly() -> None:
    for model in (DENSE, HYBRID, WINDOWED):
        for name in ("llama.cpp", "vllm"):
            estimate = _estimates(model, name)[0]
            task = _task(estimate, turns=6, kept=0.7)
            cached = task.turns.work.cached
            single = [
                task.turns.again(
                    work=task.turns.work.with_numbers(prompt=prompt, cached=part)
                ).reply
                for prompt, part in zip(task.session.prompts, np.asarray(cached), strict=True)
            ]
            assert task.seconds == pytest.approx(float(np.sum(single)), rel=1e-9), (model, name)


def test_reading_again_worked_by_hand() -> None:
    """Two turns; the second's prompt of 1250 tokens, of which 1050 were there before."""
    estimate = _estimates(DENSE, "llama.cpp")[0]
    session = AgentSession(turns=2, first=1000, added=200, reply=50, kept=0.0)
    task = task_of(estimate, session)
    assert task is not None

    def prompt(tokens: float, cached: float) -> float:
        work = task.turns.work.with_numbers(prompt=tokens, cached=cached)
        first = task.turns.again(work=work).first_token_seconds
        assert first is not None
        return float(first)

    twice = prompt(1250, 0) - prompt(1250, 1050)
    assert float(np.sum(task.rereading)) == pytest.approx(twice, rel=1e-9)
    assert task.reread_share == pytest.approx(twice / task.seconds, rel=1e-9)
    whole = task_of(estimate, replace(session, kept=1.0))
    assert whole is not None
    assert whole.reread_share == 0
    assert task.seconds - whole.seconds == pytest.approx(twice, rel=1e-9)


def test_reading_again_takes_as_long_as_others_measured() -> None:
    """Qwen3.6-27B Q4_K_M on an RTX 3090 (llama.cpp #22384, spiritbuun/buun-llama-cpp PR 26): a
    conversation of 12,146 tokens is read again in 11 s, its last 31 alone in 115 ms.
    """
    estimate = _estimates("Qwen3.6-27B", "llama.cpp", gpu="RTX 3090", format="Q4_K_M")[0]
    session = AgentSession(turns=2, first=12_015, added=31, reply=100, kept=0.0)
    for kept, measured in ((0.0, 11.0), (1.0, 0.115)):
        task = task_of(estimate, replace(session, kept=kept))
        assert task is not None
        assert task.session.prompts[1] == 12_146
        speeds = task.turns.prefill
        assert speeds is not None
        ends = [
            float(task.reading[1]) * np.broadcast_to(speeds.value / end, (2,))[1]
            for end in (speeds.high, speeds.low)
        ]
        assert ends[0] < measured < ends[1], (kept, measured, ends)


def test_more_turns_are_never_cheaper_and_a_cached_prefix_never_slower() -> None:
    for model in (DENSE, HYBRID, "gpt-oss-120b"):
        for name in ("llama.cpp", "vllm", "ktransformers"):
            for estimate in _estimates(model, name):
                shorter = 0.0
                less = np.inf
                for turns in (1, 2, 7, 36):
                    now = _task(estimate, turns=turns).seconds
                    assert now > shorter, (model, name, turns)
                    shorter = now
                for kept in (0.0, 0.4, 0.9, 1.0):
                    now = _task(estimate, kept=kept).seconds
                    assert now <= less * (1 + 1e-9), (model, name, kept)
                    less = now


def test_replies_become_slower_as_the_context_grows() -> None:
    task = _task(_estimates(DENSE, "llama.cpp")[0])
    assert np.all(np.diff(task.decode_tps) < 0)
    assert np.all(np.diff(task.context) > 0)
    assert task.range.low < task.seconds < task.range.high


def test_what_is_kept_follows_runtime_and_kind_of_layers() -> None:
    share = {
        (model, name): _task(_estimates(model, name)[0]).kept
        for model in (DENSE, HYBRID)
        for name in ("llama.cpp", "vllm", "ollama")
    }
    assert share == {
        (DENSE, "llama.cpp"): 1,
        (DENSE, "vllm"): 1,
        (DENSE, "ollama"): 1,
        (HYBRID, "llama.cpp"): 0,
        (HYBRID, "vllm"): 0,
        (HYBRID, "ollama"): 0,
    }
    hybrid, windowed = (_estimates(model, "llama.cpp")[0].model for model in (HYBRID, WINDOWED))
    assert (kind_of_layers(hybrid), kind_of_layers(windowed)) == ("recurrent", "window")
    assert prefix_cache(SGLANG, hybrid).kept == 1
    assert prefix_cache(VLLM, hybrid).setting.endswith("(--enable-prefix-caching)")
    assert _task(_estimates(HYBRID, "llama.cpp")[0], kept=0.5).kept == 0.5


def test_vllm_keeps_whole_blocks() -> None:
    task = _task(_estimates(DENSE, "vllm")[0], turns=4)
    cached = np.asarray(task.turns.work.cached)
    assert np.all(cached % 16 == 0)
    assert np.all(task.session.before - cached < 16)


def test_agents_beyond_the_slots_wait_and_evict_one_another() -> None:
    estimate = _estimates(DENSE, "vllm")[0]
    alone = _task(estimate)
    three = _task(estimate, agents=3, slots=1)
    assert three.rounds == 3
    assert three.evicted
    assert three.seconds == pytest.approx(3 * _task(estimate, kept=0.0).seconds)
    assert not alone.evicted
    assert three.saves[0].edit.words.startswith("one slot for each of the 3 agents")
    slots = "one slot for each of the 3 agents"
    (best,) = (each for each in three.every_save if each.edit.words == slots)
    after = _task(estimate, agents=3, slots=None)
    assert best.seconds == pytest.approx(three.seconds - after.seconds)


def test_evicted_conversations_can_wait_in_ram() -> None:
    """A token of Llama-3.1-8B is 128 KiB, 16,128 of them 1.97 GiB; two agents wait: 4 GiB."""
    estimate = _estimates(DENSE, "vllm")[0]
    three = _task(estimate, agents=3, slots=1)
    (held,) = (each.edit for each in three.saves if "in RAM" in each.edit.words)
    assert held.words.endswith("(--kv-offloading-size 4)")
    after = _task(estimate, agents=3, slots=1, spare=held.changes["session"].spare)
    assert after.waits is Tier.RAM
    # vLLM keeps blocks of prompts alone there, so each reply is read again, in blocks of 16
    session = after.session
    read = np.where(np.arange(session.turns) > 0, session.before - session.reply, 0) // 16 * 16
    assert np.asarray(after.turns.work.cached) == pytest.approx(read)
    alone = after.turns.again(work=after.turns.work)
    machine = after.turns.machine
    assert machine is not None
    moved = np.asarray(after.turns.work.cached) * 128 * 1024
    link = moved / float(machine.gpus[0].link.pinned.value)
    assert after.copying == pytest.approx(link, rel=1e-9)
    assert after.seconds == pytest.approx(3 * float(np.sum(alone.reply + link)))
    assert after.seconds < three.seconds
    small = _task(_estimates(DENSE, "vllm", ram_gb=5.0)[0], agents=3, slots=1)
    assert small.evicted
    assert not [each for each in small.saves if "in RAM" in each.edit.words]
    assert not np.any(_task(estimate).copying)


def test_conversations_that_ram_does_not_hold_come_back_from_the_drive() -> None:
    """2 GiB a conversation: 1 GiB of RAM holds neither of two, 4 GiB of the drive both."""
    for name, option in (("vllm", "TieringOffloadingSpec"), ("sglang", "hicache-storage-backend")):
        estimate = _estimates(DENSE, name)[0]
        stated = {"agents": 3, "slots": 1, "spare": 1.0 * GIB}
        task = _task(estimate, **stated, drive=4.0 * GIB)
        assert task.waits is Tier.DISK
        drive = task.turns.machine.disk  # type: ignore[union-attr]
        assert drive is not None
        moved = np.asarray(task.turns.work.cached) * 128 * 1024
        assert task.copying == pytest.approx(moved / float(drive.sequential.value), rel=1e-9)
        (words,) = (line for line in sentences(task) if "on the drive" in line)
        assert option in words
        assert _task(estimate, **stated, drive=3.0 * GIB).evicted
    (config,) = re.findall(r"--kv-transfer-config '(.*?)'", held_by(_vllm_on_drive(), Tier.DISK))
    extra = json.loads(config)["kv_connector_extra_config"]
    assert extra["cpu_bytes_to_use"] == 2 * GIB  # the conversation that is answered
    assert not _task(_estimates(DENSE, "llama.cpp")[0], agents=9, slots=1, drive=1e12).waits


def _vllm_on_drive() -> Task:
    return _task(_estimates(DENSE, "vllm")[0], agents=3, slots=1, drive=9.0 * GIB)


def test_sglang_holds_them_in_more_ram_than_its_cache_on_the_gpu() -> None:
    """24 GiB hold 4.7 GB of weights in AWQ, so HiCache takes at least the other 21 GB."""
    estimate = _estimates(DENSE, "sglang")[0]
    small = _task(estimate, agents=3, slots=1, spare=8.0 * GIB)
    assert small.evicted
    assert any("as much as its cache on the GPUs" in line for line in sentences(small))
    large = _task(estimate, agents=3, slots=1, spare=24.0 * GIB)
    assert large.waits is Tier.RAM
    assert large.turns.placement is not None
    weights = float(large.turns.placement.weight_bytes(large.turns.model, Location.vram(0)))
    size = float(held_by(large, Tier.RAM).rpartition(" ")[2])
    assert 0 <= size - (24 * GIB - weights) / 1e9 < GIB / 1e9 + 1


def test_options_that_hold_conversations_are_of_a_release() -> None:
    names = {
        "llama.cpp": "llama_server", "vllm": "vllm", "sglang": "sglang", "ExLlamaV3": "tabbyapi",
    }  # fmt: skip
    for row in prefix_caches().values():
        for text in (row.spare_setting, row.drive_setting, row.setting):
            words = {word.strip(",:;") for word in text.split()}
            if named := flags(words):
                assert named <= listed(names[row.runtime]), text


def test_llama_server_holds_evicted_conversations_in_memory() -> None:
    # A token of Llama-3.1-8B: 2 x 8 heads x 128 values x 32 layers x 2 B = 128 KiB, so 16,128
    # tokens of two further agents are 3.9 GiB, of eight 15.8: more than --cache-ram's 8 GiB.
    estimate = _estimates(DENSE, "llama.cpp")[0]
    assert not _task(estimate, agents=3, slots=1).evicted
    assert _task(estimate, agents=9, slots=1).evicted


def test_the_settings_that_save_most() -> None:
    task = _task(_estimates(HYBRID, "llama.cpp")[0])
    saved = [each.seconds for each in task.saves]
    assert len(saved) <= 3
    assert saved == sorted(saved, reverse=True)
    first = task.saves[0]
    assert "--reasoning-preserve" in first.edit.words
    assert first.seconds == pytest.approx(float(np.sum(task.rereading)), rel=1e-9)
    assert all(each.edit.cost.startswith("free") for each in task.saves)
    formats = [each for each in task.saves if each.edit.changes.keys() == {"model"}]
    assert len(formats) <= 1


def test_a_placement_that_another_one_beats_names_no_settings() -> None:
    estimates = _estimates(DENSE, "llama.cpp")
    drive = [each for each in estimates if each.strategy is PlacementStrategy.NVME_OFFLOAD]
    assert _task(drive[0]).saves == ()


def test_a_session_that_does_not_fit_has_no_task() -> None:
    estimate = _estimates(DENSE, "llama.cpp", gpu="RTX 3060")[0]
    session = AgentSession(turns=900, first=1000, added=1000, reply=100)
    assert estimate.strategy is PlacementStrategy.GPU_RESIDENT
    assert task_of(estimate, session) is None


def test_every_row_of_what_is_kept_names_a_runtime_and_its_source() -> None:
    keys = {name for each in (*RUNTIMES, *ASIDE) for name in (each.key, each.name)}
    for (name, layers), row in prefix_caches().items():
        assert name in keys, name
        assert layers in ("attention", "window", "recurrent"), (name, layers)
        assert row.source.startswith("https://"), (name, layers)
        assert row.source_date, (name, layers)
        assert 0 <= row.kept <= 1 <= row.step, (name, layers)


def test_the_verdict_says_what_the_whole_task_takes() -> None:
    request = Request(model=HYBRID, gpu="RTX 3060 12GB", ram_gb=64.0, session="swe-bench")
    advice = answer(request.nouns()).advice
    task = advice.task
    assert task is not None
    assert task.reread_share > 0.1
    takes = f"A task of 36 turns takes {number(task.seconds / 60)} minutes"
    assert f"{takes}, {percent(task.reread_share)} of it reading again." in advice.summary.way
    kept = answer(replace(request, cached_share=1.0).nouns()).advice.summary.way
    assert "A task of 36 turns" in kept
    assert "reading again" not in kept


@pytest.mark.parametrize("users", [61, 200])
def test_a_session_of_many_agents_is_answered(users: int) -> None:
    """The reading speed of each, 6 tokens/s over 61, was refused as one that somebody stated."""
    request = Request(model=HYBRID, gpu="H100", ram_gb=256.0, session="swe-bench", users=users)
    assert answer(request.nouns()).advice.task is not None


AGENTS = {"machine": "RTX 3090, Ryzen 9 5950X, 64 GB DDR5", "session": "coding-session"}


def test_a_setting_that_shortens_a_task_is_decided_and_named_alike() -> None:
    asks = {"model": "Qwen3-Coder-30B-A3B", "machine": "RTX 3090, Ryzen 7 5800X, 64 GB DDR4"}
    advice = answer(Request(**(AGENTS | asks)).nouns()).advice
    assert advice.task is not None
    best = advice.task.notable
    assert best is not None
    assert advice.choice.safe is not None
    assert advice.choice.safe.name == best.edit.words
    assert f"a task in {duration(advice.task.after(best))}" in advice.summary.way
    # of settings within half again of the shortest task it loses least
    least = min(map(advice.task.after, advice.task.every_save))
    near = [each for each in advice.task.every_save if advice.task.after(each) <= 1.5 * least]
    assert best.lost == min(each.lost for each in near)


def test_a_prefix_cache_comes_before_a_card() -> None:
    advice = answer(Request(**AGENTS, model="gpt-oss-20b", cached_share=0.0).nouns()).advice
    assert advice.choice.safe is not None
    assert advice.choice.safe.is_free_setting
    assert "prefix cache on" in advice.choice.safe.name


def test_four_agents_get_a_slot_each_in_a_smaller_cache() -> None:
    request = Request(**AGENTS, model="gpt-oss-20b", users=4, slots=1)
    advice = answer(request.nouns()).advice
    assert advice.task is not None
    assert advice.task.rounds == 4
    assert advice.choice.safe is not None
    assert advice.choice.safe.name.startswith("one slot for each of the 4 agents")


def test_agents_who_evict_one_another_keep_their_prefix_in_slots_of_their_own() -> None:
    """A model with states keeps its prefix only in a slot that no other agent takes; then nothing
    but what is new is read. That comes before thinking off and before a second card.
    """
    request = Request(
        model="Qwen3.6-27B",
        format="Q4_K_M",
        machine="RTX 5090, Ryzen 7 9800X3D, 64GB DDR5-6000",
        runtime="llama.cpp",
        session="coding-session",
        users=2,
        slots=1,
        context=65536.0,
    )
    advice = answer(request.nouns()).advice
    assert advice.task.evicted
    option = advice.decision.option
    assert option.name.startswith("one slot for each of the 2 agents, and the prefix kept")
    assert "one slot for each of the 2 agents" in advice.verdict
    assert "-np 2 gives each agent a slot" in advice.verdict
    assert advice.verdict.count("a task in") == 1
    assert advice.task.after(advice.task.notable) < 0.5 * advice.task.seconds


def test_a_prefix_is_kept_alone_where_each_agent_has_a_slot() -> None:
    request = Request(**{**AGENTS, "runtime": "llama.cpp"}, model="Qwen3.6-27B", format="Q4_K_M")
    task = answer(request.nouns()).advice.task
    assert not task.evicted
    words = [each.edit.words for each in task.every_save]
    assert any(text.startswith("the prefix kept") for text in words)
    assert not any(text.startswith("one slot") for text in words)
