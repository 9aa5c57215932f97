"""Workload: prompt, output, context, users and cache type of a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from advisor.catalog.inputs import INPUTS
from advisor.errors import InputError, Refusal
from advisor.model.catalog import draft_heads
from advisor.model.expert_use import USUAL
from advisor.model.model import Model
from advisor.units import Array

CHECKED = INPUTS.of("work draft")


class Draft(StrEnum):
    """Method of drafting tokens."""

    MTP = "mtp"  # a model's own further layers
    EAGLE = "eagle"  # a head made for the model
    DFLASH = "dflash"  # a diffusion of a block of tokens, made for the model
    NGRAM = "ngram"  # repetition of the prompt
    MODEL = "model"  # a smaller model, which `Workload.draft_model` describes

    @classmethod
    def by_name(cls) -> "tuple[Draft, ...]":
        """Methods that people ask for by their names: all but a smaller model, which is asked for
        by its own.
        """
        return tuple(method for method in cls if method is not cls.MODEL)

    @staticmethod
    def usual(method: str) -> "Drafter":
        """Drafter of the method, with its usual numbers."""
        return DRAFTERS[method]

    @staticmethod
    def chance(drafted: Array, accepted_share: Array) -> Array:
        """Probability that a drafted token is accepted, from the share of all drafted tokens that
        is accepted.

        The solution a of (1 - a^(k+1)) / (1 - a) = 1 + k s (`Workload.tokens_per_step`): engines
        print s, in which drafts behind a rejected one count as rejected.
        """
        tokens = np.asarray(drafted, dtype=float)
        share = np.asarray(accepted_share, dtype=float)
        low = np.zeros(np.broadcast_shapes(tokens.shape, share.shape))
        high = np.ones_like(low)
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            fewer = _expected(middle, tokens) < 1.0 + tokens * share
            low = np.where(fewer, middle, low)
            high = np.where(fewer, high, middle)
        chances = np.where(tokens > 0, (low + high) / 2.0, share)
        if chances.ndim == 0:
            return float(chances)
        return chances


@dataclass(frozen=True, kw_only=True)
class Drafter:
    """Drafter of a method: the weights that it reads, and its usual numbers."""

    tokens: int  # drafted for a step where no number is given [tokens]
    layers: float = 0.0  # layers that a run reads beside the output head; 0: no run, or a model's
    acceptance: float | None = None  # probability where none is given; None if unknown
    at_once: bool = False  # one run drafts all tokens of a step
    file: str = ""  # placeholder for a repository or file made for a model; empty where none is


DRAFTERS: Mapping[str, Drafter] = {
    # One layer and the output head (DeepSeek-V3, arXiv 2412.19437, section 2.2); 85 to 90 % of its
    # second token are accepted (section 5.4.3).
    Draft.MTP: Drafter(tokens=1, layers=1.0, acceptance=0.85),
    # The same (arXiv 2401.15077).
    Draft.EAGLE: Drafter(tokens=3, layers=1.0, file="EAGLE_HEAD"),
    # Five layers, a diffusion of a block of tokens (arXiv 2602.06036).
    Draft.DFLASH: Drafter(tokens=7, layers=5.0, at_once=True, file="DFLASH_DRAFTER"),
    Draft.NGRAM: Drafter(tokens=5),
    Draft.MODEL: Drafter(tokens=5),
}
"""Drafters by method. Tokens are DeepSeek-V3's own one, and those of the examples in vLLM's
documentation (features/speculative_decoding, 2026-11)."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Request: prompt, output, context, users, and options of the cache and of drafting.

    Attributes:
        prompt: prompt length, cached part included [tokens].
        output: generated tokens [tokens].
        cached: part of the prompt whose keys and values are in the cache already [tokens].
        images: images of the prompt, whose tokens count with it.
        image_patches: patches of these images that the model's encoder reads, of all together.
        context: size of the allocated cache, per user [tokens].
        users: sequences decoded together.
        kv_type: format of the cache, a key of `Model.KV_BYTES_PER_VALUE`, or two of them, of keys
            and of values: q8_0/q4_0.
        ubatch: micro-batch: prompt tokens computed together (llama.cpp's `-ub`) [tokens].
        flash_attention: scores of attention stay in the GPU's cores; else each is written to memory
            and read (llama.cpp's `-fa off`, its default until August 2025).
        swa_full: layers with a sliding window cache the whole context (llama.cpp's `--swa-full`).
        unified_cache: all sequences share one cache buffer, as in llama.cpp before August 2025.
        bench: a bench reads the prompt, as llama-bench does; else a server, which may cut it.
        draft: drafting method, a `Draft`; empty for none.
        draft_model: the smaller model of that method, in its format; None for the others.
        drafted: drafted tokens per step [tokens].
        acceptance: probability that the model accepts a drafted token, 0 to 1.
        variety: variety of the text, 0 (repeats itself) to 1 (mixed topics), which decides how
            often its tokens use the same experts.

    Numbers may be arrays along a sweep, but for the variety.

    Raises:
        InputError: a number outside its limits, an unknown cache type or drafting method, or more
            cached tokens than the prompt has.
    """

    prompt: Array = 512
    output: Array = 256
    cached: Array = 0
    images: int = 0
    image_patches: float = 0.0
    context: Array = 8192
    users: Array = 1
    kv_type: str = "f16"
    ubatch: Array = 512
    flash_attention: bool = True
    swa_full: bool = False
    unified_cache: bool = False
    bench: bool = False
    draft: str = ""
    draft_model: Model | None = None
    drafted: Array = 0
    acceptance: Array = 0.0
    variety: float = USUAL

    BENCH_VARIETY: ClassVar = 0.25
    """Variety of the random tokens of llama-bench: u = 2.5. An RTX 4070 Laptop reads 833 and 319
    tokens/s of a 35B with 256 experts in micro-batches of 2,048 and 512: 28 GB in 1.6 and 1.4 s is
    more than its link moves, unless some 0.75 and 0.6 of the experts are copied."""

    def __post_init__(self) -> None:
        CHECKED.check(vars(self))
        if self.draft and self.draft not in [*Draft]:
            methods = ", ".join(Draft.by_name())
            raise InputError(
                f"Draft {self.draft[:40]!r} is not known; use one of {methods}, or the name of a "
                "smaller model."
            )
        if (self.draft == Draft.MODEL) != (self.draft_model is not None):
            raise InputError("A draft model goes with its method; give both or neither.")
        if np.ndim(self.variety):
            raise InputError("The variety of the text is one number; ask once for each of several.")
        known = Model.KV_BYTES_PER_VALUE.keys()
        if self.kv_type not in known and not set(Model.cache_types(self.kv_type)) <= known:
            raise InputError(
                f"KV type {self.kv_type[:40]!r} is not known; use one of "
                f"{', '.join(Model.KV_BYTES_PER_VALUE)}, or two of them, of keys and of values: "
                "q8_0/q4_0."
            )
        if np.any(np.asarray(self.cached) > self.prompt):
            raise InputError(
                f"cached is {self.cached}, more than the prompt of {self.prompt} tokens; "
                "lower it or raise the prompt."
            )

    def with_numbers(self, **numbers: Array | str) -> "Workload":
        """Request with some numbers that were computed from its own; they are not checked again."""
        changed = object.__new__(type(self))
        vars(changed).update(vars(self), **numbers)
        return changed

    def with_room(self) -> "Workload":
        """Request whose context holds its prompt and reply; the default context grows.

        Raises:
            InputError: another context, which is too short for them.
        """
        needed = np.asarray(self.prompt + self.output, dtype=float)
        if not np.any(needed > self.context):
            return self
        stated = np.asarray(self.context) != Workload.context
        if np.any(stated & (needed > self.context)):
            raise InputError(
                f"A prompt and reply of {np.max(needed):,.0f} tokens do not fit the context of "
                f"{np.min(self.context):,.0f} that is allocated (--context); allocate more, or ask "
                "for less (--prompt, --output)."
            )
        grown = np.maximum(self.context, np.ceil(needed / ROOM) * ROOM)
        return self.with_numbers(context=float(grown) if np.ndim(grown) == 0 else grown)

    def grown_note(self, stated: "Workload") -> str:
        """Sentence on a context that grew with the stated request; empty if it did not."""
        if np.array_equal(stated.context, self.context):
            return ""
        return (
            f"The context is {np.max(self.context):,.0f} tokens, as prompt and reply need; it is "
            f"{Workload.context:,} where less is asked (--context)."
        )

    def context_notes(self, model: Model) -> tuple[str, ...]:
        """Sentences about lengths beyond the allocated context, or the model's own."""
        context = float(np.max(self.context))
        longest = model.architecture.max_context
        needed = float(np.max(self.prompt)) + float(np.max(self.output))
        notes = []
        if needed > context:
            notes.append(
                f"A prompt and reply of {needed:,.0f} tokens do not fit the context of "
                f"{context:,.0f} that is allocated; allocate more, or ask for less."
            )
        if longest and context > longest:
            notes.append(
                f"A context of {context:,.0f} tokens is beyond the {longest:,} that {model.name} "
                "was made for; runtimes refuse it or answer badly unless its positions are "
                "stretched."
            )
        return tuple(notes)

    @property
    def drafting_note(self) -> str:
        """Sentence on drafting; empty without drafting, and for arrays of drafted tokens."""
        if not self.draft or np.ndim(self.drafted) or np.ndim(self.acceptance):
            return ""
        if self.draft_model:
            who = self.draft_model.name
        else:
            who = self.draft
        tokens = f"{self.drafted:g} token{'s' if self.drafted != 1 else ''}"
        share = float(self.tokens_per_step - 1.0) / max(float(self.drafted), 1.0)
        return f"Each step checks {tokens} drafted by {who}, {100 * share:.0f} % accepted."

    @property
    def drafter(self) -> Drafter | None:
        """Drafter of the request; None without drafting."""
        return DRAFTERS.get(self.draft)

    @property
    def runs_drafter(self) -> bool:
        """Whether drafting reads weights; n-grams of the prompt need none."""
        return self.draft_model is not None or bool(self.drafter and self.drafter.layers)

    @property
    def decode_depth(self) -> Array:
        """Mean length of the cache while decoding: prompt + output / 2 [tokens]."""
        return self.prompt + self.output / 2

    @property
    def typical_tokens(self) -> Array:
        """Mean length of a user's cache while decoding, at most the context [tokens]."""
        return np.asarray(np.minimum(self.decode_depth, self.context), dtype=float)

    @property
    def tokens_per_step(self) -> Array:
        """Expected tokens per step and user: accepted drafts and the model's own token [tokens].

        (1 - a^(k+1)) / (1 - a), with k drafted tokens, each accepted with probability a if all
        before it were (Leviathan et al. 2023, equation 1, arXiv 2211.17192).
        """
        return _expected(self.acceptance, self.drafted)

    @property
    def fresh(self) -> Array:
        """Prompt tokens that must be computed [tokens]."""
        return np.maximum(self.prompt - self.cached, 0)

    def encoder_bytes(self, model: Model) -> float:
        """Memory of an encoder whose file is loaded beside the model's, for images alone [B]."""
        if self.images:
            return model.encoder_file
        return 0.0

    def check_heads(self, model: Model) -> None:
        """Check that a model has the layers that draft tokens; engines without them stop.

        llama.cpp aborts with "model doesn't contain MTP layers" (issues 22673 and 28072); vLLM
        drafts nothing without these modules (issue 12755).

        Raises:
            Refusal: its file, or its name, tells of no such layers.
        """
        if self.draft != Draft.MTP or draft_heads(model):
            return
        where = (
            "its file has none" if model.architecture.draft_layers == 0 else "none are published"
        )
        raise Refusal(
            f"{model.name} has no layers to draft with (MTP): {where}. Leave --draft out, or draft "
            "by n-grams (--draft ngram) or a smaller model of its family (--draft NAME)."
        )


ROOM = 256  # step in which a context grows, as llama.cpp pads it [tokens]
HALVINGS = 30  # of the interval in which the probability of a draft lies


def _expected(accepted: Array, drafted: Array) -> Array:
    """Expected number of tokens of a step with so many drafted tokens [tokens]."""
    sure = np.minimum(np.asarray(accepted, dtype=float), 1.0 - 1e-9)
    return np.asarray((1.0 - sure ** (np.asarray(drafted, dtype=float) + 1.0)) / (1.0 - sure))
