"""Facts from the notes of llama.cpp rows: lengths, cache, backend, build."""

import pytest

from advisor.evidence.accuracy.scoring import source_of
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.run_settings import (
    EQUAL_TO_NINE,
    backend,
    build,
    cache_type,
    copies_experts,
    in_fork_format,
    load_mode,
    requests,
)
from advisor.model import catalog
from lab.published import group_of, hardware_of


def test_a_bench_begins_both_tests_with_what_is_in_the_cache() -> None:
    prompt, work = requests(
        PublishedRow({"context_depth": "4096", "source_note": "test=tg128,pp512"})
    )
    assert (prompt.prompt, prompt.cached, prompt.fresh) == (4608, 4096, 512)
    assert work.decode_depth == 4096 + 64


@pytest.mark.parametrize(
    ("note", "flash"),
    [
        ("test=tg128,pp512; fa=0; ub2048", False),
        ("test=tg512,pp512 from empty context; llama-bench, no FA flag stated", False),
        ("test=tg128,pp512; fa=1; build b8000", True),
        ("test=tg128,pp512", True),
    ],
)
def test_a_note_may_say_that_flash_attention_was_off(note: str, flash: bool) -> None:
    prompt, work = requests(PublishedRow({"context_depth": "0", "source_note": note}))
    assert (prompt.flash_attention, work.flash_attention) == (flash, flash)


def test_localscore_reads_its_prompts_into_an_empty_cache() -> None:
    note = "localscore.ai test 15; mean of its 9 tests (pp16-4096, tg16-3072): mean_depth=1838"
    prompt, work = requests(PublishedRow({"context_depth": "1332", "source_note": note}))
    assert (prompt.fresh, prompt.cached) == (200, 0)
    assert work.decode_depth == 1838


def test_the_average_of_localscores_tests_is_the_speed_of_a_prompt_of_200_tokens() -> None:
    lengths = (16, 64, 384, 1024, 1024, 1280, 2048, 2048, 4096)
    speeds = [tokens / (tokens + 30) for tokens in lengths]
    assert sum(lengths) / 9 == pytest.approx(1332, abs=1)
    assert sum(speeds) / 9 == pytest.approx(EQUAL_TO_NINE / (EQUAL_TO_NINE + 30), rel=0.01)


def test_a_batched_bench_reads_a_prompt_for_each_user() -> None:
    note = "llama-batched-bench, one process; prompt 512, 256 generated, mean_depth=640"
    row = {"context_depth": "512", "batch": "16", "source_note": note}
    prompt, work = requests(PublishedRow(row))
    assert (prompt.fresh, prompt.cached, prompt.users) == (512, 0, 16)
    assert (work.decode_depth, work.users) == (640, 16)


@pytest.mark.parametrize(
    ("note", "tokens"),
    [("pp4096; ub2048", 2048), ("ub=1024", 1024), ("test=pp512", 512),
     ("llama-sweep-bench: pp4096 and tg1024", 4096), ("test=pp512; batch 256 ub 512", 256),
     ("pp2048; n_batch 256; section", 256), ("pp512; n_batch default", 512),
     ("threads-batch 128; pp4096; ub2048", 2048), ("test=tg128,pp4096; ubatch=2048", 2048)],
)  # fmt: skip
def test_micro_batches_as_notes_state_them(note: str, tokens: int) -> None:
    prompt, _ = requests(PublishedRow({"context_depth": "0", "source_note": note}))
    assert prompt.ubatch == tokens


@pytest.mark.parametrize(
    ("note", "depth", "fresh", "cached"),
    [("test=tg128,pp of the whole context; pp is the mean", 10240, 10240, 0),
     ("decode after a prompt of 2048 (depth 8192 + 2048)", 10240, 2048, 8192),
     ("kv=f16; prompt 4096, output 128; same rig", 16384, 4096, 12288),
     ("kv=f16; prompt 10, output 128", 0, 10, 0), ("test=pp512", 8192, 512, 8192),
     ("test=tg400; no drafts; pp is the mean over the prompt", 182132, 182132, 0),
     ("test=tg256,pp256000; q4_0 KV", 256000, 256000, 0),
     ("llama-server; 81k of context", 81000, 81000, 0),
     ("llama-server; test=tg128,pp2048", 8192, 2048, 8192),
     ("llama-sweep-bench: pp4096 and tg1024 both timed at N_KV=4096", 4096, 4096, 4096),
     ("test=tg128,pp8192 at d8192", 8192, 8192, 8192)],
)  # fmt: skip
def test_what_a_prompt_reads_and_what_lies_in_the_cache_before_it(
    note: str, depth: float, fresh: float, cached: float
) -> None:
    row = PublishedRow({"context_depth": str(depth), "source_note": note})
    prompt, work = requests(row)
    assert (prompt.fresh, prompt.cached) == (fresh, cached)
    assert work.prompt == depth


def test_llama_benchy_divides_all_tokens_of_a_request_by_the_time_of_reading_them() -> None:
    # README of github.com/eugr/llama-benchy (75bc129): pp2048 @ d4096 is 1,994.49 tokens/s, and its
    # prompt took 3,089.19 ms: 6,161 tokens, 2,048 and 4,096 with those of the template
    counted = 1994.49 * 3.08919
    assert counted == pytest.approx(2048 + 4096, rel=0.01)
    note = "test=tg32,pp2048; llama-benchy against llama-server"
    prompt, work = requests(PublishedRow({"context_depth": "4096", "source_note": note}))
    assert (prompt.fresh, prompt.cached) == (2048 + 4096, 0)
    assert work.prompt == 4096


@pytest.mark.parametrize(
    ("note", "kind"),
    [("ub4096, q8_0 KV", "q8_0"), ("Q8_0 KV cache, FA", "q8_0"), ("f16 KV", "f16"),
     ("KV q8_0/q8_0; objective", "q8_0"), ("q4_0 KV cache", "q4_0"), ("KV None", "f16"),
     ("Q4_0 weights", "f16"), ("", "f16")],
)  # fmt: skip
def test_types_of_the_cache(note: str, kind: str) -> None:
    assert cache_type(note) == kind


@pytest.mark.parametrize(
    ("runtime", "note", "name"),
    [("llama.cpp Vulkan (RADV) b9187", "", "vulkan"), ("llama.cpp hip b6077", "", "rocm"),
     ("llama.cpp SYCL (ipex-llm)", "", "sycl"), ("llamafile LocalScore Metal", "", "metal"),
     ("llama.cpp CUDA b9234", "beside Vulkan", "cuda"), ("ollama", "llama.cpp Vulkan", "vulkan"),
     ("ollama", "", "")],
)  # fmt: skip
def test_backends(runtime: str, note: str, name: str) -> None:
    assert backend(PublishedRow({"runtime": runtime, "source_note": note})) == name


@pytest.mark.parametrize(
    ("runtime", "date", "name"),
    [("llamafile 0.9.1 LocalScore CPU", "2025-03", "llamafile"), ("llama.cpp", "2024-05", "2024"),
     ("llama.cpp", "2024-10", ""), ("llama.cpp", "", ""), ("llama.cpp CUDA", "2025-07", "2025"),
     ("llama.cpp CUDA", "2025-11", ""),
     ("llama.cpp hip b6077", "2025-08-05", "2025"), ("llama.cpp ROCm", "2025-12", ""),
     ("llama.cpp vulkan b6077", "2025-10-31", "2025"), ("llama.cpp vulkan", "2025-11", "")],
)  # fmt: skip
def test_builds(runtime: str, date: str, name: str) -> None:
    assert build(PublishedRow({"runtime": runtime, "date": date})) == name


@pytest.mark.parametrize(
    ("quant", "note", "date", "copied"),
    [("IQ2_KT", "ub4096", "2025-07-12", True), ("IQ4_K_R4", "ub8192", "2025-05-15", False),
     ("IQ4_K_R4", "ub8192", "2025-07-05", True), ("IQ3_KS_R4", "ub8192", "2025-07-05", False),
     ("IQ4_K_R4", "experts computed by the processor", "2025-07-05", False),
     ("Q8_0", "-fmoe -rtr", "2025-07-05", False), ("IQ2_KT", "ub4096", "2025-05-01", False)],
)  # fmt: skip
def test_the_fork_copies_formats_of_its_gpu_kernels(
    quant: str, note: str, date: str, copied: bool
) -> None:
    row = {"runtime": "ik_llama.cpp CUDA", "quant": quant, "source_note": note, "date": date}
    assert copies_experts(PublishedRow(row)) is copied


@pytest.mark.parametrize(
    ("runtime", "note", "date", "mode"),
    [("llama.cpp CUDA", "test=pp512", "2026-05", "auto"),
     ("llama.cpp CUDA", "q8_0 KV, --no-mmap", "2026-05", "none"),
     ("llama.cpp CUDA", "mmap 0", "2026-05", "none"),
     ("llama.cpp CUDA", "--load-mode dio", "2026-10", "none"),
     ("ik_llama.cpp CUDA", "", "2026-03-20", "auto"), ("ik_llama.cpp CUDA", "", "2026-07", "none")],
)  # fmt: skip
def test_files_are_mapped_unless_a_row_tells_otherwise(
    runtime: str, note: str, date: str, mode: str
) -> None:
    row = PublishedRow({"runtime": runtime, "source_note": note, "date": date})
    assert load_mode(row) == mode


def test_formats_of_the_fork_are_decoded_as_its_own() -> None:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    assert in_fork_format(PublishedRow({"quant": "IQ3_KT"}), model).decode_class == "trellis"
    assert in_fork_format(PublishedRow({"quant": "IQ4_KS_R4"}), model).decode_class == "iqk"
    assert (
        in_fork_format(PublishedRow({"quant": "Q4_K_M"}), model).decode_class == model.decode_class
    )


@pytest.mark.parametrize(
    ("url", "source"),
    [("https://github.com/a/b/blob/main/results/one.log", "a/b"),
     ("https://github.com/a/b/issues/12#issuecomment-3", "a/b#12"),
     ("https://www.example.com/page?x=1", "example.com/page?x=1")],
)  # fmt: skip
def test_sources(url: str, source: str) -> None:
    assert source_of(url) == source


def test_groups_are_of_the_hardware_that_decides() -> None:
    row = {"source_url": "https://e.com", "category": "resident", "gpu": "RTX 3090", "cpu": "i7"}
    assert group_of(PublishedRow(row)) == "e.com on RTX 3090"
    assert hardware_of(PublishedRow({**row, "category": "cpu"})) == "i7"
    assert hardware_of(PublishedRow({**row, "category": "partial"})) == "RTX 3090 and i7"
