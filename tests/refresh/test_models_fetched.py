"""Models fetched from a Hub on this machine: twenty that nobody has seen, Hubs that misbehave."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from stand_in_hub import StandIn, running
from twenty_configs import ROPE, Unseen, hub_of, unseen
from twenty_more import twenty_more
from twenty_third import rank_of, twenty_third

from advisor.catalog import renewed
from advisor.cli.main import main
from advisor.errors import Refusal
from advisor.model import hub
from advisor.model.by_name.hub_list import TABLE, RenewedModelRow
from advisor.model.hub import Limits
from advisor.model.resolve import find
from advisor.refresh import models, renewal

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("ADVISOR_SOAK", "2"))
MODELS = unseen()
DESCRIBED = [model for model in MODELS if not model.refused]
OFFLINE = "ADVISOR_OFFLINE"


@pytest.fixture(autouse=True)
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(models, "PAUSE", 0.0)
    monkeypatch.setattr(hub, "LIMITS", Limits(seconds=5.0, retries=0, pause=0.01))
    for name in (OFFLINE, "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    renewal.forget()
    yield
    renewal.forget()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with running(hub_of(MODELS)) as held:
        monkeypatch.setenv("HF_ENDPOINT", held.url)
        yield held


def rows() -> dict[str, RenewedModelRow]:
    return {row.name: row for row in renewed.rows(TABLE, RenewedModelRow)}


def refreshed(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    code = main(["refresh", "models", *options])
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def test_twenty_models_that_nobody_has_seen_are_listed_and_answered(
    server: StandIn, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(MODELS) == 20
    code, told = refreshed(capsys)
    assert code == 0
    assert "20 rows kept; 20 new (meta-llama/Llama-9-Nano, " in told
    assert set(rows()) == {model.name for model in MODELS}
    assert all(row.source.startswith(server.url) and row.date for row in rows().values())
    # From here on without a network: as on a train, the day after.
    monkeypatch.setenv(OFFLINE, "1")
    for model in MODELS:
        command = ["estimate", "--model", model.name, "--gpu", "RTX 3090", "--ram-gb", "32"]
        code = main([*command, "--json"])
        printed = capsys.readouterr()
        if model.refused:
            assert code == 2
            assert model.refused in printed.err
        else:
            assert code == 0, printed.err
            assert any(each["decode_tps"] for each in json.loads(printed.out))


@pytest.mark.parametrize("model", DESCRIBED, ids=lambda model: model.name)
def test_each_has_its_true_bytes(model: Unseen, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(hub_of((model,))) as held:
        monkeypatch.setenv("HF_ENDPOINT", held.url)
        monkeypatch.setattr(models, "KINDS", ("text-generation",))
        assert main(["refresh", "models"]) == 0
    monkeypatch.setenv(OFFLINE, "1")
    answered = find(model.name, "BF16-hf").model
    assert answered.architecture.params == model.weights
    assert answered.file_bytes == 2 * model.weights


@pytest.mark.parametrize("further", [twenty_more(), twenty_third()], ids=["more", "third"])
def test_more_of_other_families_have_their_true_bytes(
    further: tuple[Unseen, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
) -> None:
    assert len(further) >= 20
    with running(hub_of(further)) as held:
        monkeypatch.setenv("HF_ENDPOINT", held.url)
        code, told = refreshed(capsys)
    assert code == 0
    assert f"{len(further)} rows kept" in told
    monkeypatch.setenv(OFFLINE, "1")
    for model in further:
        with subtests.test(model.name):
            answered = find(model.name, "BF16-hf").model
            assert answered.architecture.params == model.weights
            assert answered.file_bytes == 2 * model.weights
            command = ["estimate", "--model", model.name, "--gpu", "RTX 3090", "--ram-gb", "32"]
            assert main([*command, "--json"]) == 0
            assert any(row["decode_tps"] for row in json.loads(capsys.readouterr().out))


def test_entries_of_several_tokens_and_latent_ranks_by_layer_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with running(hub_of(twenty_third())) as held:
        monkeypatch.setenv("HF_ENDPOINT", held.url)
        assert main(["refresh", "models"]) == 0
    monkeypatch.setenv(OFFLINE, "1")
    plain, sparse, coarse, *_ = find("novel-lab/Pressed-1B").model.architecture.cache
    # a key of 64 values, and an index key of 32: one for each 4 or 16 tokens behind a window of 128
    assert (plain.key_values, plain.window) == (64, 128)
    assert (sparse.key_values, sparse.state_values) == ((64 + 32) // 4, 128 * 64 // 2)
    assert (coarse.key_values, coarse.value_values) == (64 // 16, 0)
    ranked = find("novel-lab/Ranked-1B").model.architecture.cache
    assert [layer.key_values for layer in ranked] == [rank_of(at) + ROPE for at in range(6)]


def test_names_that_say_less_find_them(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["refresh", "models"]) == 0
    monkeypatch.setenv(OFFLINE, "1")
    for text in ("llama 9 nano", "Llama-9-Nano-Q4_K_M.gguf", "LLAMA 9 NANO"):
        assert find(text).model.name == "meta-llama/Llama-9-Nano"


def test_layers_that_nobody_described_are_named_and_wider(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["refresh", "models"]) == 0
    monkeypatch.setenv(OFFLINE, "1")
    titan = find("novel-lab/Titan-1B")
    told = " ".join(titan.notes)
    assert "titan_memory" in told
    assert "Nobody has timed such layers" in told
    arch = titan.model.architecture
    # two of six layers attend: 2 key heads of 64 values, each with its values; the others keep a
    # state as wide as their output's 768 inputs times a head of 64
    assert [layer.key_values for layer in arch.cache] == [0, 0, 128, 0, 0, 128]
    assert arch.cache[0].state_values == 768 * 64
    assert "NovaForCausalLM" in " ".join(find("novel-lab/Nova").notes)


def test_a_second_run_asks_only_for_what_is_new(server: StandIn) -> None:
    assert main(["refresh", "models"]) == 0
    first = len(server.requested)
    server.configs["Qwen/Qwen10-Nano"] = server.configs["Qwen/Qwen9-Nano"]
    assert main(["refresh", "models"]) == 0
    again = server.requested[first:]
    paths = {path for path in again if "/revision/" in path or "/resolve/" in path}
    known = {model.name for model in MODELS if not model.refused}
    assert not [path for path in paths if any(f"/{name}/" in path for name in known)]
    assert any("Qwen10-Nano" in path for path in paths)
    assert len(rows()) == 21


def test_check_changes_nothing_and_undo_takes_the_last_back(
    server: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = refreshed(capsys, "--check")
    assert code == 0
    assert "20 rows found; 20 new" in told
    assert rows() == {}
    assert refreshed(capsys)[0] == 0
    code, told = refreshed(capsys, "--undo")
    assert code == 0
    assert "The last renewal is taken back." in told
    assert rows() == {}
    code, told = refreshed(capsys, "--undo")
    assert code == 2
    assert "nothing to take back" in told
    assert main(["refresh", "--check", "--undo"]) == 2


def test_a_token_and_another_host_are_honoured(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert main(["refresh", "models"]) == 0
    assert all(headers["authorization"] == "Bearer hf_secret" for headers in server.headers)


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[", b"[]", b"null", b'"x"', b"[1, 2]", b'[{"id": "../../etc/passwd"}]',
     b"[" + b'{"id": "a/b"},' * 2_000_000 + b"1]", b"[" * 100_000, b"\xff\xfe"],
    ids=range(11),
)  # fmt: skip
def test_a_broken_hostile_or_huge_list_changes_nothing(
    body: bytes, server: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refreshed(capsys)[0] == 0
    before = rows()
    server.listing = body
    code, told = refreshed(capsys)
    assert code == 2
    assert "The table stays as it is." in told
    assert "Traceback" not in told
    assert rows() == before


@pytest.mark.parametrize(
    "config",
    [b"", b"[]", b"nonsense", b'{"model_type": 5}', b'{"hidden_size": 1e400}', b"{" * 5000,
     b'{"model_type": "llama", "hidden_size": -4}', b'{"a": "' + b"x" * 300_000 + b'"}',
     b'{"model_type": "llama", "x": "' + b"y" * 2_000_000 + b'"}'],
    ids=range(9),
)  # fmt: skip
def test_a_hostile_repository_is_left_out_or_refused_and_others_stay(
    config: bytes,
    server: StandIn,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.configs["evil-lab/Evil-1B"] = config
    code, told = refreshed(capsys)
    assert code == 0
    assert len(rows()) >= 20
    monkeypatch.setenv(OFFLINE, "1")
    row = rows().get("evil-lab/Evil-1B")
    if row is None:
        assert "evil-lab/Evil-1B: " in told
    else:
        with pytest.raises(Refusal):
            find("evil-lab/Evil-1B")


def test_a_hub_that_goes_away_changes_nothing_and_is_gone_on_with(
    server: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    server.down_after = 6 + 2 * 7  # the lists, and seven models
    code, told = refreshed(capsys)
    assert code == 2
    assert "The table stays as it is." in told
    assert rows() == {}
    server.down_after = None
    before = len(server.requested)
    assert refreshed(capsys)[0] == 0
    assert len(rows()) == 20
    again = [path for path in server.requested[before:] if "/revision/" in path]
    assert len({path for path in again if "Llama-9-Nano/" in path}) == 0
    assert not (renewed.renewals(TABLE)[0].path.parent / models.JOURNAL).exists()


def test_time_that_is_over_is_a_sentence(
    server: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = refreshed(capsys, "--seconds", "0.000001")
    assert code == 2
    assert "0 of 20 new models were read" in told
    assert rows() == {}


def test_offline_it_says_the_dates(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OFFLINE, "1")
    code, told = refreshed(capsys, "--check")
    assert code == 0
    assert "models of the Hugging Face Hub, as shipped, of 2026-" in told
    assert "switched off" in told
    assert refreshed(capsys)[0] == 2
    assert main(["refresh", "nonsense"]) == 2


def test_a_damaged_journal_is_read_as_far_as_it_goes(server: StandIn) -> None:
    path = models.Journal(models.date(2026, 11, 28)).path
    path.parent.mkdir(parents=True)
    path.write_text('\n{"day": "2026-11-28", "name": "a/b", "row": {"x": 1}}\n{"day": "2026\n[]\n5')
    assert main(["refresh", "models"]) == 0
    assert len(rows()) == 20


def test_a_model_of_an_older_renewal_stands_beside_a_newer_list(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["refresh", "models"]) == 0
    table = dict(renewed.tables())
    monkeypatch.setattr(
        renewed, "tables", lambda: {**table, TABLE: replace(table[TABLE], read="2027-05-01")}
    )
    monkeypatch.setattr("advisor.model.by_name.hub_list.READ", "2027-05-01")
    renewal.forget()
    monkeypatch.setenv(OFFLINE, "1")
    assert find("Qwen/Qwen9-Nano").model.architecture.layers == 6


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no SIGKILL")
def test_a_killed_refresh_leaves_the_old_table_or_the_new(
    server: StandIn, record_property: Callable[[str, object], None]
) -> None:
    record_property("cases", KILLS)
    assert main(["refresh", "models"]) == 0
    before = set(rows())
    draw = random.Random(481)
    for kill in range(KILLS):
        name = f"Qwen/Qwen{20 + kill}-Nano"
        server.configs[name] = server.configs["Qwen/Qwen9-Nano"]
        program = subprocess.Popen(
            (sys.executable, "-m", "advisor", "refresh", "models"),
            cwd=ROOT,
            env={**os.environ, "HF_ENDPOINT": server.url},
            stdout=subprocess.DEVNULL,
        )
        timer = threading.Timer(draw.uniform(0.3, 2.5), program.send_signal, [signal.SIGKILL])
        timer.start()
        program.wait()
        timer.cancel()
        now = set(rows())
        assert before <= now
        assert now - before <= {f"Qwen/Qwen{20 + each}-Nano" for each in range(kill + 1)}
        before = now
