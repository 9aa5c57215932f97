"""Formats as recipes: a storage type for each kind of tensor, under conditions.

A *format* is what people choose and download (`Q4_K_M`): a recipe that gives every tensor its type.
Recipes are rows of `data/models/recipes.csv`, read from top to bottom; the first row whose role and
condition fit a tensor decides. `role` is a tensor's role, its `category`, or a pattern such as
`*_exps`; `when` is a condition of `CONDITIONS`, several joined by `&`.

The GGUF recipes restate what llama.cpp does (ggml-org/llama.cpp, `src/llama-quant.cpp` at commit
007dbbf, `llama_tensor_get_type_impl`). Published files of the IQ formats are made with an
importance matrix, so the recipes assume one there and nowhere else. Left out are its rules for the
Falcon architecture.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from advisor.errors import DataError, UnknownName


@dataclass(frozen=True, kw_only=True, slots=True)
class RecipeRow:
    """One rule of one format: a row of `data/models/recipes.csv`.

    Attributes:
        format: name of the format the rule belongs to.
        family: `gguf` or `safetensors`.
        runtimes: programs that run such files, separated by spaces.
        role: role, category or pattern of the tensors it applies to.
        when: condition, see `CONDITIONS`.
        type: storage type of these tensors.
        source: documentation of the rule.
        source_date: date of that source.
        note: approximations.
    """

    format: str
    family: str
    runtimes: str
    role: str
    when: str
    type: str
    source: str
    source_date: str
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """A file format: the recipe that gives each tensor its storage type.

    Attributes:
        name: name of the format.
        family: `gguf` or `safetensors`.
        runtimes: programs that run such files.
        rules: rules, in the order in which they are tried.
        note: approximations; empty for none.
    """

    name: str
    family: str
    runtimes: tuple[str, ...]
    rules: tuple[RecipeRow, ...]
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Position of a tensor in its model, for the conditions of a recipe.

    Attributes:
        position: its layer; for attention values its rank among them, which differs in hybrids.
        count: how many positions there are.
        layers: repeating layers of the model.
        gqa: query heads that share one key and value head.
        experts: routed experts of the model, 0 for a dense one.
    """

    position: int
    count: int
    layers: int
    gqa: float
    experts: int


def more_bits(place: Place) -> bool:
    """Whether a layer is in the first or last eighth, or every third between (`use_more_bits`)."""
    first, last = place.count // 8, 7 * place.count // 8
    return not first <= place.position < last or (place.position - first) % 3 == 2


ALWAYS = "always"
"""Condition of a rule that asks nothing of the place."""
CONDITIONS: Mapping[str, Callable[[Place], bool]] = {
    ALWAYS: lambda _: True,
    "more_bits": more_bits,
    "first_two": lambda place: place.position < 2,
    "first_four": lambda place: place.position < 4,
    "first_sixteenth": lambda place: place.position < place.count // 16,
    "first_eighth": lambda place: place.position < place.count // 8,
    "middle": lambda place: place.count // 8 <= place.position < 7 * place.count // 8,
    "gqa4": lambda place: place.gqa >= 4,
    "gqa4_or_experts4": lambda place: place.gqa >= 4 or place.experts >= 4,
    "experts8": lambda place: place.experts == 8,
    "moe": lambda place: place.experts > 0,
    # llama.cpp's LLM_TYPE_70B: any grouped-query model of 80 layers, so Qwen2.5-72B as well.
    "size_70b": lambda place: place.layers == 80 and place.gqa > 1,
}
"""Conditions of the `when` column, by name."""


def formats(rows: Iterable[RecipeRow]) -> dict[str, Format]:
    """Formats by name, from the rows of the recipe table in their order.

    Raises:
        DataError: a condition that does not exist, or rows of one format that are scattered or
            disagree about its family or runtimes.
    """
    by_name: dict[str, Format] = {}
    for name, group in groupby(rows, key=lambda row: row.format):
        if name in by_name:
            raise DataError(f"Format {name!r} is split in recipes.csv; keep its rows together.")
        by_name[name] = _format(name, tuple(group))
    return by_name


def _format(name: str, rules: tuple[RecipeRow, ...]) -> Format:
    first = rules[0]
    for rule in rules:
        if (rule.family, rule.runtimes) != (first.family, first.runtimes):
            raise DataError(f"Rows of format {name!r} disagree about its family or runtimes.")
        for condition in set(rule.when.split("&")) - CONDITIONS.keys():
            allowed = ", ".join(CONDITIONS)
            raise DataError(f"{name}: no condition is called {condition!r}; use one of {allowed}.")
    notes = dict.fromkeys(rule.note for rule in rules if rule.note)
    return Format(
        name=name,
        family=first.family,
        runtimes=tuple(first.runtimes.split()),
        rules=rules,
        note=" ".join(notes),
    )


def format_named(name: str, known: Mapping[str, Format]) -> Format:
    """Format by name, ignoring case.

    Raises:
        UnknownName: no such format; lists similar names.
    """
    by_folded = {spelling.casefold(): form for spelling, form in known.items()}
    form = by_folded.get(name.strip().casefold())
    if form is None:
        raise UnknownName("format", name, known, "See data/models/recipes.csv for all of them.")
    return form
