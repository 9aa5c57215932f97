"""Architectures that GGUF files name, and what llama.cpp knows of their attention beside the file.

Reference: ggml-org/llama.cpp, src/llama-arch.cpp (names), src/llama-model.cpp and
src/models/*.cpp (`load_arch_hparams`), read 2026-11-21.
"""

from dataclasses import dataclass

from advisor.errors import InputError, Refusal
from advisor.model.gguf.header import Header, Value, brief

# Keys of a GGUF header, read with checks and remembered as facts.

LARGEST = 2**31
"""No count of heads, layers, experts or tokens comes near it."""


class Keys:
    """Metadata of one architecture; values that were read are kept in `facts`."""

    def __init__(self, header: Header, architecture: str) -> None:
        self.architecture = architecture
        self.facts: dict[str, str] = {}
        self._header = header

    def find(self, key: str) -> Value | None:
        """The value of an architecture's key, None where it is missing."""
        name = f"{self.architecture}.{key}"
        value = self._header.values.get(name)
        if value is not None:
            self.facts[name] = brief(value)
        return value

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number of 0 or more."""
        value = self.find(key)
        if value is None:
            if default is None:
                raise InputError(
                    f"{self._header.name} lacks the key {self.architecture}.{key}, without which "
                    "its size cannot be told. Download a newer conversion."
                )
            return default
        return self._whole(key, value)

    def per_layer(self, key: str, layers: int, default: int) -> tuple[int, ...]:
        """A whole number for each layer; one number stands for all."""
        value = self.find(key)
        if not isinstance(value, tuple):
            return (self.number(key, default),) * layers
        if len(value) < layers:
            raise InputError(
                f"{self._header.name}: {self.architecture}.{key} has {len(value)} entries for "
                f"{layers} layers. Download a newer conversion."
            )
        return tuple(self._whole(key, entry) for entry in value[:layers])

    def has_list(self, key: str) -> bool:
        """The key holds one value for each layer."""
        return isinstance(self.find(key), tuple)

    def _whole(self, key: str, value: Value) -> int:
        if not isinstance(value, int) or not 0 <= value <= LARGEST:
            raise InputError(
                f"{self._header.name}: {self.architecture}.{key} is {brief(value)}; a whole "
                f"number up to {LARGEST:,} is allowed. The file is damaged."
            )
        return int(value)


@dataclass(frozen=True, kw_only=True)
class Window:
    """Layers of an architecture with a sliding window or a chunk."""

    period: int  # number of layers of which one has no window; 0 where the file lists them
    full_first: bool = False  # whether that layer is the first of each period; else the last
    # window where the file names none; 0 for no windows then, None where a file must name it
    # [tokens]
    default: int | None = 0
    fixed: int = 0  # window whatever the file says; 0 for the file's [tokens]
    layers: int = 0  # depth of the only size that has windows; 0 for all


WINDOWED = {
    "afmoe": Window(period=4),
    "cohere2": Window(period=4, default=None),
    "cohere2moe": Window(period=4, full_first=True, default=None),
    "exaone-moe": Window(period=4, default=128),
    "exaone4": Window(period=4, default=4096, layers=64),
    "gemma2": Window(period=2, default=4096),
    "gemma3": Window(period=6),
    "gemma3n": Window(period=5, default=None),
    "gemma4": Window(period=0, default=None),
    "gpt-oss": Window(period=2, default=None),
    "laguna": Window(period=4, full_first=True),
    "lfm2": Window(period=-1),
    "llama4": Window(period=4, default=8192, fixed=8192),
    "mellum": Window(period=4),
    "mimo2": Window(period=0, default=None),
    "olmo2": Window(period=4),
    "plamo3": Window(period=8),
    "smallthinker": Window(period=4, full_first=True, fixed=4096),
    "step35": Window(period=0, default=None),
}
"""Architectures with windows. In lfm2 (period -1) every attention layer has one, if any."""

FULL = frozenset(
    {
        "apertus", "arcee", "arctic", "baichuan", "bailingmoe", "bailingmoe2", "bitnet", "bloom",
        "chameleon", "chatglm", "codeshell", "command-r", "dbrx", "deci", "deepseek", "dots1",
        "ernie4_5", "ernie4_5-moe", "exaone", "falcon", "gemma", "glm4", "glm4moe", "gpt2",
        "gptj", "gptneox", "granite", "granitemoe", "grok", "grovemoe", "hunyuan-dense",
        "hunyuan-moe", "hunyuan_vl", "internlm2", "jais", "jais2", "llama", "maincoder",
        "minicpm", "minicpm3", "minimax-m2", "mistral3", "mpt", "nemotron", "olmo", "olmoe",
        "openelm", "orion", "paddleocr", "pangu-embedded", "phi2", "phi3", "phimoe", "plamo",
        "plm", "qwen", "qwen2", "qwen2moe", "qwen2vl", "qwen3", "qwen3moe", "qwen3vl",
        "qwen3vlmoe", "refact", "seed_oss", "smollm3", "stablelm", "starcoder", "starcoder2",
        "xverse",
    }
)  # fmt: skip
"""Architectures whose attention layers all see everything."""

RECURRENT = frozenset(
    {
        "arwkv7", "falcon-h1", "granitehybrid", "jamba", "kimi-linear", "lfm2moe", "mamba",
        "mamba2", "nemotron_h", "nemotron_h_moe", "plamo2", "qwen35", "qwen35moe", "qwen3next",
        "rwkv6", "rwkv6qwen2", "rwkv7",
    }
)  # fmt: skip
"""Architectures with state-space, linear or convolution layers; their attention sees everything."""

LATENT = frozenset({"deepseek2", "deepseek32", "glm-dsa", "kimi-linear", "mistral4"})
"""Architectures with multi-head latent attention (MLA), whose cache llama.cpp keeps latent."""

BARE_LAYERS = frozenset({"deci", "nemotron_h", "nemotron_h_moe"})
"""Architectures with layers that keep nothing of the past."""

SHARED_KV = {"gemma3n": 20, "gemma4": None}
"""Architectures whose last layers reuse an earlier layer's cache: how many first layers have one
where the file does not say; None for all."""

REFUSED = {
    **dict.fromkeys(
        ("bert", "modern-bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "jina-bert-v2",
         "jina-bert-v3", "eurobert", "gemma-embedding", "llama-embed"),
        "an embedding model, which writes no text",
    ),
    **dict.fromkeys(("t5", "t5encoder"), "an encoder with a decoder, whose two parts run apart"),
    **dict.fromkeys(
        ("dream", "llada", "llada-moe", "rnd1", "diffusion-gemma"),
        "a diffusion model, which does not write token by token",
    ),
    **dict.fromkeys(
        ("eagle3", "dflash", "gemma4-assistant"), "a draft head, which runs beside another model"
    ),
    "clip": "an image or sound encoder (mmproj), not the language model it belongs to",
    "wavtokenizer-dec": "a speech decoder",
    "cogvlm": "a model with separate weights for pictures, whose share in a token is not known",
    "deepseek4": "a model with compressed sparse attention, whose cache is not understood yet",
}  # fmt: skip
"""Architectures that are known and not described, and why."""


def check_known(architecture: str) -> None:
    """See that an architecture's attention is understood."""
    if architecture in REFUSED:
        raise Refusal(f"{architecture} is {REFUSED[architecture]}. Give a language model's file.")
    if architecture not in WINDOWED.keys() | FULL | RECURRENT | LATENT:
        raise Refusal(
            f"The architecture {architecture} is not known: what its attention keeps of the past "
            "is not understood, so its speed cannot be told. Choose a model of another one."
        )
