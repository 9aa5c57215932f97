"""A panel of buyers: their questions, answered by the command line, judged by what builders sign.

`README.md` beside this file says how an entry is read.
"""

from collections import Counter

from panel_judge import (
    NOTHING,
    PANEL,
    Answer,
    Entry,
    advised,
    answer_of,
    judge,
    matches,
    ruled_out,
    run,
)

QUESTIONS: list[Entry] = PANEL["questions"]
ENOUGH = 0.9  # share of safe choices that must be accepted


def misread(question: Entry) -> str:
    """What the program takes the machine's words for, where it is not what the buyer has."""
    machine, complaint = run("machine", question["machine"])
    if machine is None:
        return complaint
    read = {
        "gpu": next(iter(machine["gpus"]), None),
        "count": machine["count"],
        "cpu": machine["cpu"],
        "ram_gb": machine["ram_gib"],
    }
    wrong = {key: read[key] for key, value in question["parts"].items() if read[key] != value}
    if wrong:
        return f"misread as {wrong}"
    return ""


def ask(question: Entry) -> Answer:
    """The program's answer."""
    asks = [text for key, value in question["asks"].items() for text in (f"--{key}", str(value))]
    printed, complaint = advised("--machine", question["machine"], *asks)
    if printed is None:
        return Answer(kind="refused", name=complaint)
    return answer_of(printed)


def test_the_safe_choice_is_what_a_builder_would_sign(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_DATABASE_URL", raising=False)
    counts: Counter[str] = Counter()
    failing = []
    for question in QUESTIONS:
        answer = ask(question)
        wrong = misread(question)
        verdict, because = ("misread", wrong) if wrong else judge(question, answer)
        counts[verdict] += 1
        if verdict != "accepted":
            failing.append(
                f"{question['id']}, {verdict}: {question['question']}\n    -> {answer.kind} "
                f"{answer.name} (${answer.usd:,.0f}{', another named' if answer.named else ''})"
                f" {because}"
            )
    report = f"{dict(counts)}\n" + "\n".join(failing)
    assert not counts["ruled out"], report
    assert counts["accepted"] >= ENOUGH * len(QUESTIONS), report


# ------------------------------------------------------------------------------- the judge


def entry_of(name: str) -> Entry:
    return next(entry for entry in QUESTIONS if entry["id"] == name)


def printed(kind: str | None, name: str = "", usd: float = 0.0, tps: float | None = None) -> Entry:
    """JSON of `advise` with a safe choice, and another model of a speed."""
    return {
        "safe_choice": kind and {"kind": kind, "name": name, "upfront_usd": usd},
        "safe_choice_reason": "",
        "another_model": tps and {"name": "Gemma-3-27B", "decode_tps": tps},
        "runtime": "llama.cpp",
    }


def test_hand_made_answers_are_judged():
    cases = [
        # name, JSON, verdict
        ("g24-70b", printed("add", "RTX 3090", 990), "accepted"),
        ("g24-70b", printed("replace", "2x RTX 3090", 1980), "accepted"),
        ("g24-70b", printed(None, tps=35.0), "accepted"),
        ("g24-70b", printed("change", "IQ2_M"), "accepted"),  # free, and named
        ("g24-70b", printed(None, tps=2.0), "neutral"),  # a model too slow to read helps nobody
        ("g24-70b", printed(None), "neutral"),
        ("g24-70b", printed("change", "128 GB DDR4", 400), "neutral"),
        ("g24-70b", printed("replace", "4x Arc B580", 485), "ruled out"),
        ("g24-70b", printed("replace", "RTX 5090", 3100), "ruled out"),
        ("g24-70b", printed("add", "2x RTX 3090 + RTX 3060", 2400), "ruled out"),
        ("g24-70b", printed("add", "RX 7900 XTX", 780), "ruled out"),
        ("g24-70b", printed("add", "Tesla P40", 170), "ruled out"),
        ("g24-70b", printed("api", "Llama-3.3-70B, together"), "ruled out"),
        ("g24-27b", printed("keep", "RTX 4090"), "accepted"),
        ("g24-27b", printed("replace", "RTX 5090", 3100), "neutral"),
        ("g12-oss120", printed("change", "64 GB of RAM", 400), "accepted"),
        ("g12-oss120", printed("replace", "RTX 3090", 990), "ruled out"),
        ("o-rebar", printed("add", "RTX 3060 12GB", 470), "accepted"),
        ("o-rebar", printed("add", "RTX 3090", 990), "neutral"),  # dearer than the buyer can pay
        ("o-rebar", printed("add", "Arc B580", 240), "ruled out"),
        ("o-slim", printed("add", "RTX 2000 Ada", 625), "accepted"),
        ("o-slim", printed("add", "RTX 3060 12GB", 470), "ruled out"),
        ("t-mini8-27b", printed("machine", "Mac Studio M4 Max 64GB", 2900), "accepted"),
        ("t-mini8-27b", printed("machine", "Mac mini M4 16GB", 599), "ruled out"),
        ("t-mini8-27b", printed("add", "RTX 3090", 990), "ruled out"),
        ("u10-cpu", printed("add", "L40S", 6200), "accepted"),  # a rack server blows through it
        ("c-p4d-8b", printed("rent", "g5.xlarge"), "accepted"),
        ("c-p4d-8b", printed("keep", "p4d.24xlarge"), "ruled out"),
    ]
    judged = [(name, judge(entry_of(name), answer_of(answer))[0]) for name, answer, _ in cases]
    assert judged == [(name, verdict) for name, _, verdict in cases]


def test_a_refusal_is_judged_by_its_words():
    windows = entry_of("g24-vllm-windows")
    refusal = Answer(kind="refused", name="vLLM runs on Linux, or on Windows within WSL.")
    assert judge(windows, refusal)[0] == "accepted"
    assert judge(windows, Answer(kind="refused", name="No such runtime."))[0] == "neutral"
    assert judge(windows, Answer(kind=NOTHING, runtime="vLLM"))[0] == "ruled out"
    in_linux = Answer(kind=NOTHING, name="vLLM in WSL2", runtime="vLLM")
    assert judge(windows, in_linux)[0] == "accepted", "its source names WSL as the way"
    assert judge(windows, Answer(kind=NOTHING, runtime="llama.cpp"))[0] == "accepted"


def test_an_adviser_who_always_says_the_same_fails():
    same = [
        printed(None), printed(None, tps=30.0), printed("add", "RTX 3090", 990),
        printed("replace", "RTX PRO 6000 Blackwell", 9300), printed("rent", "RTX 4090"),
        printed("machine", "Mac Studio M3 Ultra 96GB", 5300), printed("api", "together"),
    ]  # fmt: skip
    for answer in map(answer_of, same):
        verdicts = [judge(entry, answer)[0] for entry in QUESTIONS]
        passes = verdicts.count("accepted") >= ENOUGH * len(verdicts) and (
            "ruled out" not in verdicts
        )
        assert not passes, answer


def test_entries_are_whole():
    """Three sets of questions over all classes; a source that exists for each answer and rule."""
    classes = Counter(entry["class"] for entry in QUESTIONS)
    nothing = [
        entry
        for entry in QUESTIONS
        if all(pattern["kind"] == NOTHING for pattern in entry["accepted"])
    ]
    assert len({entry["id"] for entry in QUESTIONS}) == len(QUESTIONS) == 109
    assert set(classes) == set(PANEL["classes"])
    assert len(classes) >= 10
    assert len(nothing) >= 15
    used = [
        (entry["id"], source)
        for entry in QUESTIONS
        for part in (entry, *entry.get("ruled_out", []))
        for source in part.get("sources", [])
    ]
    rules = PANEL["rules"].items()
    used += [(name, source) for name, rule in rules for source in rule.get("sources", [])]
    assert [pair for pair in used if pair[1] not in PANEL["sources"]] == []
    assert {entry["id"] for entry in QUESTIONS if not entry["sources"]} == set()
    assert set(PANEL["sources"]) == {source for _, source in used}
    pages = [source["page"] for source in PANEL["sources"].values()]
    assert [page for page in pages if not page.startswith("https://") or "search?" in page] == []
    for entry in QUESTIONS:  # every pattern has keys that the judge knows, and compiles
        for pattern in (*entry["accepted"], *(pattern for pattern, _ in ruled_out(entry))):
            matches(pattern, Answer(kind="add", name="RTX 3090"))
