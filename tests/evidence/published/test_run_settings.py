"""Rows of papers: missing settings follow from memory, wording and tables."""

from statistics import median

import pytest
from measurements import measured
from published_rows import answer, understood

from advisor.cost_model.placement import PlacementStrategy
from advisor.evidence.published import run_settings
from advisor.evidence.published.case import guessed_batch
from advisor.evidence.published.engines import engine
from advisor.evidence.published.row import PublishedRow
from advisor.model import catalog
from advisor.runtimes import ACCELERATE, DEEPSPEED
from advisor.units import GB

ROW = {
    "category": "stream_cpu",
    "runtime": "HF Accelerate",
    "gpu": "NVIDIA T4 16GB",
    "cpu": "Xeon, 208GB",
    "model": "OPT-30B",
    "quant": "fp16",
    "prompt_len": "512",
    "gen_len": "32",
    "fraction_gpu": "0",
    "fraction_cpu": "1",
    "fraction_disk": "0",
    "other_metric": "",
}


def row(**changes: str) -> dict[str, str]:
    return {**ROW, **changes}


def batches(key: str) -> dict[str, float]:
    """Published over guessed batch of rows that state batch and lengths, by their id."""
    record = {}
    for published in measured("offload_papers.csv"):
        how = engine(published["runtime"], published["category"])
        if how is None or how.key != key or not published["batch"]:
            continue
        if published["prompt_len"] and published["gen_len"]:
            guessed = understood({**published, "batch": ""}).work.users
            record[published["id"]] = float(published["batch"]) / float(guessed)
    return record


@pytest.mark.parametrize(("key", "rows"), [("accelerate", 8), ("deepspeed", 30)])
def test_an_unstated_batch_is_as_large_as_memory_allows(key: str, rows: int) -> None:
    record = batches(key)
    assert len(record) >= rows
    assert 0.85 <= median(record.values()) <= 1.15
    assert sum(0.5 <= entry <= 2.0 for entry in record.values()) >= 0.9 * len(record)


def test_flexgen_left_a_part_of_it_free() -> None:
    # Rows that no other policy decided: the share is their median, as the table says.
    batchs = [batch for batch in batches("flexgen").values() if batch < 10]
    assert 0.9 <= median(batchs) <= 1.1


def test_the_cache_takes_its_room_twice() -> None:
    # T4 16 GB, OPT-30B: a layer of 1.23 GB passes, the embedding takes 0.72 GB.
    # KV of 544 tokens: 48 x 2 x 7168 x 2 B x 544 = 0.75 GB, twice = 1.50; logits 0.15 GB each.
    # (0.9 x 17.2 - 1.23 - 0.72) / 1.65 = 8.2: FlexGen's authors published 8.
    assert understood(row()).work.users == pytest.approx(8, abs=1)


def test_a_guessed_batch_widens_the_range() -> None:
    guessed = answer(row())
    stated = answer(row(batch="8"))
    width = [
        float(str(entry["tg_high"])) / float(str(entry["tg_low"])) for entry in (guessed, stated)
    ]
    assert width[0] > width[1]
    assert understood(row()).guessed
    assert not understood(row(batch="8")).guessed


def test_a_model_of_experts_is_guessed_worse() -> None:
    dense = catalog.model("Llama-3.1-8B", "BF16")
    mixture = catalog.model("Mixtral-8x7B", "BF16")
    assert guessed_batch(mixture) > guessed_batch(dense) > 0


@pytest.mark.parametrize(
    ("record", "gigabytes"),
    [
        ({"cpu": "Ryzen 7 7700X, 64GB, 990PRO"}, 7.45),
        ({"cpu": "EPYC 9654 ES PCIe3 NVMe"}, 3.5),
        ({"cpu": "Ryzen 8700GE, 2 NVMe RAID0"}, 14.0),
        ({"cpu": "HDD"}, 0.2),
        ({"other_metric": "hit 23%; disk ~4"}, 4.0),
        ({"cpu": "Ryzen 9 9950X 9100PRO", "disk_gbs": "8.81"}, 8.81),
        ({"date": "2026-05"}, 7.0),
        ({"date": "2023-03"}, 3.5),
        ({}, 7.0),
    ],
)
def test_a_drive_has_the_properties_in_its_words(record: dict[str, str], gigabytes: float) -> None:
    case = understood(row(category="nvme", fraction_cpu="", fraction_disk="1", **record))
    assert case.machine.disk is not None
    assert case.machine.disk.sequential.value == pytest.approx(gigabytes * GB, rel=0.02)


def test_gigabytes_by_tier_become_shares() -> None:
    # GPT-NeoX-20B in 32 bits: 20.6 billion weights, 82.2 GB. 43.0 GiB on GPUs are 46.2 GB, 24.4 GiB
    # in RAM 26.2 GB: 0.56, 0.32, and 0.12 remain.
    model = catalog.model("GPT-NeoX-20B", "F32")
    listed = "gpu0_gb=20.3; gpu1_gb=22.7; cpu_gb=24.4"
    record = row(category="nvme", fraction_gpu="", fraction_disk="", other_metric=listed)
    on_gpu, on_disk = run_settings.tiers(PublishedRow(record), model, ACCELERATE)
    assert on_gpu == pytest.approx(0.56, abs=0.01)
    assert on_disk == pytest.approx(0.12, abs=0.01)


def test_papers_leave_accelerate_the_drive_alone() -> None:
    model = catalog.model("OPT-30B", "BF16")
    plain = row(category="nvme", fraction_gpu="", fraction_cpu="", fraction_disk="")
    assert run_settings.tiers(PublishedRow(plain), model, ACCELERATE) == (0.0, 1.0)
    own = {**plain, "runtime": "HF Accelerate device_map"}
    assert run_settings.tiers(PublishedRow(own), model, ACCELERATE) == (None, None)
    assert run_settings.tiers(PublishedRow(plain), model, DEEPSPEED) == (None, None)
    assert run_settings.tiers(PublishedRow(row()), model, ACCELERATE) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("record", "lengths"),
    [
        ({"other_metric": "setting=S1; HELM summarization"}, (1984.0, 64.0)),
        ({"other_metric": "HELM synthetic reasoning", "gen_len": "10"}, (256.0, 10.0)),
        ({}, (None, None)),
    ],
)
def test_tasks_stand_for_lengths(record: dict[str, str], lengths: tuple[float, float]) -> None:
    assert run_settings.lengths(PublishedRow(record)) == lengths


def test_an_engine_for_experts_runs_models_that_have_them() -> None:
    # 552 billion weights of which 5 % are used: 27.6 billion.
    case = understood(
        row(
            category="nvme",
            runtime="colibri O_DIRECT",
            gpu="",
            cpu="Ryzen 9 9950X",
            quant="",
            model="Unknown-552B",
            params_b="552",
            prompt_len="",
            gen_len="",
            fraction_cpu="",
        )
    )
    assert case.model.architecture.active_params == pytest.approx(27.6e9, rel=0.15)


def test_a_runtime_without_weights_on_the_gpu_is_called_batched_streaming() -> None:
    case = understood(row(category="batched", runtime="DeepSpeed ZeRO-Inference 2023"))
    assert case.strategy is PlacementStrategy.CPU_OFFLOAD
    assert any("keeps no weights" in note for note in case.notes)


def test_lengths_and_depth_of_a_servers_run_are_read_as_those_of_llama_bench() -> None:
    # Qwen3-14B keeps 40 layers of 8 heads of 128 keys and values, 163,840 B a token: 2.6 GB more to
    # read at 16,000 tokens, 1.3 ms of an A100's 2,039 GB/s beside some 6 ms of weights.
    stated = {"category": "resident", "runtime": "vLLM", "gpu": "A100 80GB", "quant": "AWQ",
              "model": "Qwen3-14B", "batch": "1"}  # fmt: skip
    plain = understood(stated)
    tested = understood({**stated, "source_note": "test=tg200,pp16000"})
    deep = understood({**stated, "context_depth": "16000"})
    assert (plain.work.prompt, plain.work.output) == (64.0, 128.0)
    assert (tested.work.prompt, tested.work.output, tested.work.cached) == (16_000.0, 200.0, 0.0)
    assert (deep.work.prompt, deep.work.cached) == (16_064.0, 16_000.0)
    speeds = [
        float(str(answer({**stated, **more})["tg_tps"]))
        for more in ({}, {"context_depth": "16000"})
    ]
    assert 1.0 <= 1e3 / speeds[1] - 1e3 / speeds[0] <= 3.0
    columns = understood(
        {**stated, "prompt_len": "100", "gen_len": "50", "source_note": "test=tg200,pp16000"}
    )
    assert (columns.work.prompt, columns.work.output) == (100.0, 50.0)
