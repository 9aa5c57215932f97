"""Limits of runtimes: machines, models, requests and formats that each takes.

Machines, models and requests that a runtime refuses are rows of data/runtimes/refusals.csv.

Supported combinations are rows of data/runtimes/runtime_formats.csv, each with its source; a
combination without a row is not supported. An unsupported format is replaced by the nearest
supported one; without one, the combination is refused with a reason.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read, texts
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import LoadedFormat
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.backends import OperatingSystem
from advisor.machine.machine import Gpu, Machine
from advisor.model.formats import known_format
from advisor.model.model import Model
from advisor.model.packings import HEAD, Packing, packing_named, tools

NAMES = {
    "llama.cpp": "llama.cpp",
    "ik_llama.cpp": "ik_llama.cpp",
    "ollama": "Ollama",
    "lm-studio": "LM Studio",
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "ktransformers": "KTransformers",
    "accelerate": "Transformers",
    "deepspeed": "DeepSpeed",
    "flexgen": "FlexGen",
}
"""Names of the runtimes in sentences, by their key in the table."""
USUAL_WORK = Workload()
USUAL_SETTINGS = Settings()  # every choice left to the runtime


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusalRow:
    """One row of data/runtimes/refusals.csv."""

    runtime: str  # key of the runtime
    when: str  # what it refuses: keys of `WHEN` joined by "&", each with its words as `key=a b`
    words: str  # the refusal; `{of.work.draft}` is that of the `Attempt`
    source: str
    retrieved: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """Combination that a runtime is to run; without a model where its format alone is loaded."""

    machine: Machine
    strategy: PlacementStrategy | None
    model: Model | None
    work: Workload
    settings: Settings


WHEN: Mapping[str, Callable[[Attempt, Sequence[str]], object]] = {
    "gpu": lambda of, _: of.strategy is PlacementStrategy.GPU_RESIDENT,
    "ram": lambda of, _: of.strategy is PlacementStrategy.CPU_OFFLOAD,
    "drive": lambda of, _: of.strategy is PlacementStrategy.NVME_OFFLOAD,
    "windows": lambda of, _: of.machine.system == OperatingSystem.WINDOWS,
    "several": lambda of, _: of.machine.nodes > 1,
    "no-gpu": lambda of, _: not of.machine.gpus,
    "single-gpu": lambda of, _: len(of.machine.gpus) < 2,
    "no-backend": lambda of, _: not of.machine.driven,
    "not-nvidia": lambda of, _: not of.machine.only_of("NVIDIA"),
    "not-apple": lambda of, _: not of.machine.only_of("Apple"),
    "no-experts": lambda of, _: of.model and not of.model.has_experts,
    "latent": lambda of, _: of.model and np.any(of.model.per_layer.latent),
    "state": lambda of, _: of.model and np.any(of.model.per_layer.state_values),
    "users": lambda of, _: np.any(np.asarray(of.work.users) > 1),
    "cache": lambda of, types: {*Model.cache_types(of.work.kv_type)} & {*types},
    "cache-not": lambda of, types: {*Model.cache_types(of.work.kv_type)} - {*types},
    "values-not": lambda of, types: Model.cache_types(of.work.kv_type)[1] not in types,
    "mixed-cache": lambda of, _: len({*Model.cache_types(of.work.kv_type)}) > 1,
    "backend": lambda of, names: of.machine.interface in names,
    "written-scores": lambda of, _: not of.work.flash_attention,
    "fused-scores": lambda of, _: of.work.flash_attention,
    "draft-not": lambda of, ways: of.work.draft not in ("", *ways),
    "experts-in-ram": lambda of, _: of.settings.cpu_moe is not None,
    "load": lambda of, modes: of.settings.load_mode in modes,
}
"""Circumstances that a runtime can refuse, by their key."""


@cache
def refusals(runtime: str) -> tuple[RefusalRow, ...]:
    """Rows on what a runtime refuses, in the order of the table."""
    rows = read(DATA / "runtimes/refusals.csv", RefusalRow)
    return tuple(row for row in rows if row.runtime == runtime)


def check_takes(
    runtime: str,
    machine: Machine,
    strategy: PlacementStrategy | None = None,
    model: Model | None = None,
    work: Workload = USUAL_WORK,
    settings: Settings = USUAL_SETTINGS,
) -> None:
    """Check that a runtime takes a machine, a placement, a model and a request; raises Refusal."""
    of = Attempt(machine=machine, strategy=strategy, model=model, work=work, settings=settings)
    for row in refusals(runtime):
        conditions = (part.partition("=") for part in row.when.split("&"))
        if all(WHEN[key](of, words.split()) for key, _, words in conditions):
            raise Refusal(row.words.format(of=of))


@cache
def capabilities() -> Mapping[str, float]:
    """Lowest compute capability of each family of NVIDIA's GPUs."""
    least = texts("hardware/compute_capability.csv", "family", "least")
    return {family: float(number) for family, number in least.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class RuntimeFormatRow:
    """One row of data/runtimes/runtime_formats.csv: a kind of file supported on a vendor's GPUs."""

    runtime: str  # key of the runtime
    format: str  # kind of file; "16-bit" is an unquantized checkpoint
    vendor: str  # vendor of the GPU; "any", or "none" for a machine without a GPU
    capability: float | None  # lowest compute capability, for NVIDIA
    families: str  # GPU families, separated by semicolons; empty for all of the vendor
    instruction_sets: str  # instruction sets that the host must have, separated by semicolons
    experts: str  # "none" where routed experts of that kind have no kernels; else empty
    source: str
    source_date: str  # when it was read
    note: str

    def runs_on(self, kind: "Processor", instruction_sets: frozenset[str]) -> bool:
        """Whether the row applies to a GPU, or to a host without one, with these instruction
        sets.
        """
        vendor, family = kind
        return (
            self.vendor in ("any", vendor)
            and _words(self.instruction_sets) <= instruction_sets
            and (not self.families or family in _words(self.families))
            and capabilities().get(family, 0.0) >= (self.capability or 0.0)
        )


@cache
def rows() -> tuple[RuntimeFormatRow, ...]:
    """Supported combinations of runtime and kind of file."""
    return read(DATA / "runtimes/runtime_formats.csv", RuntimeFormatRow)


def kinds(form: str) -> frozenset[str]:
    """Kinds of file that hold a format; BF16 is stored alike in GGUF and safetensors."""
    if form == "BF16":
        return frozenset({"GGUF", "16-bit"})
    stored = known_format(form)
    if stored is not None and stored.family == "gguf":
        return frozenset({"GGUF"})
    packing = packing_named(form)
    if packing is not None:
        return frozenset({_kind(packing)})
    return frozenset({texts("runtimes/file_kinds.csv", "format", "kind").get(form, form)})


WITH_KERNELS = {"GPTQ": (4, 8), "AWQ": (4,), "integers": (4, 8)}
"""Bits for which runtimes that take a kind of file have kernels; those of other kinds have all."""


def _kind(packing: Packing) -> str:
    """Kind of file of a packing; the packing's own name where no runtime has kernels for its
    bits.
    """
    kind = packing.row.kind
    if packing.bits in WITH_KERNELS.get(kind, (packing.bits,)):
        return kind
    return packing.name


Processor = tuple[str, str]  # vendor and family of a GPU; "none" and "" without a GPU


def takes(key: str, machine: Machine, *, experts: bool = False) -> frozenset[str]:
    """Kinds of file that all GPUs of a machine take; with `experts`, those with kernels for
    experts.
    """
    cards = tuple(dict.fromkeys((gpu.vendor, gpu.family) for gpu in machine.gpus))
    return _common_kinds(key, cards or (("none", ""),), machine.host.instruction_sets, experts)


@lru_cache(maxsize=512)
def _common_kinds(
    key: str, processors: tuple[Processor, ...], instruction_sets: frozenset[str], experts: bool
) -> frozenset[str]:
    if _of_several_makers(key, processors):
        return frozenset()
    by_processor: list[set[str]] = []
    lacking: set[str] = set()
    for processor in processors:
        able = [r for r in rows() if r.runtime == key and r.runs_on(processor, instruction_sets)]
        by_processor.append({row.format for row in able})
        lacking |= {row.format for row in able if experts and row.experts == "none"}
    return frozenset(set.intersection(*by_processor) - lacking)


APART = frozenset({"ollama"})  # engines that hand each GPU to the backend of its maker


def _of_several_makers(key: str, processors: tuple[Processor, ...]) -> bool:
    """Whether a machine has GPUs of several makers and the runtime is built for those of one.

    PyTorch and the engines on it are built for CUDA, ROCm or XPU (vLLM activates a single platform,
    vllm/platforms/__init__.py); llama.cpp drives all through Vulkan.
    """
    makers = {vendor for vendor, _ in processors}
    every = any(row.runtime == key and row.vendor == "any" for row in rows())
    return len(makers) > 1 and not every and key not in APART


def loaded_format_of(key: str, why: str = "") -> Callable[[str, Machine], LoadedFormat]:
    """Function `loaded_format` of a runtime, which returns a format, or the nearest one with a
    reason.
    """

    def loaded_format(form: str, machine: Machine) -> LoadedFormat:
        supported = takes(key, machine)
        near = next((close for close in nearest(form) if kinds(close) & supported), None)
        if near is None:
            raise Refusal(refusal(key, form, machine))
        if near == form:
            return LoadedFormat(format=form)
        other = why or "it does not take"
        return LoadedFormat(format=near, reason=f"as {near}, since {other} {form} here")

    return loaded_format


@cache
def nearest(form: str) -> tuple[str, ...]:
    """Format and its substitutes, closest first."""
    like = _gguf_like(form)
    if bits(form) > MIDDLE_BITS:
        return (form, like, "BF16")
    if bits(form) >= EIGHT_BITS:
        return (form, "FP8", "AMXINT8", "Q8_0+FP8", like, "BF16")
    same = AS_IT_IS.get(form, ())
    return (form, *same, "AWQ", "GPTQ", "AMXINT4", "Q4_K+FP8", like, "FP8", "BF16")


def with_experts(key: str, loaded: LoadedFormat, machine: Machine) -> LoadedFormat:
    """Format in which a runtime loads a model with experts, from its format of a dense model."""
    able = takes(key, machine, experts=True)
    if not kinds(loaded.format) & (takes(key, machine) - able):
        return loaded
    near = next((close for close in nearest(loaded.format) if kinds(close) & able), None)
    if near is None:
        raise Refusal(f"{NAMES[key]} has no kernels for experts in {loaded.format} here.")
    reason = f"as {near}, since it has no kernels for experts in {loaded.format} here"
    return LoadedFormat(format=near, reason=reason)


GGUF_BY_BITS = {
    2: "Q2_K",
    3: "Q3_K_M",
    4: "Q4_K_M",
    5: "Q5_K_M",
    6: "Q6_K",
    8: "Q8_0",
    16: "BF16",
}
"""GGUF format that is nearest to a packing, by its bits per weight."""


def _gguf_like(form: str) -> str:
    """GGUF format of about the same number of bits."""
    packing = packing_named(form)
    if packing is None:
        return texts("runtimes/file_kinds.csv", "format", "gguf").get(form, form)
    return GGUF_BY_BITS[min(GGUF_BY_BITS, key=lambda there: abs(there - packing.bits))]


AS_IT_IS = {"MXFP4": ("MXFP4-hf",)}  # format with the same weights in the files of other runtimes
EIGHT_BITS = 6.0
MIDDLE_BITS = 12.0
"""Limits from which formats count as 8-bit and as 16-bit ones [bit]."""


def bits(form: str) -> float:
    """Number of bits in a format's name; 4 for a name without one [bit]."""
    packing = packing_named(form)
    if packing is not None:
        return packing.bits
    digits = re.search(r"(\d+)", form)
    if digits:
        return float(digits.group(1))
    return 4.0


def refusal(key: str, form: str, machine: Machine) -> str:
    """Reason why a runtime runs neither a format nor a near one on a machine."""
    if not machine.gpus:
        words = (row.words for row in refusals(key) if row.when == "no-gpu")
        return next(words, f"{NAMES[key]} needs a GPU, and this machine has none.")
    able = [row for row in rows() if row.runtime == key]
    names = _of_two_makers(key, machine)
    if names:
        return f"{NAMES[key]} runs on GPUs of one maker at a time, not on {names} together."
    card = _without_kernels(key, form, machine)
    where = f"{card.name} ({card.family})"
    oldest = min((row.capability for row in able if row.capability), default=0.0)
    if 0 < capabilities().get(card.family, 0.0) < oldest:
        return f"{NAMES[key]} needs a GPU of compute capability {oldest:g}; {where} is older."
    wanted = {word for row in able for word in _words(row.instruction_sets)}
    if wanted and not wanted & machine.host.instruction_sets:
        host = machine.host.name or "this one"
        return f"{NAMES[key]} needs a processor with AVX2, which {host} is not known to have."
    return f"{NAMES[key]} has no kernels for {where}."


def _of_two_makers(key: str, machine: Machine) -> str:
    """GPUs of several makers that a runtime takes, but not together: one of each."""
    makers = {row.vendor for row in rows() if row.runtime == key}
    cards = {gpu.vendor: gpu.name for gpu in machine.gpus if gpu.vendor in makers}
    processors = tuple((vendor, "") for vendor in cards)
    if _of_several_makers(key, processors):
        return " and ".join(cards.values())
    return ""


def _without_kernels(key: str, form: str, machine: Machine) -> Gpu:
    """First GPU on which a runtime runs neither a format nor a near one; the first of all GPUs
    where there is no such GPU.
    """
    for gpu in machine.gpus:
        supported = takes(key, replace(machine, gpus=(gpu,), nodes=1))
        if not any(kinds(near) & supported for near in nearest(form)):
            return gpu
    return machine.gpus[0]


def _words(text: str) -> frozenset[str]:
    return frozenset(filter(None, text.split(";")))


# GGUF formats of the same size, for runtimes whose formats are a number of bits per weight.


def own_bits(form: str, name: str) -> float:
    """Bits of a packing in a runtime's own format; for other formats the closest number of bits
    that it offers [bit].
    """
    packing = _any_bits(form, name)
    if packing is not None:
        return packing.bits
    return float(whole_bits(form))


def _any_bits(form: str, name: str) -> Packing | None:
    """Packing of a runtime's own format with the bits of a format, where both take any number of
    bits; None for other formats.
    """
    packing = packing_named(form)
    if packing is None or packing.row.kind == name:
        return packing
    if packing.row.ends == HEAD and tools()[name].ends == HEAD:
        return Packing.stated(name, packing.bits, head=packing.head)
    return None


def whole_bits(form: str) -> int:
    """Number of bits that is offered and closest to a format's; the lower of two equally close
    numbers [bit].
    """
    return min(Packing.IN_GROUPS, key=lambda there: (abs(there - bits(form)), there))


def in_groups(key: str, name: str) -> Callable[[str, Machine], LoadedFormat]:
    """Function that chooses the nearest number of bits, for a runtime by its key and the name of
    its format.

    A packing of that name is loaded unchanged; one of its predecessor (EXL2) with as many bits.
    """

    def loaded(form: str, machine: Machine) -> LoadedFormat:
        check_takes(key, machine)
        packing = _any_bits(form, name)
        if packing is not None and packing == packing_named(form):
            return LoadedFormat(format=form)
        if packing is not None:
            return LoadedFormat(format=packing.name, reason=f"as {packing.name}, which it loads")
        near = Packing.IN_GROUPS[whole_bits(form)]
        number = whole_bits(form)
        if near == form and number == 16:
            return LoadedFormat(format=form)
        return LoadedFormat(format=near, reason=f"as {name}'s {number} bits, the size of {near}")

    return loaded
