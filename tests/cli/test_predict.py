"""`predict`: rows are answered as they are read, in their order, on several processes."""

import csv
import io
import subprocess
import sys
from collections import Counter
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest

from advisor.cli import predict
from advisor.cli.main import main
from advisor.evidence.published import predict as published
from advisor.evidence.published.row import ANSWERED, CATEGORIES

ROW = {
    "category": "resident", "runtime": "llama.cpp", "gpu": "RTX 3090", "model": "Llama-3.1-8B",
    "quant": "Q4_K_M",
}  # fmt: skip
EMPTY = dict.fromkeys(ANSWERED, "")
ROOT = Path(__file__).parents[2]


def table(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ("id", *ROW))
        writer.writeheader()
        writer.writerows(rows)
    return path


def answers(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_groups_of_rows_answered_by_processes_are_those_of_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ("Llama-3.1-8B", "Qwen3-32B", "Nobody", "Mistral-7B-v0.3")
    rows = [ROW | {"id": f"r{at}", "model": models[at % len(models)]} for at in range(90)]
    source = table(tmp_path / "rows.csv", rows)
    alone = tmp_path / "alone.csv"
    together = tmp_path / "together.csv"
    assert main(["predict", str(source), "-o", str(alone)]) == 0
    monkeypatch.setattr(predict, "TOGETHER", 20)
    monkeypatch.setattr(predict.os, "cpu_count", lambda: 2)
    assert main(["predict", str(source), "-o", str(together)]) == 0
    assert answers(together) == answers(alone)
    assert [answer["id"] for answer in answers(together)] == [row["id"] for row in rows]
    fitting = Counter(answer["fits"] for answer in answers(together))
    assert fitting == {"true": 68, "": 22}, "every fourth model is nobody's"


def test_a_line_that_is_no_row_is_answered_and_the_next_ones_too(tmp_path: Path) -> None:
    source = table(tmp_path / "rows.csv", [ROW | {"id": "a"}])
    with source.open("ab") as file:
        file.write(b'b,resident,llama.cpp,RTX 3090,"' + b"x" * 200_000 + b'",Q4_K_M\n')
        file.write(b"c,resident,llama.cpp,RTX 3090,Llama\xff-3.1-8B,Q4_K_M\n")
        file.write(b"d,resident,llama.cpp,RTX 3090,Llama-3.1-8B,Q4_K_M\n")
    target = tmp_path / "out.csv"
    assert main(["predict", str(source), "-o", str(target)]) == 0
    known = {row["id"]: row["tg_tps"] for row in answers(target)}
    assert known["a"] == known["d"] != ""
    assert known["c"] == "" or known["c"] == known["a"]


def test_columns_and_words_that_are_read_stand_in_the_help(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["predict", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for word in (*CATEGORIES, "model_size_gib", "n_cpu_moe"):
        assert word in text


def test_a_table_without_categories_is_answered(tmp_path, capsys) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("id,model,quant,gpu\n1,Llama-3.1-8B,Q4_K_M,RTX 3090\n2,Llama-3.1-8B,Q4_K_M,\n")
    assert main(["predict", str(rows)]) == 0
    resident, alone = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert float(resident["tg_tps"]) > 3 * float(alone["tg_tps"]) > 0


def test_what_hands_out_rows_has_no_numpy():
    code = (
        "import sys; from advisor.cli import parser, predict; "
        "parser.parsed(['predict', 'rows.csv']); assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=60)


def test_rows_of_a_process_that_ended_are_answered_all_the_same(monkeypatch):
    class Ended:
        def submit(self, answer, group, known):
            raise BrokenExecutor("a process was ended")

    monkeypatch.setattr(
        predict,
        "_predictions",
        lambda group, _: [EMPTY | {"id": row["id"], "tg_tps": row["model"]} for row in group],
    )
    ids = ((0, 1), (2, 3), (4,))
    groups = [[{"id": str(at), "model": f"of {at}"} for at in each] for each in ids]
    answered = list(predict._in_turn(Ended(), groups, 2, predict.Answers({})))
    assert [answer["tg_tps"] for answer in answered] == [f"of {at}" for at in range(5)]
    assert [answer["id"] for answer in answered] == ["0", "1", "2", "3", "4"]


def test_a_table_that_repeats_its_rows_asks_for_each_once(monkeypatch):
    sent: list[str] = []

    def answered(group, _):
        sent.extend(row["model"] for row in group)
        return [EMPTY | {"tg_tps": row["model"]} for row in group]

    monkeypatch.setattr(predict, "_predictions", answered)
    monkeypatch.setattr(predict, "TOGETHER", 3)
    monkeypatch.setattr(predict.os, "cpu_count", lambda: 1)
    rows = [{"id": str(at), "model": f"of {at % 4}"} for at in range(20)]
    answers = list(predict._answered(iter(rows), {}))
    assert [answer["id"] for answer in answers] == [row["id"] for row in rows]
    assert [answer["tg_tps"] for answer in answers] == [row["model"] for row in rows]
    assert sorted(sent) == [f"of {at}" for at in range(4)]
    # What was forgotten is sent again.
    monkeypatch.setattr(predict, "KEPT", 1)
    again = list(predict._answered(iter(rows), {}))
    assert [answer["tg_tps"] for answer in again] == [row["model"] for row in rows]


def test_rows_that_state_the_same_are_answered_once_under_their_ids(monkeypatch):
    computed: list[str] = []

    def answer(row, _):
        computed.append(row.model)
        return {"id": "", "tg_tps": row.model}

    monkeypatch.setattr(published, "answer", answer)
    models = ["first", "second", "first", "second", "third", "second", "first"]
    rows = [{"id": f"{at} {model}", "model": model} for at, model in enumerate(models)]
    try:
        answered = list(published.predictions(rows))
    finally:
        published._answered.cache_clear()
    assert computed == ["first", "second", "third"]
    assert [f"{row['id']} {row['tg_tps']}" for row in answered] == [
        f"{at} {model} {model}" for at, model in enumerate(models)
    ]


RUN = ROW | {"machine": "mine", "model": "Qwen3-8B", "tg_tps": "90"}


def taught(tmp_path: Path, rows: list[dict[str, str]], runs: list[dict[str, str]]) -> list[float]:
    """Speeds that are predicted for rows with known runs."""
    for name, cells in (("rows", rows), ("runs", runs)):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ("id", "machine", *ROW, "tg_tps", "pp_tps"))
            writer.writeheader()
            writer.writerows(cells)
    out = tmp_path / "out.csv"
    words = ["predict", str(tmp_path / "rows.csv"), "--known", str(tmp_path / "runs.csv")]
    assert main([*words, "-o", str(out)]) == 0
    return [float(answer["tg_tps"]) for answer in answers(out)]


def test_known_runs_teach_rows_of_the_same_machine_and_no_other(tmp_path: Path) -> None:
    mine, theirs, nobodys = taught(
        tmp_path, [ROW | {"machine": name} for name in ("mine", "theirs", "")], [RUN]
    )
    assert mine < theirs == nobodys, "the run is slower than predicted"
    faster, same, _ = taught(
        tmp_path,
        [ROW | {"machine": name} for name in ("mine", "theirs", "")],
        [RUN | {"tg_tps": "140"}],
    )
    assert faster > same == theirs


def test_known_runs_teach_on_every_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [ROW | {"machine": "mine" if at % 2 else "theirs"} for at in range(12)]
    alone = taught(tmp_path, rows, [RUN])
    monkeypatch.setattr(predict, "TOGETHER", 4)
    monkeypatch.setattr(predict.os, "cpu_count", lambda: 2)
    assert taught(tmp_path, rows, [RUN]) == alone
    assert alone[1] < alone[0]


def test_runs_that_teach_nothing_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taught(
        tmp_path, [ROW], [RUN, RUN | {"id": "a", "machine": ""}, RUN | {"id": "b", "tg_tps": ""}]
    )
    told = capsys.readouterr().err
    assert "Run a teaches nothing: the column machine is empty" in told
    assert "Run b teaches nothing: it has no speed" in told


def test_a_file_without_a_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = table(tmp_path / "rows.csv", [ROW])
    runs = table(tmp_path / "runs.csv", [ROW])
    assert main(["predict", str(rows), "--known", str(runs)]) == 2
    assert "holds no run that teaches anything" in capsys.readouterr().err


def test_columns_that_nothing_reads_and_apps_that_run_an_engine_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "rows.csv"
    row = ROW | {"runtime": "KoboldCpp", "draft": "mtp", "kv_cache": "q8_0"}
    with source.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, tuple(row))
        writer.writeheader()
        writer.writerow(row)
    assert main(["predict", str(source)]) == 0
    printed = capsys.readouterr()
    assert "Columns that are not read: kv_cache." in printed.err
    assert "KoboldCpp is answered as llama.cpp" in printed.out
    assert "its column draft (mtp) is not counted" in printed.out


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("model,model,gpu\nPhi-4,Qwen3-8B,RTX 3090\n", "has the column 'model' twice"),
        ("model;gpu\nPhi-4;RTX 3090\n", "separated by ';': save it with commas"),
        ("model\tgpu\nPhi-4\tRTX 3090\n", "save it with commas"),
    ],
)
def test_a_table_whose_columns_cannot_be_told_is_refused(
    text: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two columns of a name the last was taken in silence."""
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8")
    assert main(["predict", str(path)]) == 2
    assert sentence in capsys.readouterr().err
