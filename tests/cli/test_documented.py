"""Commands in the documents: all are understood, those of README and docs/doors.md are run."""

import json
import re
import shlex
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.cli.parser import COMMANDS, named_first, parsed
from tests.helpers.result_samples import BENCH

ROOT = Path(__file__).parents[2]
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").replace("\\\n", "")
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))
}
STARTS = r"(?:python -m advisor|offload-advisor)\b"
LINES = {
    document: re.findall(rf"^ *{STARTS} *(.*)$", text, re.MULTILINE)
    for document, text in TEXTS.items()
}
"""Commands on lines of their own, by document."""
WAITING = ("watch", "probe", "mcp", "--help")
"""Commands that need a server, measure for seconds, or do not come back."""


def words_of(line: str) -> list[str]:
    return shlex.split(line, comments=True)


def test_every_command_of_every_document_is_understood() -> None:
    assert sum(map(len, LINES.values())) > 20
    for document, lines in LINES.items():
        for line in lines:
            words = words_of(line.partition(" > ")[0])
            if words and words != ["--help"]:
                assert parsed(words), f"{document}: {line}"
        quoted = re.findall(rf"`{STARTS} ([^`]+)`", TEXTS[document])
        # A machine in quotes and a model stand without the name of a command.
        named = {named_first(shlex.split(each))[0] for each in quoted}
        assert named <= {row.command.split()[0] for row in COMMANDS}, document


@pytest.mark.parametrize("document", ["README.md", "docs/doors.md"])
def test_commands_answer_as_they_stand(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "data"))
    promised = re.search(r"^    models: .*\n(?:    .*\n)+", TEXTS["docs/doors.md"], re.MULTILINE)
    assert promised
    Path("FILE.yaml").write_text(re.sub("^    ", "", promised[0], flags=re.MULTILINE))
    # Results are kept of the model that they name, and the documents name Qwen3-8B.
    ran = {"model_type": "qwen3 8B Q4_K - Medium", "model_filename": "Qwen3-8B-Q4_K_M.gguf"}
    Path("FILE.json").write_text(json.dumps([BENCH | ran]))
    lines = [line for line in LINES[document] if not line.startswith(WAITING)]
    assert len(lines) >= 4
    for line in lines:
        command, _, file = line.partition(" > ")
        assert main(words_of(command)) == 0, line
        text = capsys.readouterr().out
        assert text.strip(), line
        if file:
            Path(file).write_text(text)
