"""Plain YAML: what is read, what is refused, and the line that is named."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.reports.plain_yaml import read

DOCS = Path(__file__).parents[3] / "docs" / "scenarios.md"
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text("abc 0-:#é'\"", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc", min_size=1, max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


def test_the_documented_example_is_read_as_by_a_whole_reader() -> None:
    text = DOCS.read_text(encoding="utf-8").partition("```yaml")[2].partition("```")[0]
    assert read(text).value == yaml.safe_load(text)


@given(PLAIN)
def test_what_json_writes_is_read_as_it_is(value: object) -> None:
    assert read(json.dumps(value)).value == value


@given(PLAIN)
def test_what_yaml_writes_is_read_as_it_is(value: object) -> None:
    text = yaml.dump(value, Dumper=_Plain, allow_unicode=True)
    assert read(text).value == value


class _Plain(yaml.SafeDumper):
    """Writer without aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-13-45", "2026-13-45"), ("2026-11-28", "2026-11-28"), ("8k", "8k"), ("1e3", 1000.0),
        ("0x10", "0x10"), ("012", 12), ("~", None), ("", None), ("TRUE", True), ("'5'", "5"),
        ("12:30:45", "12:30:45"), ("1_000", "1_000"), ("off", False), ("3.", 3.0), (".5", 0.5),
        ("9" * 41, "9" * 41),
    ],
)  # fmt: skip
def test_a_plain_scalar_has_one_reading(text: str, value: object) -> None:
    assert read(f"a: {text}").value == {"a": value}


LAUGHS = "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b, *b]\n"
"""A billion laughs: aliases of aliases."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAUGHS, "line 1: anchors and aliases are not read"),
        ("models:\n- *a", "line 2: anchors and aliases are not read"),
        ("a: 1\nram_gb: !!float x", "line 2: the tag .*float.* is not read"),
        ("a: !!python/object/apply:os.system [ls]", "line 1: the tag"),
        ("a: !!timestamp 2026-13-45", "line 1: the tag"),
        ("a: 1\na: 2", "line 2: the key 'a' stands there twice"),
        ("{[1]: 2}", "line 1: a key is a short text"),
        ("'': 2", "line 1: a key is a short text"),
        ("a\n---\nb", "line 2: a second document"),
        ("a: [", "line 2: it is not YAML"),
        ("\0", "not YAML"),
        ("[" * 100_000, "line 1:"),
        ("- " * 100, "line 1: more than 20 levels"),
        ("[" + "1," * 60_000 + "]", "more than 50,000 values"),
        ("a: " + "x" * 3000, "line 1: a text has 3,000 letters"),
        ("x" * 3000 + ": 1", "line 1: "),
    ],
)
def test_what_is_refused_names_its_line_in_a_bounded_sentence(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        read(text)
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)


def test_a_message_is_given_the_line_of_the_path_that_it_begins_with() -> None:
    file = read("models:\n- a\n- {name: b,\n   users: x}\nrequest:\n  context: 1\n")
    for message, line in (
        ("models[1].users is 'x'", "line 4"),
        ("models[1].format is 'x'", "line 3"),
        ("models[1]: no such model", "line 3"),
        ("request.context is 0", "line 6"),
        ("request has the key", "line 5"),
        ("the file has the key", ""),
    ):
        assert file.where(message) == line
