"""`runs`: results of tools, kept beside their predictions."""

import json
from pathlib import Path

import pytest
from result_samples import BENCHY, SERVE

from advisor import describe_machine, estimate
from advisor.cli.main import main
from advisor.evidence.accuracy.brought_runs import measured_by_others

MACHINE = ("--model", "Qwen3-8B", "--gpu", "RTX 3090", "--ram-gb", "64")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "kept"))


@pytest.fixture
def file(tmp_path: Path) -> str:
    """llama-benchy's sample, of 49.98 tokens/s."""
    path = tmp_path / "benchy.json"
    path.write_text(json.dumps(BENCHY))
    return str(path)


def test_a_run_is_kept_with_its_ratio_and_deleted(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "list"]) == 0
    assert "No run is kept" in capsys.readouterr().out
    main(["runs", "add", file, *MACHINE, "--by", "Ada", "--json"])
    run = json.loads(capsys.readouterr().out)
    assert (run["decode_tps"], run["by"], run["source"]) == (49.98, "Ada", "llama-benchy, test")
    assert run["ratio"] == pytest.approx(49.98 / run["predicted_tps"])
    main(["runs", "add", file, *MACHINE, "--by", "Ada"])  # the same again is kept once
    main(["runs", "list"])
    assert (
        capsys.readouterr().out.count("1. Qwen3-8B, Q4_K_M, on RTX 3090: 50 tokens/s by Ada") == 1
    )
    assert main(["runs", "delete", "2"]) == 2
    assert "There is no run 2; 1 are kept." in capsys.readouterr().err
    assert main(["runs", "delete", "1"]) == 0
    assert main(["runs", "list", "--json"]) == 0


def test_a_kept_run_stands_among_what_others_measured(file: str) -> None:
    answer = estimate("Qwen3-8B", describe_machine(gpu="RTX 3090", ram_gb=64))
    before = measured_by_others(answer)
    value = answer.decode
    main(["runs", "add", file, *MACHINE, "--by", "Ada"])
    after = measured_by_others(answer)
    assert after is not None
    assert after.runs == (before.runs if before else 0) + 1
    assert after.publishers == (before.publishers if before else 0) + 1
    assert after.low <= 49.98 <= after.high
    assert estimate("Qwen3-8B", answer.machine).decode == value  # shown, never fitted


def test_a_vllm_server_is_compared_with_vllm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "serve.json"
    path.write_text(json.dumps(SERVE))  # a token takes 40 ms
    words = ["--model", "Qwen3-8B", "--gpu", "H100 SXM", "--runtime", "vllm", "--users", "16"]
    main(["runs", "add", str(path), *words, "--json"])
    assert json.loads(capsys.readouterr().out)["decode_tps"] == pytest.approx(25)


@pytest.mark.parametrize("content", ["", "[]", "{}", "[[[", "null", '{"benchmarks": 3}'])
def test_another_file_is_refused_with_a_sentence(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    assert main(["runs", "add", str(path), *MACHINE]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["runs", "add", str(tmp_path), *MACHINE]) == 2
    assert main(["runs", "add", "/dev/zero", *MACHINE]) == 2


def test_a_long_name_is_refused(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "add", file, *MACHINE, "--by", "x" * 61]) == 2
    assert "61 characters; 60 are kept" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["x", "3", "[3]", '[{"by": "x"}]'])
def test_a_damaged_store_is_said_and_hides_no_answer(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "runs.json").write_text(content)
    assert main(["runs", "list"]) == 2
    assert "cannot be read" in capsys.readouterr().err
    measured_by_others(estimate("Qwen3-8B", describe_machine(gpu="RTX 3090", ram_gb=64)))
