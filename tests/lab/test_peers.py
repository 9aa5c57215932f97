"""Formulas of public advisors, each by hand or against a number its authors publish."""

from dataclasses import replace

import pytest

from advisor.catalog.accuracy_points import PEERS as RECORDS
from advisor.units import GIB
from lab.peers import EXPERTS_IN_RAM, IN_GPU, IN_RAM, PEERS, Facts
from lab.peers import SPLIT as DIVIDED

DENSE = Facts(
    where=IN_GPU,
    format="Q4_K_M",
    params=8e9,
    active_params=8e9,
    experts=0,
    experts_used=0,
    expert_params=0.0,
    shared_params=1e9,
    layers=32,
    hidden=4096,
    intermediate=14336,
    vocab=128256,
    file_bytes=5e9,
    gpu_read=4.6e9,
    ram_read=0.0,
    cache_read=0.1e9,
    depth=500.0,
    gpu_share=1.0,
    gpu_layers=1.0,
    gpus=1,
    gpu_vendor="NVIDIA",
    gpu_unified=False,
    gpu_memory=24 * GIB,
    gpu_bandwidth=1000e9,
    gpu_fp16=160e12,
    gpu_fp32=80e12,
    ram=60e9,
    ram_peak=80e9,
    cores=8,
    arm=False,
    prompt=0.0,
    prompt_flops=0.0,
)
ALONE = replace(
    DENSE,
    where=IN_RAM,
    gpus=0,
    gpu_vendor="",
    gpu_bandwidth=0.0,
    gpu_memory=0.0,
    gpu_read=0.0,
    ram_read=4.6e9,
    gpu_share=0.0,
    gpu_layers=0.0,
)
SPLIT = replace(
    DENSE, where=DIVIDED, gpu_read=2.3e9, ram_read=2.3e9, gpu_share=0.5, gpu_layers=16 / 33
)
EXPERTS = replace(
    DENSE,
    where=EXPERTS_IN_RAM,
    params=30e9,
    active_params=3e9,
    experts=128,
    experts_used=8,
    expert_params=2e9,
    file_bytes=18e9,
    gpu_read=0.6e9,
    ram_read=1.2e9,
    gpu_share=0.1,
)
EXPERTS_IN_GPU = replace(
    EXPERTS, where=IN_GPU, gpu_read=1.8e9, ram_read=0.0, gpu_share=1.0, gpu_memory=48 * GIB
)
PROMPT = replace(DENSE, prompt=512.0, prompt_flops=512 * 16e9)
BY_NAME = {peer.name: peer for peer in PEERS}


@pytest.mark.parametrize(
    ("name", "facts", "by_hand"),
    [
        ("bandwidth over bytes", DENSE, 1000 / 4.7),
        ("bandwidth over bytes", ALONE, 80 / 4.7),
        ("bandwidth over bytes", SPLIT, 1 / (2.3 / 80 + 2.4 / 1000)),
        ("MoEspeedcalc", EXPERTS, 0.5 / (1.2 / 80 + 0.7 / 1000)),
        # 0.5 bytes for each of 8e9 weights at 0.55 of 1000 GB/s; half of it when split.
        ("llmfit", DENSE, 0.55 * 1000 / 4),
        ("llmfit", SPLIT, 0.5 * 0.55 * 1000 / 4),
        ("llmfit", EXPERTS, 0.8 / (1.5 / 60 + 1.5 / 550)),
        ("llmfit", ALONE, 70 / 8 * 1.15 * 1.1 * 0.3),
        # 2e9 expert weights at 0.58, the rest and two tables of 128256 x 4096 at 3.2 bytes.
        ("llmfit", EXPERTS_IN_GPU, 1000e9 / (2e9 * 0.58 + (1e9 + 2 * 128256 * 4096) * 3.2)),
        ("whichllm", DENSE, 0.55 * 1000 / 5),
        ("whichllm", SPLIT, 0.45 * 0.55 * 1000 / 5),
        ("whichllm", ALONE, 18 / 8 * 0.55 / 0.45),
        # 5 % for each 256 GB/s is 19.5 %, more than the active tenth.
        ("whichllm", EXPERTS_IN_GPU, 0.55 * 1000 / (18 * 0.05 * 1000 / 256)),
        # 8e9 x 0.5 bytes are 3.725 GiB; 1.1 times that and 0.5.
        ("CanIRun.ai", DENSE, 0.7 * 1000 / (3.725290 * 1.1 + 0.5)),
        ("CanIRun.ai", SPLIT, 0.85 * 0.7 / (0.5 / 1000 + 0.5 / 50) / (3.725290 * 1.1 + 0.5)),
        # 33 of 34 rows of 5 GB and four times 0.1 GB.
        ("GGUF Parser", DENSE, 34 / 33 * 1000 / 5.4),
        ("LLMcalc", DENSE, 1000 / 5),
        ("LLMcalc", ALONE, 0.9 * 80 / 5),
        ("LLMcalc", SPLIT, 0.9 * 80 / 5 * (0.052 * 9.7288 + 1.06)),  # exp(4.55 / 2)
        ("LLM-Viewer", DENSE, 1000 / 4.7),
        ("LLM-Viewer", PROMPT, 160e12 / 16e9),
    ],
)  # fmt: skip
def test_by_hand(name: str, facts: Facts, by_hand: float) -> None:
    assert BY_NAME[name].answer(facts) == pytest.approx(by_hand, rel=1e-3)


def test_gpu_poor_counts_square_attention_and_gib() -> None:
    # 2 x 128256 x 4096 + 32 x (4 x 4096^2 + 3 x 4096 x 14336) weights, 5/8 bytes each;
    # cache of 4 bytes a value and layer for 500 tokens; both 1.5 times, in GiB.
    weights = (2 * 128256 * 4096 + 32 * (4 * 4096**2 + 3 * 4096 * 14336)) * 5 / 8
    cache = 4 * 32 * 4096 * 500
    expected = 1000 / (1.5 * (weights + cache) / 2**30)
    assert BY_NAME["gpu_poor"].answer(DENSE) == pytest.approx(expected)
    assert BY_NAME["gpu_poor"].answer(replace(DENSE, gpus=2)) == pytest.approx(expected * 1.6)
    seconds = 1.8 * 1024 * (weights / 2 + 64 * 4096**2) / 0.85 / 80e12 + weights / 2**20 * 8e-5
    assert BY_NAME["gpu_poor"].answer(PROMPT) == pytest.approx(512 / seconds)


def test_gguf_parser_weighs_each_device_by_its_layers() -> None:
    # GPU 2.5 GB and 16/33 of the cache at 1000 GB/s, times 16/34; RAM the rest, times 17/34.
    on_gpu = (2.5 + 0.4 * 16 / 33) / 1000 * 16 / 34
    in_ram = (2.5 + 0.4 * 17 / 33) / 80 * 17 / 34
    expected = in_ram / (on_gpu**2 + in_ram**2)
    assert BY_NAME["GGUF Parser"].answer(SPLIT) == pytest.approx(expected)


def test_figures_their_authors_publish() -> None:
    # zeux: 14.2 GB at 1008 GB/s take 14.1 ms. GGUF Parser's README: LLaMA-7B Q8_0, 6.67 GiB, on a
    # M1 Max of 409.6 GB/s gives 52.08 tokens/s at 512 tokens (0.25 GiB of cache).
    mistral = replace(DENSE, gpu_read=14.2e9, cache_read=0.0, gpu_bandwidth=1008e9)
    assert BY_NAME["bandwidth over bytes"].answer(mistral) == pytest.approx(1 / 14.1e-3, rel=0.01)
    llama = replace(DENSE, file_bytes=6.67 * GIB, cache_read=0.25 * GIB, gpu_bandwidth=409.6e9)
    assert BY_NAME["GGUF Parser"].answer(llama) == pytest.approx(52.08, rel=0.03)


@pytest.mark.parametrize(("form", "published"), [("Q2_K", 281), ("Q4_K_M", 257), ("Q8_0", 216)])
def test_llmfit_gives_its_authors_value_for_olmoe(form: str, published: float) -> None:
    # Comments of its estimate_tps: OLMoE-1B-7B on an RX 6900 XT of 16 GB and 512 GB/s. 16 layers,
    # 8 of 64 experts of 1024, width 2048, 50304 words.
    olmoe = replace(
        EXPERTS_IN_GPU,
        format=form,
        params=6.9e9,
        experts=64,
        experts_used=8,
        vocab=50304,
        hidden=2048,
        expert_params=16 * 8 * 3 * 2048 * 1024,
        shared_params=16 * (4 * 2048**2 + 64 * 2048),
        gpu_bandwidth=512e9,
        gpu_memory=16 * GIB,
    )
    assert BY_NAME["llmfit"].answer(olmoe) == pytest.approx(published, abs=1)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_it_says_nothing_where_it_has_no_formula(peer) -> None:
    dense_only = {"gpu_poor", "GGUF Parser", "LLMcalc", "LLM-Viewer"}
    assert (peer.answer(EXPERTS) is None) == (peer.name in dense_only)
    assert (peer.answer(ALONE) is None) == (
        peer.name in {"CanIRun.ai", "LLM-Viewer", "MoEspeedcalc"}
    )
    assert (peer.answer(PROMPT) is None) == (peer.name not in {"gpu_poor", "LLM-Viewer"})


def test_faster_memory_is_never_slower(subtests: pytest.Subtests) -> None:
    for facts in [DENSE, ALONE, SPLIT, EXPERTS, EXPERTS_IN_GPU]:
        for peer in PEERS:
            with subtests.test(f"{facts} {peer.name}"):
                text = peer.answer(facts)
                faster = replace(
                    facts,
                    ram=2 * facts.ram,
                    ram_peak=2 * facts.ram_peak,
                    gpu_bandwidth=2 * facts.gpu_bandwidth,
                )
                if text is not None:
                    assert 0 < text <= peer.answer(faster) * (1 + 1e-9)


def test_each_says_where_it_was_read() -> None:
    assert [record.name for record in RECORDS] == [peer.name for peer in PEERS]
    for peer in RECORDS:
        assert peer.source.startswith("https://")
        assert peer.date < "2026-11-22"
        assert peer.version
        assert peer.formula
