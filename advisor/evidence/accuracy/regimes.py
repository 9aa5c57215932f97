"""Regimes: kinds of runs that are scored separately."""

from collections.abc import Mapping
from dataclasses import dataclass

STREAMED, STAGED, BATCHED = "streamed", "NVMe", "batched"
RESIDENT, EXPERTS = "resident, other engines", "experts offloaded, other engines"
"""Kinds of runs of frameworks."""
GENERATION, PROMPT, BOTH = "generation", "prompt", "prompt and generation"
"""Timed part of a run."""
STATED, DATASHEET, INFERRED = "stated", "datasheet", "inferred"
"""Origin of a run's RAM rate: its source, the processor's datasheet, or another run."""
ALL = "all"
PAGED = "paged"
"""Category of runs whose mapped file is larger than memory, read page by page by llama.cpp."""
DEEP = 3000
"""Tokens in the cache from which a run counts as deep context [tokens]."""

Traits = Mapping[str, object]
"""Traits of a run by name: `category` (of its file, or a kind of framework run), `timed`, `deep`,
`experts`, `ram`, `batch_stated`, `build`, `together`."""


@dataclass(frozen=True, kw_only=True)
class Regime:
    """One kind of run."""

    name: str  # name in tables
    text: str  # description in a sentence
    traits: Traits  # traits that a run must have; others may have any value


REGIMES = (
    Regime(
        name="MLX",
        text="MLX on Apple's chips, every weight in the memory that the GPU shares.",
        traits={"build": "mlx", "timed": GENERATION},
    ),
    Regime(
        name="prompt, MLX",
        text="Reading a prompt in MLX, up to 128,000 tokens.",
        traits={"build": "mlx", "timed": PROMPT},
    ),
    Regime(
        name="LocalScore, on a GPU",
        text="LocalScore's runs of llamafile on GPUs: kernels of 2025, on machines that nobody "
        "prepared for measuring.",
        traits={"build": "llamafile", "category": "resident", "timed": GENERATION},
    ),
    Regime(
        name="LocalScore, processor alone",
        text="LocalScore's runs of llamafile on processors, with unstated RAM.",
        traits={"build": "llamafile", "category": "cpu", "timed": GENERATION},
    ),
    Regime(
        name="prompt, LocalScore",
        text="Reading a prompt in LocalScore's runs, on GPUs and processors.",
        traits={"build": "llamafile", "timed": PROMPT},
    ),
    Regime(
        name="several users, CPU alone",
        text="Generation for several users at once, computed by the processor.",
        traits={"category": "cpu", "timed": GENERATION, "together": True},
    ),
    Regime(
        name="several users, resident",
        text="Generation for several users at once in llama.cpp, all weights in GPU memory.",
        traits={"category": "resident", "timed": GENERATION, "together": True},
    ),
    Regime(
        name="resident, dense",
        text="All weights in GPU memory, model without experts.",
        traits={"category": "resident", "timed": GENERATION, "deep": False, "experts": False},
    ),
    Regime(
        name="resident, experts",
        text="All weights in GPU memory, model with routed experts.",
        traits={"category": "resident", "timed": GENERATION, "deep": False, "experts": True},
    ),
    Regime(
        name="resident, deep context",
        text="All weights in GPU memory, 3,000 tokens or more in the cache.",
        traits={"category": "resident", "timed": GENERATION, "deep": True},
    ),
    Regime(
        name="CPU alone, RAM stated",
        text="Computed by the processor; the source states the RAM's rate or clock.",
        traits={"category": "cpu", "timed": GENERATION, "ram": STATED},
    ),
    Regime(
        name="CPU alone",
        text="Computed by the processor; the RAM's rate comes from a datasheet or is unknown.",
        traits={"category": "cpu", "timed": GENERATION},
    ),
    Regime(
        name="dense split, RAM from its slowest row",
        text="Layers split between GPU and RAM. The RAM's rate follows from the run with the "
        "fewest layers on the GPU; the others are predicted with it.",
        traits={"category": "partial", "timed": GENERATION, "ram": INFERRED},
    ),
    Regime(
        name="dense split",
        text="Layers split between GPU and RAM.",
        traits={"category": "partial", "timed": GENERATION},
    ),
    Regime(
        name="experts in RAM, RAM stated",
        text="Attention on the GPU, routed experts in RAM, computed by the processor; the source "
        "states the RAM's rate or clock.",
        traits={"category": "moe_offload", "timed": GENERATION, "ram": STATED},
    ),
    Regime(
        name="experts in RAM",
        text="Attention on the GPU, routed experts in RAM, computed by the processor.",
        traits={"category": "moe_offload", "timed": GENERATION},
    ),
    Regime(
        name="prompt, deep context",
        text="Reading a prompt after 3,000 tokens or more, all weights in GPU memory.",
        traits={"category": "resident", "timed": PROMPT, "deep": True},
    ),
    Regime(
        name="prompt, resident",
        text="Reading a prompt, all weights in GPU memory.",
        traits={"category": "resident", "timed": PROMPT},
    ),
    Regime(
        name="prompt, experts in RAM",
        text="Reading a prompt with routed experts in RAM, copied to the GPU or computed by the "
        "processor.",
        traits={"category": "moe_offload", "timed": PROMPT},
    ),
    Regime(
        name="prompt, dense split",
        text="Reading a prompt with layers in RAM, copied to the GPU.",
        traits={"category": "partial", "timed": PROMPT},
    ),
    Regime(
        name="prompt, CPU alone",
        text="Reading a prompt with the processor.",
        traits={"category": "cpu", "timed": PROMPT},
    ),
    Regime(
        name="batch not stated",
        text="Runs of frameworks without a stated number of sequences; the advisor assumes the "
        "largest batch that fits.",
        traits={"batch_stated": False},
    ),
    Regime(
        name="streamed from RAM",
        text="Weights or cache copied from RAM to the GPU for each step of the whole batch, by "
        "DeepSpeed, FlexGen, Accelerate, vLLM and others.",
        traits={"category": STREAMED},
    ),
    Regime(
        name="read from a drive",
        text="Weights copied from a drive to the GPU for each step, by the same frameworks and by "
        "engines that stream experts.",
        traits={"category": STAGED},
    ),
    Regime(
        name="paged by llama.cpp",
        text="A mapped file larger than memory, read page by page: our own runs under memory "
        "limits, with the page cache observed in each run.",
        traits={"category": PAGED},
    ),
    Regime(
        name="experts streamed",
        text="Routed experts copied to the GPU when a token needs them, or partly kept there.",
        traits={"category": EXPERTS},
    ),
    Regime(
        name="batched",
        text="Many sequences together, all weights in GPU memory, generation alone.",
        traits={"category": BATCHED, "timed": GENERATION},
    ),
    Regime(
        name="batched, end to end",
        text="Many sequences together, all weights in GPU memory, one time for prompts and "
        "replies.",
        traits={"category": BATCHED, "timed": BOTH},
    ),
    Regime(
        name="serving engines",
        text="vLLM, SGLang and TensorRT-LLM, all weights in GPU memory: a token for each sequence, "
        "or whole batches with their prompts.",
        traits={"category": "serving, published", "timed": GENERATION},
    ),
    Regime(
        name="serving engines, first token",
        text="vLLM, SGLang and TensorRT-LLM: time of the prompt of a single sequence.",
        traits={"category": "serving, published", "timed": PROMPT},
    ),
    Regime(
        name="serving engines, simulated, dense",
        text="A token of models without experts, from a simulator that adds up measured kernels.",
        traits={"category": "serving, simulated", "timed": GENERATION, "experts": False},
    ),
    Regime(
        name="serving engines, simulated, experts",
        text="A token of models with routed experts, from the same simulator.",
        traits={"category": "serving, simulated", "timed": GENERATION, "experts": True},
    ),
    Regime(
        name="first token, simulated, dense",
        text="Prompts of models without experts, from the same simulator.",
        traits={"category": "serving, simulated", "timed": PROMPT, "experts": False},
    ),
    Regime(
        name="first token, simulated, experts",
        text="Prompts of models with routed experts, from the same simulator.",
        traits={"category": "serving, simulated", "timed": PROMPT, "experts": True},
    ),
    Regime(
        name="drafted tokens",
        text="Tokens drafted by a model's own layers and checked together: the gain, over what the "
        "same source measured without them. Nothing is fitted to it.",
        traits={"category": "drafted"},
    ),
    Regime(
        name="server under load",
        text="Tokens of all users of a serving engine together, or of one where requests come at "
        "random times: published load curves, simulated. Nothing is fitted to them.",
        traits={"category": "load"},
    ),
    Regime(
        name="resident, other engines",
        text="Every weight in the memory of the GPU, one sequence, frameworks other than "
        "llama.cpp.",
        traits={"category": RESIDENT},
    ),
)
"""All regimes, in the order of tables; a run belongs to the first that matches."""


def regime_of(traits: Traits) -> str:
    """Name of a run's regime; its category where none matches."""
    names = (regime.name for regime in REGIMES if regime.traits.items() <= traits.items())
    return next(names, str(traits.get("category", "other")))


def description(name: str) -> str:
    """Description of a regime in a sentence; empty for an unknown name."""
    return next((regime.text for regime in REGIMES if regime.name == name), "")
