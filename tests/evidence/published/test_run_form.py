"""The form of a run: the same fields in its table, the issue form, and filled texts."""

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.evidence.published.row import COLUMNS
from advisor.evidence.published.run_form import (
    AGREE,
    LONGEST_LINE,
    OUTPUT,
    form_fields,
    form_text,
    form_values,
)

ROOT = Path(__file__).parents[3]
ISSUE_FORM = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/run.yml").read_text(encoding="utf-8"))
KINDS = {"line": "input", "note": "input", "output": "textarea", "agree": "checkboxes"}


def test_the_issue_form_has_the_fields_of_the_table() -> None:
    asked_for = [part for part in ISSUE_FORM["body"] if part["type"] != "markdown"]
    rows = list(form_fields().values())
    assert [part["id"] for part in asked_for] == [row.field for row in rows]
    for part, row in zip(asked_for, rows, strict=True):
        assert part["type"] == KINDS[row.kind], row.field
        assert part["attributes"]["label"] == row.label
        if row.kind == "agree":
            assert part["attributes"]["options"] == [{"label": row.help, "required": True}]
        else:
            assert part["attributes"]["description"] == row.help
            assert part["attributes"]["placeholder"] == row.example
            assert part.get("validations", {}).get("required", False) == row.required


def test_the_issue_form_is_one_that_github_shows() -> None:
    # docs.github.com, "Syntax for issue forms": these keys, and unique ids and labels.
    assert set(ISSUE_FORM) <= {"name", "description", "title", "labels", "body", "assignees"}
    ids = [part.get("id") for part in ISSUE_FORM["body"] if part["type"] != "markdown"]
    assert len(set(ids)) == len(ids)
    labels = [row.label for row in form_fields().values()]
    assert len(set(labels)) == len(labels)


def test_each_column_of_the_form_is_one_that_rows_have() -> None:
    assert {row.column for row in form_fields().values() if row.column} <= set(COLUMNS)


VALUES = {
    OUTPUT: "eval rate: 41.2 tokens/s\n```\n~~~\n### GPU\n\nRTX 5090",
    "gpu": "RTX 3090",
    "model": "Qwen3-8B",
    AGREE: "yes",
}


def test_a_filled_form_gives_its_values_again() -> None:
    values = form_values(form_text(VALUES))
    shown = "eval rate: 41.2 tokens/s\n    ```\n    ~~~\n### GPU\n\nRTX 5090"
    assert values == {**VALUES, OUTPUT: shown}  # a fence of the output cannot close that of ours


def as_issue(**values: str) -> str:
    """A filled issue form, as GitHub writes it into an issue."""
    parts = []
    for row in form_fields().values():
        text = values.get(row.field, "_No response_")
        if row.kind == "output":
            text = f"```text\n{text}\n```"
        if row.kind == "agree":
            text = f"- [{'X' if values.get(row.field) else ' '}] {row.help}"
        parts.append(f"### {row.label}\n\n{text}")
    return "\n\n".join(parts)


def test_the_text_of_runs_share_fills_the_first_box_of_the_issue_form() -> None:
    inner = {name: value for name, value in VALUES.items() if name != AGREE}
    inner[OUTPUT] = "eval rate: 41.2 tokens/s"
    values = form_values(as_issue(output=form_text(inner), agree="yes", cpu="Ryzen 7 5800X"))
    assert values == {**inner, AGREE: "yes", "cpu": "Ryzen 7 5800X"}


def test_an_outer_value_counts_before_an_inner_one() -> None:
    text = as_issue(output=form_text({"gpu": "RTX 3090", OUTPUT: "x"}), gpu="RTX 4090")
    assert form_values(text)["gpu"] == "RTX 4090"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "none of the form's headings"),
        ("### Something\n\nelse", "none of the form's headings"),
        ("### GPU\n\nRTX 3090\n\n### GPU\n\nRTX 4090", "stands twice"),
        (f"### GPU\n\n{'x' * (LONGEST_LINE + 1)}", "at most 300 are read"),
        ("### GPU\n\nRTX\u202e3090", "cannot be printed"),
        ("x" * 65_537, "65,537 letters"),
    ],
)
def test_a_text_that_is_no_form_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        form_values(text)


@given(st.text())
def test_any_text_gives_values_or_a_sentence(text: str) -> None:
    for body in (text, f"### GPU\n{text}", f"### Output\n\n```text\n{text}"):
        with suppress(InputError):
            assert form_values(body).keys() <= form_fields().keys()
