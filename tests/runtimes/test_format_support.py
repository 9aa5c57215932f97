"""data/runtimes/runtime_formats.csv: files each runtime loads, and the loaded format."""

import re

import pytest
from provenance import is_past, is_public

from advisor.catalog.csv_tables import texts
from advisor.errors import Refusal
from advisor.machine.catalog import GPUS, HOSTS
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.formats import Format
from advisor.runtimes import ASIDE, RUNTIMES, runtime
from advisor.runtimes.compare import taken_format
from advisor.runtimes.format_support import NAMES, bits, capabilities, kinds, nearest, rows, takes

KNOWN = {"GGUF", "ik GGUF", "GGUF experts", "16-bit", "AWQ", "GPTQ", "integers", "FP8", "NVFP4",
         "MXFP4", "AMX", "bitsandbytes"}  # fmt: skip
VENDORS = {"any", "none", "NVIDIA", "AMD", "Intel", "Intel Gaudi", "Apple"}


def rig(gpu: str, cpu: str = "EPYC 9355") -> Machine:
    return machine(MachineSpec(gpu=gpu, cpu=cpu, ram_gb=256))


def loaded(name: str, form: str, gpu: str, cpu: str = "EPYC 9355") -> str:
    return runtime(name).loaded_format(form, rig(gpu, cpu)).format


def test_every_row_is_sourced_and_names_known_things() -> None:
    families = {row.family for row in GPUS.rows().values()}
    sets = {part for row in HOSTS.rows().values() for part in row.instruction_sets.split(";")}
    for row in rows():
        assert is_public(row.source)
        assert is_past(row.source_date)
        assert row.vendor in VENDORS
        assert row.format in KNOWN
        assert set(filter(None, row.families.split(";"))) <= families
        assert set(filter(None, row.instruction_sets.split(";"))) <= sets
        assert (row.capability is None) or row.vendor == "NVIDIA"


def test_each_pair_stands_once() -> None:
    pairs = [(row.runtime, row.format, row.vendor) for row in rows()]
    assert len(set(pairs)) == len(pairs)


def test_every_runtime_that_reads_it_has_rows_and_a_name() -> None:
    keys = {row.runtime for row in rows()}
    assert keys == NAMES.keys()
    assert keys <= {part for runtime in (*RUNTIMES, *ASIDE) for part in (runtime.key, runtime.name)}


def test_every_kind_is_one_of_some_format() -> None:
    forms = (*Format.by_name(), *texts("runtimes/file_kinds.csv", "format", "kind"))
    known = set().union(*(kinds(form) for form in (*forms, "INT-8bit")))
    assert {row.format for row in rows()} <= known


def test_every_nvidia_family_has_its_capability() -> None:
    """https://developer.nvidia.com/cuda-gpus: Turing 7.5, A100 8.0, Ada 8.9, Hopper 9.0."""
    families = {row.family for row in GPUS.rows().values() if row.vendor == "NVIDIA"}
    # Rubin ships since autumn 2026; no engine's page names its kernels, so engines refuse it.
    assert families - {"Rubin"} == capabilities().keys()
    assert capabilities()["Turing"] == 7.5
    assert capabilities()["Hopper"] == 9.0


@pytest.mark.parametrize(
    ("name", "form", "gpu", "expected"),
    [
        ("llama.cpp", "AWQ", "RTX 3090", "Q4_K_M"),
        ("llama.cpp", "Q4_K_M", "RX 7900 XTX", "Q4_K_M"),
        ("llama.cpp", "FP8", "none", "Q8_0"),
        ("Ollama", "NVFP4", "RTX 5090", "Q4_K_M"),
        ("LM Studio", "BF16-hf", "Apple M4 Max 40c", "BF16"),
        ("vLLM", "NVFP4", "RTX 3090", "NVFP4"),  # weights only, by Marlin
        ("vLLM", "MXFP4-hf", "T4", "AWQ"),  # from 8.0 on
        ("vLLM", "MXFP4-hf", "A100 PCIe 80GB", "MXFP4-hf"),
        ("vLLM", "bnb-nf4", "RTX 4090", "AWQ"),  # no bitsandbytes since 0.33
        ("vLLM", "Q4_K_M", "RX 7900 XTX", "AWQ"),
        ("vLLM", "FP8", "RX 7900 XTX", "BF16"),  # no FP8 units
        ("vLLM", "FP8", "Instinct MI300X", "FP8"),
        ("SGLang", "bnb-nf4", "RTX 4090", "bnb-nf4"),
        ("SGLang", "Q5_K_M", "RTX 4090", "AWQ"),
        ("SGLang", "NVFP4", "H100 SXM", "NVFP4"),
        ("Accelerate", "AWQ", "RTX 3090", "BF16"),
    ],
)
def test_a_format_becomes_the_nearest_that_runs(
    name: str, form: str, gpu: str, expected: str
) -> None:
    result = runtime(name).loaded_format(form, rig(gpu))
    assert result.format == expected
    assert bool(result.reason) == (form != expected)


@pytest.mark.parametrize(
    ("name", "gpu", "words"),
    [
        ("vLLM", "GTX 1080 Ti", "compute capability 7.5; GTX 1080 Ti (Pascal) is older"),
        ("vLLM", "V100 PCIe 32GB", "compute capability 7.5"),
        ("vLLM", "Apple M4 Max 40c", "no kernels for Apple M4 Max 40c"),
        ("vLLM", "Radeon VII", "no kernels for Radeon VII (GCN 5)"),
        ("SGLang", "T4", "compute capability 8; T4 (Turing) is older"),
        ("SGLang", "RX 7900 XTX", "no kernels for RX 7900 XTX (RDNA 3)"),
        ("vLLM", "none", "vLLM is modelled on GPUs, and this machine has none"),
    ],
)
def test_a_combination_that_cannot_run_is_refused_with_the_reason(
    name: str, gpu: str, words: str
) -> None:
    with pytest.raises(Refusal, match=re.escape(words)):
        loaded(name, "AWQ", gpu)


def test_all_gpus_of_a_machine_must_take_it() -> None:
    new, old = (rig(gpu).gpus[0] for gpu in ("RTX 3090", "GTX 1080 Ti"))
    mixed = rig("RTX 3090")
    both = Machine(name="", gpus=(new, old), host=mixed.host, disk=mixed.disk)
    assert "AWQ" in takes("vllm", mixed)
    assert not takes("vllm", both)


def test_experts_take_a_format_that_has_kernels_for_them() -> None:
    """vLLM's experts of AWQ ask for a CUDA capability on Intel (vllm issue 54350)."""
    arc = rig("Arc Pro B60")
    nvidia = rig("RTX 3090")
    experts, dense = (catalog.model(name, "AWQ") for name in ("Qwen3-30B-A3B", "Qwen3-8B"))
    loaded_as = taken_format(experts, runtime("vLLM"), arc)
    assert loaded_as.format == "GPTQ"
    assert loaded_as.reason == "as GPTQ, since it has no kernels for experts in AWQ here"
    assert taken_format(dense, runtime("vLLM"), arc).format == "AWQ"
    assert taken_format(experts, runtime("vLLM"), nvidia).format == "AWQ"


def test_nearest_begins_with_the_format_itself() -> None:
    for form in Format.by_name():
        assert nearest(form)[0] == form
        assert set(nearest(form)) <= Format.by_name().keys()


@pytest.mark.parametrize(
    ("form", "size"), [("Q4_K_M", 4), ("IQ2_XXS", 2), ("AWQ", 4), ("FP8", 8), ("BF16", 16)]
)
def test_bits_are_read_from_the_name(form: str, size: float) -> None:
    assert bits(form) == size
