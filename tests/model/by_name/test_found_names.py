"""Names of models that other people wrote, each with what it means by its source or maker.

tests/samples/names/models_found.csv has files and repositories of people's commands, names as
people type them, identifiers of hosts, and fine-tunes, merges and drafting heads. `meant` holds
what is right, alternatives separated by "|": a model of the same shape, `~12` a stand-in with
about 12 billion weights, `?` a question, `x` a refusal. `format` is the nearest one that the
advisor has; `*` is any.
"""

from functools import cache

from hardware_names import sample

from advisor.errors import AdvisorError, UnknownName
from advisor.model.by_name.known import KnownRow, Named
from advisor.model.by_name.named import meant, named

NEAR = 0.1
"""Relative difference of a stand-in's weights to those meant."""


def test_names_that_others_wrote_mean_their_models() -> None:
    wrong = {}
    for case in sample("models_found.csv"):
        read = reading(case["typed"])
        right = any(fits(case["typed"], read, answer) for answer in case["meant"].split("|"))
        if not right or not has_format(read, case["format"]):
            wrong[case["typed"]] = case["meant"]
    assert not wrong


def reading(typed: str) -> Named | str:
    """Model that a name is read as; "?" where it is asked for, "x" where it is refused."""
    try:
        return named(typed)
    except UnknownName:
        return "?"
    except AdvisorError:
        return "x"


def fits(typed: str, read: Named | str, answer: str) -> bool:
    """Whether a name is read as an answer says."""
    if isinstance(read, str):
        return read == answer
    if answer.startswith("~"):
        billions = read.architecture.params / 1e9
        return not read.known and abs(billions / float(answer[1:]) - 1) < NEAR
    return answer not in "?x" and read.known and shape(meant(typed).row) == shape_of(answer)


def has_format(read: Named | str, form: str) -> bool:
    """Whether the name's format is read, where it states one."""
    if isinstance(read, str) or not form:
        return True
    if form == "*":
        return bool(read.format)
    return read.format == form


@cache
def shape_of(name: str) -> tuple[int, ...]:
    return shape(meant(name).row)


def shape(row: KnownRow) -> tuple[int, ...]:
    return row.layers, row.hidden, row.heads, row.kv_heads, row.experts
