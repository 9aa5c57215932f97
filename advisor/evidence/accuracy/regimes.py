"""Kinds of runs that are scored apart, as a table."""

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.evidence.fitting.frameworks.runs import BATCHED, EXPERTS, RESIDENT, STAGED, STREAMED

GENERATION, PROMPT, BOTH = "generation", "prompt", "prompt and generation"
"""What is timed."""
STATED, DATASHEET, INFERRED = "stated", "datasheet", "inferred"
"""Where the RAM rate of a run comes from: its source, the processor's datasheet, another run."""
ALL = "all"
PAGED = "paged"
"""A mapped file that memory does not hold, read by llama.cpp page by page."""
DEEP = 3000
"""Tokens in the cache from which a run counts as deep context."""

Traits = Mapping[str, object]
"""What a run is like: `category` as in its file or a kind of frameworks' runs, `timed`, `deep`,
`experts`, `ram`, `batch_stated`, `build`, `together`."""


@dataclass(frozen=True, kw_only=True)
class Regime:
    """One kind of run.

    Attributes:
        name: as tables show it.
        text: what it is, in a sentence.
        traits: what a run must be like; traits that are absent may be anything.
    """

    name: str
    text: str
    traits: Traits


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
        text="LocalScore's runs of llamafile on GPUs: kernels of 2025's llamafile, machines as "
        "their owners left them.",
        traits={"build": "llamafile", "category": "resident", "timed": GENERATION},
    ),
    Regime(
        name="LocalScore, processor alone",
        text="The same on processors, whose RAM nobody states.",
        traits={"build": "llamafile", "category": "cpu", "timed": GENERATION},
    ),
    Regime(
        name="prompt, LocalScore",
        text="Reading a prompt in LocalScore's runs, on GPUs and processors.",
        traits={"build": "llamafile", "timed": PROMPT},
    ),
    Regime(
        name="several users, CPU alone",
        text="The processor writes for several users at once.",
        traits={"category": "cpu", "timed": GENERATION, "together": True},
    ),
    Regime(
        name="several users, resident",
        text="llama.cpp writes for several users at once, every weight in the GPU.",
        traits={"category": "resident", "timed": GENERATION, "together": True},
    ),
    Regime(
        name="resident, dense",
        text="Every weight in the memory of the GPU, a model without experts.",
        traits={"category": "resident", "timed": GENERATION, "deep": False, "experts": False},
    ),
    Regime(
        name="resident, experts",
        text="Every weight in the memory of the GPU, a model with routed experts.",
        traits={"category": "resident", "timed": GENERATION, "deep": False, "experts": True},
    ),
    Regime(
        name="resident, deep context",
        text="Every weight in the memory of the GPU, 3,000 tokens and more in the cache.",
        traits={"category": "resident", "timed": GENERATION, "deep": True},
    ),
    Regime(
        name="CPU alone, RAM stated",
        text="The processor computes, and the source says what its RAM gives or is clocked at.",
        traits={"category": "cpu", "timed": GENERATION, "ram": STATED},
    ),
    Regime(
        name="CPU alone",
        text="The processor computes, and its RAM is known from a datasheet or not at all.",
        traits={"category": "cpu", "timed": GENERATION},
    ),
    Regime(
        name="dense split, RAM from its slowest row",
        text="Layers split between GPU and RAM. The run with the fewest layers on the GPU gives "
        "the RAM's rate; the others are predicted with it.",
        traits={"category": "partial", "timed": GENERATION, "ram": INFERRED},
    ),
    Regime(
        name="dense split",
        text="Layers split between GPU and RAM.",
        traits={"category": "partial", "timed": GENERATION},
    ),
    Regime(
        name="experts in RAM",
        text="Attention in the GPU, routed experts read by the processor.",
        traits={"category": "moe_offload", "timed": GENERATION},
    ),
    Regime(
        name="prompt, deep context",
        text="Reading a prompt after 3,000 tokens and more, with every weight in the GPU.",
        traits={"category": "resident", "timed": PROMPT, "deep": True},
    ),
    Regime(
        name="prompt, resident",
        text="Reading a prompt with every weight in the GPU.",
        traits={"category": "resident", "timed": PROMPT},
    ),
    Regime(
        name="prompt, experts in RAM",
        text="Reading a prompt with routed experts in RAM, copied to the GPU or computed there.",
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
        text="Runs of frameworks whose source does not say how many sequences ran together; the "
        "one that the advisor takes stands in.",
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
        text="A mapped file larger than the memory it may use, page by page. Our own runs under "
        "memory caps, the cache each was seen to have given, each predicted without itself.",
        traits={"category": PAGED},
    ),
    Regime(
        name="experts streamed",
        text="Routed experts copied to the GPU as a token asks for them, or kept there in part.",
        traits={"category": EXPERTS},
    ),
    Regime(
        name="batched",
        text="Many sequences together in GPU memory, generation alone.",
        traits={"category": BATCHED, "timed": GENERATION},
    ),
    Regime(
        name="batched, end to end",
        text="Many sequences together in GPU memory, prompts and answers in one time.",
        traits={"category": BATCHED, "timed": BOTH},
    ),
    Regime(
        name="serving engines",
        text="vLLM, SGLang and TensorRT-LLM with every weight in GPU memory: a token of each of "
        "the sequences that run together, or whole batches with their prompts.",
        traits={"category": "serving, published", "timed": GENERATION},
    ),
    Regime(
        name="serving engines, first token",
        text="The same engines, one sequence: how long its prompt takes.",
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
        name="resident, other engines",
        text="Every weight in the memory of the GPU, one sequence, frameworks other than "
        "llama.cpp.",
        traits={"category": RESIDENT},
    ),
)
"""In the order tables show them; the first whose traits a run has is its regime."""


def regime_of(traits: Traits) -> str:
    """Name of the regime of a run; its category where the table has none for it."""
    names = (regime.name for regime in REGIMES if regime.traits.items() <= traits.items())
    return next(names, str(traits.get("category", "other")))
