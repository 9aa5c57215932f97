"""A panel of people who ask how to use a machine: choice and sentence, by what experts would sign.

`README.md` beside this file says how an entry is read.
"""

import re
from collections import Counter

from panel_judge import NOTHING, Answer, Entry, advised, answer_of, entries, judge

QUESTIONS: list[Entry] = entries("use_questions.yaml")["questions"]
ENOUGH = 0.9  # share of answers that must be signed
ENOUGH_SPENT = 0.8  # share of those that spend money
MOST_SILENT = 0.5  # share that an adviser may reach who always says to buy nothing


def ask(question: Entry) -> tuple[Answer, str]:
    """The program's answer, and the sentence of its verdict."""
    words = ["--machine", question["machine"]] if "machine" in question else []
    for key, value in question["asks"].items():
        words += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    if "budget_usd" in question:
        words += ["--max-usd", str(question["budget_usd"])]
    printed, complaint = advised(*words)
    if printed is None:
        return Answer(kind="refused", name=complaint), complaint
    return answer_of(printed), printed["verdict"]


def unsaid(question: Entry, sentence: str) -> list[str]:
    """What the sentence lacks, and what it must not hold."""
    says = question.get("says", [])
    never = question.get("never", [])
    lacks = [f"lacks {part}" for part in says if not re.search(part, sentence, re.IGNORECASE)]
    holds = [f"holds {part}" for part in never if re.search(part, sentence, re.IGNORECASE)]
    return [*lacks, *holds]


def test_choice_and_sentence_are_what_an_expert_would_sign(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_DATABASE_URL", raising=False)
    counts: Counter[str] = Counter()
    spent: Counter[bool] = Counter()
    failing = []
    for question in QUESTIONS:
        answer, sentence = ask(question)
        verdict, because = judge(question, answer)
        wrong = unsaid(question, sentence)
        signed = verdict == "accepted" and not wrong
        counts["signed" if signed else verdict] += 1
        if answer.kind not in (NOTHING, "refused"):
            spent[signed] += 1
        if not signed:
            failing.append(
                f"{question['id']}, {verdict}: {question['question']}\n    -> {answer.kind} "
                f"{answer.name} (${answer.usd:,.0f}) {because} {wrong}\n    {sentence}"
            )
    report = f"{dict(counts)}, of those that spend {dict(spent)}\n" + "\n".join(failing)
    assert not counts["ruled out"], report
    assert counts["signed"] >= ENOUGH * len(QUESTIONS), report
    assert spent[True] >= ENOUGH_SPENT * spent.total(), report


def test_an_adviser_who_always_says_to_buy_nothing_fails():
    silent = Answer(kind=NOTHING)
    sentence = "Runs well. Keep what you have: nothing that you could buy repays its price."
    passed = [
        question["id"]
        for question in QUESTIONS
        if judge(question, silent)[0] == "accepted" and not unsaid(question, sentence)
    ]
    assert len(passed) <= MOST_SILENT * len(QUESTIONS), passed


def test_entries_are_whole():
    assert len({entry["id"] for entry in QUESTIONS}) == len(QUESTIONS) == 80
    for entry in QUESTIONS:
        assert entry["because"]
        assert entry["accepted"]
        for part in (*entry.get("says", []), *entry.get("never", [])):
            re.compile(part)
