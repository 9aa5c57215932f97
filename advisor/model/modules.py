"""Modules of a checkpoint, with those that a quantizer treats in another way than the rest.

Quantizers name modules as the checkpoint does (`model.layers.0.self_attn.q_proj`), by patterns
(`model.layers.0.self_attn*`, `re:.*lm_head`) or by a part of the name (`lm_head`). The modules of
each tensor, in the spellings of different families, are rows of data/models/module_names.csv.

References:
    [1] vllm-project/compressed-tensors, utils/match.py (`re:` is matched from the start).
    [2] huggingface/transformers 5.23.0, quantizers/quantizers_utils.py (`should_convert_module`).
    [3] NVIDIA/Model-Optimizer, hf_quant_config.json (`exclude_modules` are patterns of a shell).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property

from advisor.catalog.csv_tables import texts
from advisor.model.architecture import Architecture, Tensor

REGEX = "re:"  # mark of a regular expression [1]
HEADS = ("model.", "model.language_model.", "language_model.model.", "backbone.", "")
"""Beginnings of a module's name before `layers`, by families, for regular expressions."""
LAYER = re.compile(r"layers\.(\d+)\b")
MANY_REPEATS = 4
"""Repetitions in a regular expression from which it is not read: more could take for ever."""
REPEAT = re.compile(r"(?<!\\)[*+{]")
NESTED_REPEAT = re.compile(r"\)[*+{]")
MOST_PATTERNS = 400  # patterns that are of no layer; published files have a few


@dataclass(frozen=True, kw_only=True)
class ModulePatterns:
    """Patterns of modules with a meaning for each; a whole name decides before a pattern."""

    meanings: Mapping[str, str] = field(default_factory=dict)  # meaning by pattern

    def of(self, paths: Iterable[str]) -> tuple[str, str] | None:
        """Pattern that fits one of the paths of a module, and its meaning; None without one."""
        for path in paths:
            run = next((run for run in _runs(path) if run in self._whole), None)
            if run is not None:
                return self._whole[run]
            layer = LAYER.match(path)
            of_layer = self._globs.get(layer[1], ()) if layer else ()
            for compiled, form in (*of_layer, *self._globs.get("", ())):
                if compiled.match(path):
                    return form
            for compiled, form in self._expressions:
                if any(compiled.match(f"{head}{path}") for head in HEADS):
                    return form
        return None

    @cached_property
    def _whole(self) -> Mapping[str, tuple[str, str]]:
        """Patterns that are names or whole parts of names, without what stands before `layers`."""
        return {
            _without_head(pattern): (pattern, meaning)
            for pattern, meaning in self.meanings.items()
            if not pattern.startswith(REGEX) and not _is_glob(pattern)
        }

    @cached_property
    def _globs(self) -> Mapping[str, Sequence[tuple[re.Pattern[str], tuple[str, str]]]]:
        """Patterns of a shell, which also take what lies below, by the number of their layer."""
        made: dict[str, list[tuple[re.Pattern[str], tuple[str, str]]]] = defaultdict(list)
        for pattern, meaning in self.meanings.items():
            if pattern.startswith(REGEX) or not _is_glob(pattern):
                continue
            short = _without_head(pattern)
            layer = LAYER.match(short)
            number = layer[1] if layer else ""
            if layer or len(made[number]) < MOST_PATTERNS:
                compiled = re.compile(f"{translate(short)}|{translate(f'{short}.*')}")
                made[number].append((compiled, (pattern, meaning)))
        return made

    @cached_property
    def _expressions(self) -> Sequence[tuple[re.Pattern[str], tuple[str, str]]]:
        """Regular expressions, without those that could take long or are damaged."""
        made: list[tuple[re.Pattern[str], tuple[str, str]]] = []
        for pattern, meaning in self.meanings.items():
            text = pattern.removeprefix(REGEX)
            if text == pattern or len(made) >= MOST_PATTERNS or _takes_long(text):
                continue
            with suppress(re.error):
                made.append((re.compile(text), (pattern, meaning)))
        return made


ENDS = ("embed_tokens", "lm_head", "embeddings", "wte")
"""Modules of a language model beside its layers whose names have the same beginnings."""


def _without_head(pattern: str) -> str:
    """Pattern without what stands before the layers, token table and head of the language model."""
    for head in HEADS:
        short = pattern.removeprefix(head)
        if pattern.startswith(head) and (short.startswith("layers.") or short in ENDS):
            return short
    return pattern


def _is_glob(pattern: str) -> bool:
    return any(mark in pattern for mark in "*?[")


def _takes_long(expression: str) -> bool:
    many = len(REPEAT.findall(expression)) > MANY_REPEATS
    return many or NESTED_REPEAT.search(expression) is not None


def _runs(path: str) -> Iterator[str]:
    """All runs of a path's parts, longest first: a name, a layer, `self_attn`."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        for start in range(len(parts) - length + 1):
            yield ".".join(parts[start : start + length])


def module_paths(architecture: Architecture) -> Iterator[tuple[Tensor, tuple[str, ...]]]:
    """Each tensor with the paths that its module may have; none for an unknown role."""
    spelled = {
        role: tuple(names.split())
        for role, names in texts("models/module_names.csv", "role", "modules").items()
    }
    beside = _with_dense_beside_experts(architecture)
    for tensor in architecture.tensors:
        names = spelled.get(tensor.role.removesuffix(".bias"), ())
        if tensor.layer in beside and tensor.role.endswith("_exps"):
            # Where a dense block is called mlp, the experts beside it lie outside of it (Gemma 4).
            names = tuple(name for name in names if not name.startswith("mlp."))
        yield tensor, tuple(_paths(names, tensor.layer))


def _paths(names: Iterable[str], layer: int | None) -> Iterator[str]:
    where = "" if layer is None else f"layers.{layer}."
    for name in names:
        yield f"{where}{name}"


def _with_dense_beside_experts(architecture: Architecture) -> frozenset[int]:
    """Layers that have a dense feed-forward block and routed experts."""
    return frozenset(
        layer
        for layer, held in enumerate(architecture.by_layer)
        if "ffn_down" in held and "ffn_down_exps" in held
    )
