"""Reports as people send them: issues of the form, filled forms, results of tools alone."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.errors import InputError
from advisor.evidence.published.run_form import AGREE, OUTPUT, form_values, is_form
from advisor.probes.llama_cpp.printed_results import read as read_runs

LARGEST_FILE = 64_000_000  # file of issues or of a result [B]


@dataclass(frozen=True, kw_only=True)
class SentReport:
    """One report, as it came."""

    name: str  # issue or file that holds it
    sender: str  # account that sent it; empty where nobody said so
    address: str  # page on which it stands; empty for none
    day: str  # day on which it came (ISO 8601)
    text: str  # filled form, or what a tool wrote
    agreed: bool = False  # whether its sender agreed elsewhere to its publication

    def values(self) -> dict[str, str]:
        """Values of the form by field; of a tool's result alone, that as its output.

        Raises:
            InputError: neither a form nor a result of a known tool.
        """
        if is_form(self.text) or not self._is_result():
            values = form_values(self.text)
        else:
            values = {OUTPUT: self.text}
        if self.agreed:
            values[AGREE] = "yes"
        return values

    def _is_result(self) -> bool:
        try:
            return bool(read_runs(self.text))
        except InputError:
            return False


def reports_in(path: Path, *, sender: str = "", address: str = "") -> Iterator[SentReport]:
    """Reports of a file: of each issue in what `gh issue list --json
    number,author,url,createdAt,body` wrote, else of the file alone, which somebody published.
    """
    text = given_files.text(path, LARGEST_FILE)
    issues = _issues(text)
    if issues is not None:
        yield from map(_of_issue, issues)
        return
    yield SentReport(
        name=path.name,
        sender=sender,
        address=address,
        day=date.today().isoformat(),
        text=text,
        agreed=bool(sender and address),
    )


def _issues(text: str) -> list[Mapping[str, Any]] | None:
    """Issues of a JSON text; None where it is no list of them."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(rows, list) or not rows:
        return None
    if all(isinstance(row, dict) and {"number", "body"} <= row.keys() for row in rows):
        return rows
    return None


def _of_issue(issue: Mapping[str, Any]) -> SentReport:
    author = issue.get("author")
    return SentReport(
        name=f"issue {issue['number']}",
        sender=str(author.get("login", "")) if isinstance(author, dict) else "",
        address=str(issue.get("url") or ""),
        day=str(issue.get("createdAt") or "")[:10],
        text=str(issue["body"] or "").replace("\r\n", "\n"),
    )
