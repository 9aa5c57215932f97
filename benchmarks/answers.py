"""Answers of the program to a few hundred drawn questions, compared with those before a change.

    python -m benchmarks.answers compare              with the kept ones, each tenth: `--every 10`
    python -m benchmarks.answers compare --base REV   with those of a commit, number by number
    python -m benchmarks.answers renew                keep today's answers; prints what moved
    python -m benchmarks.answers draw --seed N        keep other questions and their answers

Kept are a question, a hash of its answer and its headline figures, one line each, in
tests/samples/answers.tsv: so `make check` needs no second copy of the program, and a change that
moves answers shows them line by line. Every question names its machine, the clock stands still,
nothing is fetched, and numbers count to six digits, so an answer is the same on every computer.
"""

import argparse
import contextlib
import datetime as clock
import hashlib
import io
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tests" / "samples" / "answers.tsv"
TODAY = clock.datetime(2026, 11, 23, 12, tzinfo=clock.UTC)
SHOWN = 40  # most changed answers that are printed
DIGITS = 6  # significant digits that count; processors differ in the last ones of an exponential
HEADLINE = (
    "verdict", "sentence", "holds", "kind", "name", "runtime", "placement", "machine", "model",
    "format", "params", "weight_bytes", "kv_bytes", "memory_gib", "bandwidth_gbs", "decode_tps",
    "ttft_s", "monthly_usd", "tg_tps", "pp_tps", "bottleneck", "note", "reports",
)  # fmt: skip
"""Keys of an answer that its headline shows, where it has them."""
TRACEBACK = "a traceback"  # code of an answer that never came


class _OfAnyDate(type):
    """Every date and time counts as one of the class, as it did before the clock stood still."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type(TODAY))


class _Now(clock.datetime, metaclass=_OfAnyDate):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: clock.tzinfo | None = None) -> clock.datetime:  # type: ignore[override]
        """Noon of a fixed day."""
        return TODAY.astimezone(tz)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """No network, no clock, this computer as `usual_computer`, and nothing that its user keeps.

    To be entered before the program is imported, after libraries that are compiled against dates.
    """
    import pandas  # noqa: F401 - compiled against dates
    from streamlit.testing import v1  # noqa: F401 - imports more of them

    def refused(*_: object) -> None:
        raise OSError("A replayed question may not use the network.")

    sys.argv[0] = "advisor"
    clock.datetime = _Now  # type: ignore[misc]
    socket.socket.connect = refused  # type: ignore[method-assign]
    socket.getaddrinfo = refused  # type: ignore[assignment]
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ADVISOR_DATA_DIR": folder, "HOME": folder, "COLUMNS": "100"}
        os.chdir(folder)
        with usual_computer():
            yield
        os.chdir(before)


@contextlib.contextmanager
def usual_computer() -> Iterator[None]:
    """A stated computer without a graphics card in place of this one.

    `find` puts cards into the computer at hand, so its answers would differ between computers.
    """
    from advisor.probes import host
    from advisor.probes.gpu import detect

    stated = host.HostFacts(
        name="12th Gen Intel(R) Core(TM) i5-12400",
        cores=6,
        sockets=1,
        instruction_sets=frozenset({"avx2"}),
        memory_total=32 * 2**30,
        memory_available=30 * 2**30,
        llc=18 * 2**20,
        os="Linux",
        notes=(),
    )
    with (
        mock.patch.object(host, "facts", return_value=stated),
        mock.patch.object(host, "read_ahead", return_value=128 * 2**10),
        mock.patch.object(detect, "gpus", return_value=((), ())),
    ):
        yield


def answer(question: str) -> Any:
    """What the program says to the arguments of a command, with contents in place of files: JSON as
    values, other output as lines.
    """
    from advisor.permission import EVERYTHING, narrowed

    command, *rest = shlex.split(question)
    if command == "page":
        return page(*rest)
    # The pages let a server decide what this process may open; a command may open all.
    with narrowed(EVERYTHING):
        if command == "predict":
            return predicted(*rest)
        if rest[:1] == ["run"]:
            Path("scenario.yaml").write_text(rest[1], encoding="utf-8")
            return printed(command, "run", "scenario.yaml", *rest[2:])
        if rest[:1] == ["compare"]:
            return compared(rest[1:3], rest[3:])
        return printed(command, *rest)


def printed(*arguments: str) -> Any:
    """Output of a command, or its exit code and message."""
    from advisor.cli.main import main

    output = io.StringIO()
    errors = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
    if code == 2:
        return {"code": code, "error": errors.getvalue().splitlines()[-1:]}
    text = output.getvalue()
    if "--json" in arguments:
        return json.loads(text)
    return {"code": code, "text": text.splitlines()}


def predicted(table: str, number: str) -> Any:
    """Prediction of a published row."""
    import csv

    from advisor.catalog.csv_tables import DATA

    path = DATA / "measurements" / f"{table}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["id"] == number]
    if not rows:
        return {"error": [f"{table}.csv has no row {number}"]}
    with Path("rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return next(csv.DictReader(printed("predict", "rows.csv")["text"]))


def compared(questions: Iterable[str], options: Sequence[str]) -> Any:
    """Two answers saved as reports and put side by side."""
    before = os.environ["ADVISOR_DATA_DIR"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ADVISOR_DATA_DIR"] = folder
        for number, question in enumerate(questions):
            refused = printed("advise", *shlex.split(question), "--save", str(number))
            if "error" in refused:
                return refused
        answer = printed("report", "compare", "1", "2", *options)
    os.environ["ADVISOR_DATA_DIR"] = before
    return answer


def page(name: str, *parameters: str) -> list[str]:
    """Texts of a page."""
    from streamlit.testing.v1 import AppTest

    from advisor.catalog.csv_tables import DATA

    root = DATA.parent
    test = AppTest.from_file(str(root / "app.py"), default_timeout=120)
    test.switch_page(f"advisor/ui/pages/{name}.py")
    for key, _, value in (word.partition("=") for word in parameters):
        test.query_params[key] = value
    test.run()
    bodies = [element.proto.body for element in test.get("html")]
    markup = re.sub(r"(?s)<(style|script)\b.*?</\1>", "", "\n".join(bodies))
    tables = [table.value.to_csv() for table in test.dataframe]
    failed = [exception.message for exception in test.exception]
    texts = re.split(r"(?:<[^>]*>|\s*\n)+", markup)
    return [*failed, *filter(None, map(str.strip, texts)), *tables]


def rounded(value: Any) -> Any:
    """A value whose numbers have no more digits than count."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return value


def replayed(questions: Sequence[str]) -> dict[str, Any]:
    """Answers by question."""
    answers = {}
    for number, question in enumerate(questions, start=1):
        try:
            answers[question] = rounded(answer(question))
        except Exception as defect:  # noqa: BLE001 - the others are worth knowing, too
            answers[question] = {"code": TRACEBACK, "error": [repr(defect)]}
        if sys.stderr.isatty():
            print(f"\r{number} of {len(questions)}", end="", file=sys.stderr, flush=True)
    return answers


def kept_line(question: str, answer: Any) -> str:
    """Line of the kept file: question, hash and headline, between tabs."""
    text = json.dumps(answer, sort_keys=True)
    return "\t".join((question, hashlib.sha256(text.encode()).hexdigest()[:12], headline(answer)))


def digest(line: str) -> str:
    """Hash in a line of the kept file."""
    return line.split("\t")[1]


def headline(answer: Any) -> str:
    """A few words and numbers of an answer; of rows, those of the fastest."""
    if isinstance(answer, list):
        rows = [row for row in answer if isinstance(row, dict)]
        best = max(rows, key=lambda row: row.get("decode_tps") or 0.0, default=None)
        if best:
            return f"{len(answer)} rows; {headline(best)}"
        return _short(answer)
    keys = [key for key in HEADLINE if key in answer]
    shown = {key: answer[key] for key in keys} or answer
    return "; ".join(f"{key} {_short(value)}" for key, value in shown.items())


def _short(value: Any) -> str:
    """A value in at most 200 characters, texts without their title."""
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        value = " / ".join(value[2:5] or value)
    if isinstance(value, float):
        text = f"{value:.4g}"
    else:
        text = str(value)
    return " ".join(text.split())[:200]


def kept() -> dict[str, set[str]]:
    """Lines of the kept file by question; two of one after a merge, of which either may hold."""
    lines: dict[str, set[str]] = {}
    for line in KEPT.read_text(encoding="utf-8").splitlines():
        if "\t" in line:
            lines.setdefault(line.partition("\t")[0], set()).add(line)
    return lines


def compare(every: int) -> int:
    """Number of answers that are not the kept ones, each printed with its headline."""
    lines = {question: kept()[question] for question in sorted(kept())[::every]}
    return _told(
        {
            question: [*sorted(lines[question]), now]
            for question, answer in replayed(list(lines)).items()
            if digest(now := kept_line(question, answer)) not in map(digest, lines[question])
        },
        len(lines),
    )


def _told(changed: Mapping[str, Sequence[str]], count: int) -> int:
    print(f"{count - len(changed)} of {count} answers are the kept ones.")
    for question, (*before, now) in list(changed.items())[:SHOWN]:
        print(f"\n{question}")
        for line in before:
            print(f"  was {line.partition(chr(9))[2]}")
        print(f"  is  {now.partition(chr(9))[2]}")
    if len(changed) > SHOWN:
        print(f"\n... and {len(changed) - SHOWN} more")
    if changed:
        print("\nIf this is meant, say so in the commit: python -m benchmarks.answers renew")
    return len(changed)


def renew(questions: Sequence[str]) -> int:
    """Keep today's answers, and print those that moved."""
    before = kept()
    lines = {question: kept_line(question, now) for question, now in replayed(questions).items()}
    changed = {
        question: [*sorted(before.get(question, ())), line]
        for question, line in lines.items()
        if digest(line) not in map(digest, before.get(question, ()))
    }
    failed = [line for line in lines.values() if TRACEBACK in line]
    if failed:
        sys.exit("Not kept, since these have no answer:\n" + "\n".join(failed))
    KEPT.write_text("\n".join(sorted(lines.values())) + "\n", encoding="utf-8")
    _told(changed, len(lines))
    return 0


def compare_with(revision: str, every: int) -> int:
    """Number of answers that differ from those of a commit, with the values that do."""
    questions = sorted(kept())[::every]
    with tempfile.TemporaryDirectory() as folder:
        tree, wanted, told = (Path(folder) / name for name in ("tree", "questions", "answers"))
        subprocess.run(
            ["git", "worktree", "add", "-q", "--detach", str(tree), revision], check=True, cwd=ROOT
        )
        try:
            wanted.write_text(json.dumps(questions), encoding="utf-8")
            command = [sys.executable, "-P", __file__, "replay", str(wanted), str(told)]
            child = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(tree)})
            with alone():
                now = replayed(questions)
            if child.wait():
                sys.exit(f"{revision} could not be replayed.")
            before = json.loads(told.read_text(encoding="utf-8"))
        finally:
            subprocess.run(
                ["git", "worktree", "remove", "--force", str(tree)], check=True, cwd=ROOT
            )
    changed = [question for question in questions if before[question] != now[question]]
    print(f"{len(questions) - len(changed)} of {len(questions)} answers are those of {revision}.")
    for question in changed:
        print(f"\n{question}")
        for path, was, value in list(differences(before[question], now[question]))[:8]:
            print(f"  {path}: {str(was)[:90]!r} -> {str(value)[:90]!r}")
    return len(changed)


def differences(before: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Paths of values that differ, with both values."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            yield from differences(before.get(key), now.get(key), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(now, list):
        if len(before) != len(now):
            yield f"{path}: number of entries", len(before), len(now)
        for place, pair in enumerate(zip(before, now, strict=False)):
            yield from differences(*pair, f"{path}[{place}]")
    elif before != now:
        yield path or "all", before, now


def main() -> int:
    """Run one command."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    commands = parser.add_subparsers(dest="command", required=True)
    comparing = commands.add_parser("compare")
    comparing.add_argument("--base", metavar="REV")
    comparing.add_argument("--every", type=int, default=1, metavar="N")
    commands.add_parser("renew")
    commands.add_parser("draw").add_argument("--seed", type=int, required=True)
    replay = commands.add_parser("replay")
    replay.add_argument("questions", type=Path)
    replay.add_argument("answers", type=Path)
    args = parser.parse_args(sys.argv[1:] or ["compare"])
    began = time.monotonic()
    changed = _run(args)
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    return min(changed, 1)


def _run(args: argparse.Namespace) -> int:
    if args.command == "compare" and args.base:
        return compare_with(args.base, args.every)
    if args.command == "draw":
        from benchmarks.questions import Draw

        questions = Draw(args.seed).questions()
    with alone():
        if args.command == "replay":
            answers = replayed(json.loads(args.questions.read_text(encoding="utf-8")))
            args.answers.write_text(json.dumps(answers), encoding="utf-8")
            return 0
        if args.command == "compare":
            return compare(args.every)
        return renew(questions if args.command == "draw" else sorted(kept()))


if __name__ == "__main__":
    sys.exit(main())
