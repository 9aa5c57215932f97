"""Size of each folder of the program: files, lines of code, lines of docstrings.

Budgets only fall. A commit that raises one says which noun it adds; one that lowers a size lowers
its budget: `python tests/test_budgets.py` writes the table anew from the files.
"""

import argparse
import ast
import csv
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGETS = Path(__file__).parent / "samples" / "budgets.csv"
COLUMNS = ("folder", "files", "code", "docstrings", "unformatted")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(text: str) -> int:
    """Lines of the docstrings of a file, and of texts below the names that they explain."""
    explained = (
        statement.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, DOCUMENTED)
        for statement in node.body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
    return sum((words.end_lineno or 0) - words.lineno + 1 for words in explained)


def sizes() -> dict[str, Counter[str]]:
    """Sizes by folder; files of no folder are those of `advisor`."""
    counted: dict[str, Counter[str]] = {}
    for path in sorted((ROOT / "advisor").rglob("*.py")):
        inner = path.relative_to(ROOT / "advisor").parts
        folder = counted.setdefault(inner[0] if len(inner) > 1 else "advisor", Counter())
        text = path.read_text(encoding="utf-8")
        documented = docstring_lines(text)
        folder["files"] += 1
        folder["docstrings"] += documented
        folder["code"] += text.count("\n") - documented
        folder["unformatted"] += text.count("# fmt: skip")
    return counted


def write() -> None:
    """Write the sizes that are reached as budgets."""
    with BUDGETS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for folder, size in sorted(sizes().items()):
            writer.writerow([folder, *(size[column] for column in COLUMNS[1:])])


def test_no_folder_outgrows_its_budget() -> None:
    with BUDGETS.open(encoding="utf-8", newline="") as file:
        budgets = {row["folder"]: row for row in csv.DictReader(file)}
    over = [
        f"{folder}: {size[column]:,} {column}, allowed are {int(budgets[folder][column]):,}"
        if folder in budgets
        else f"{folder}: a new folder"
        for folder, size in sizes().items()
        for column in COLUMNS[1:]
        if folder not in budgets or size[column] > int(budgets[folder][column])
    ]
    assert not over, (
        "Delete as much as you add. Where a commit adds a noun, it says which, and raises the "
        "budget (python tests/test_budgets.py):\n" + "\n".join(over)
    )


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()  # refuses whatever is typed
    write()
