"""Models found in folders as Ollama, LM Studio, Hugging Face and llama.cpp lay them out."""

import json
import os
from pathlib import Path

import pytest

from advisor.model import installed
from advisor.model import installed as folder_walk
from advisor.model.installed import InstalledModel, survey

DIGEST = "a" * 64
WEIGHTS = "application/vnd.ollama.image.model"


def write(path: Path, size: int = 4) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"G" * size)
    return path


def link(path: Path, target: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.symlink_to(target)
    except OSError:
        pytest.skip("this system lets nobody make links")
    return path


def manifest(home: Path, name: str, digest: str = DIGEST, size: int = 9) -> Path:
    path = home / ".ollama/models/manifests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    layers = [
        {"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:x", "size": 1},
        {"mediaType": WEIGHTS, "digest": f"sha256:{digest}", "size": size},
    ]
    path.write_text(json.dumps({"schemaVersion": 2, "layers": layers}))
    return path


def ollama_blob(home: Path, digest: str = DIGEST) -> Path:
    return write(home / ".ollama/models/blobs" / f"sha256-{digest}", 9)


def hub_model(home: Path, owner: str, name: str, commit: str, *files: str) -> Path:
    folder = home / ".cache/huggingface/hub" / f"models--{owner}--{name}"
    for number, file in enumerate(files):
        blob = write(folder / "blobs" / f"{commit}{number}", 5)
        link(folder / "snapshots" / commit / file, blob)
    return folder


def names(home: Path) -> list[str]:
    return [model.name for model in installed.survey(home).models]


def test_nothing_installed(tmp_path: Path) -> None:
    assert survey(tmp_path) == installed.Survey(models=(), notes=())


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("registry.ollama.ai/library/qwen3/8b", "qwen3:8b"),
        ("registry.ollama.ai/someone/their-model/latest", "someone/their-model:latest"),
        ("hf.co/bartowski/Qwen3-8B-GGUF/Q4_K_M", "hf.co/bartowski/Qwen3-8B-GGUF:Q4_K_M"),
    ],
)
def test_ollama(tmp_path: Path, path: str, name: str) -> None:
    manifest(tmp_path, path)
    blob = ollama_blob(tmp_path)
    assert installed.survey(tmp_path).models == (
        InstalledModel(name=name, kind="Ollama", path=blob, size=9),
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "not json", '{"layers": [7]}', '{"layers": {"a": 1}}', "[" * 10_000),
        json.dumps({"layers": [{"mediaType": WEIGHTS, "digest": "../../etc/passwd", "size": 1}]}),
        json.dumps({"layers": [{"mediaType": WEIGHTS, "digest": 5, "size": 1}]}),
        json.dumps({"layers": []}),
        "x" * 200_000,
    ],
)
def test_damaged_manifests_are_passed_over(tmp_path: Path, text: str) -> None:
    ollama_blob(tmp_path)
    manifest(tmp_path, "registry.ollama.ai/library/qwen3/8b").write_text(text)
    assert names(tmp_path) == []


def test_a_manifest_without_its_blob(tmp_path: Path) -> None:
    manifest(tmp_path, "registry.ollama.ai/library/qwen3/8b")
    assert names(tmp_path) == []


def test_two_tags_of_one_blob_are_one_model(tmp_path: Path) -> None:
    ollama_blob(tmp_path)
    manifest(tmp_path, "registry.ollama.ai/library/qwen3/8b")
    manifest(tmp_path, "registry.ollama.ai/library/qwen3/latest")
    assert names(tmp_path) == ["qwen3:8b"]


@pytest.mark.parametrize("folder", [".lmstudio/models", ".cache/lm-studio/models"])
def test_lm_studio(tmp_path: Path, folder: str) -> None:
    path = write(tmp_path / folder / "lmstudio-community/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf", 7)
    write(path.with_name("mmproj-model-f16.gguf"))
    write(path.with_name("README.md"))
    assert installed.survey(tmp_path).models == (
        InstalledModel(
            name="lmstudio-community/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf",
            kind="LM Studio",
            path=path,
            size=7,
        ),
    )


def test_lm_studio_folders_of_safetensors(tmp_path: Path) -> None:
    folder = tmp_path / ".lmstudio/models/mlx-community/Qwen3-8B-4bit"
    write(folder / "config.json")
    write(folder / "model-00001-of-00002.safetensors", 5)
    write(folder / "model-00002-of-00002.safetensors", 6)
    (model,) = installed.survey(tmp_path).models
    assert (model.name, model.path, model.size) == ("mlx-community/Qwen3-8B-4bit", folder, 11)


def test_parts_of_a_split_file_are_one_model(tmp_path: Path) -> None:
    folder = tmp_path / ".cache/llama.cpp"
    first = write(folder / "big-Q4_K_M-00001-of-00003.gguf", 1)
    write(folder / "big-Q4_K_M-00002-of-00003.gguf", 10)
    write(folder / "big-Q4_K_M-00003-of-00003.gguf", 100)
    (model,) = installed.survey(tmp_path).models
    assert (model.path, model.size, model.kind) == (first, 111, "llama.cpp")


def test_later_parts_alone_are_no_model(tmp_path: Path) -> None:
    write(tmp_path / ".cache/llama.cpp/big-00002-of-00003.gguf")
    assert names(tmp_path) == []


def test_hugging_face_snapshots(tmp_path: Path) -> None:
    folder = hub_model(tmp_path, "Qwen", "Qwen3-8B", "c1", "config.json", "model.safetensors")
    (model,) = installed.survey(tmp_path).models
    assert model == InstalledModel(
        name="Qwen/Qwen3-8B", kind="Hugging Face", path=folder / "snapshots/c1", size=5
    )


def test_hugging_face_gguf_files(tmp_path: Path) -> None:
    hub_model(tmp_path, "unsloth", "Qwen3-8B-GGUF", "c1", "Qwen3-8B-Q4_K_M.gguf", "UD/a.gguf")
    assert sorted(names(tmp_path)) == [
        "unsloth/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf",
        "unsloth/Qwen3-8B-GGUF/UD/a.gguf",
    ]


def test_the_snapshot_that_main_means(tmp_path: Path) -> None:
    for commit in ("c1", "c2", "c3"):
        files = ("config.json", "model.safetensors")
        folder = hub_model(tmp_path, "Qwen", "Qwen3-8B", commit, *files)
    (folder / "refs").mkdir()
    (folder / "refs/main").write_text("c2")
    (model,) = installed.survey(tmp_path).models
    assert model.path.name == "c2"


def test_a_tokenizer_alone_is_no_model(tmp_path: Path) -> None:
    hub_model(tmp_path, "Qwen", "Qwen3-8B", "c1", "config.json", "tokenizer.json")
    assert names(tmp_path) == []


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "elsewhere/secret.gguf")
    link(tmp_path / ".cache/llama.cpp/model.gguf", outside)
    link(tmp_path / ".lmstudio/models/publisher", outside.parent)
    folder = hub_model(tmp_path, "a", "b", "c1", "config.json")
    link(folder / "snapshots/c1/model.gguf", outside)
    assert names(tmp_path) == []


def test_circular_links_end(tmp_path: Path) -> None:
    folder = tmp_path / ".lmstudio/models/publisher"
    write(folder / "model/a.gguf")
    link(folder / "model/again", folder)
    link(folder / "model/self.gguf", folder / "model/self.gguf")
    assert names(tmp_path) == ["publisher/model/a.gguf"]


def test_deep_folders_are_not_entered(tmp_path: Path) -> None:
    write(tmp_path / ".lmstudio/models" / "/".join("abcdefghij") / "deep.gguf")
    assert names(tmp_path) == []


def test_many_files_are_bounded_and_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_walk, "MAX_ENTRIES", 5)
    for number in range(20):
        write(tmp_path / f".cache/llama.cpp/{number:02}.gguf")
    outcome = survey(tmp_path)
    assert len(outcome.models) == 5
    assert "more than 5 files" in " ".join(outcome.notes)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root and Windows read it all")
def test_unreadable_folders_are_noted(tmp_path: Path) -> None:
    locked = tmp_path / ".lmstudio/models/locked"
    write(locked / "a.gguf")
    write(locked.with_name("open") / "b.gguf")
    locked.chmod(0)
    try:
        outcome = survey(tmp_path)
    finally:
        locked.chmod(0o700)
    assert [model.name for model in outcome.models] == ["open/b.gguf"]
    assert "locked" in " ".join(outcome.notes)


def test_a_folder_that_refuses_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / ".lmstudio/models/locked/a.gguf")
    write(tmp_path / ".cache/llama.cpp/b.gguf")
    real = os.scandir

    def scandir(path: Path) -> object:
        if "locked" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    outcome = survey(tmp_path)
    assert [model.name for model in outcome.models] == ["b.gguf"]
    assert "Permission denied" in " ".join(outcome.notes)


def test_the_environment_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "nobody")
    for variable in ("OLLAMA_MODELS", "HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    manifest(tmp_path, "registry.ollama.ai/library/qwen3/8b")
    ollama_blob(tmp_path)
    (tmp_path / ".ollama/models").rename(tmp_path / "OLLAMA_MODELS")
    write(tmp_path / "LLAMA_CACHE/a.gguf")
    write(tmp_path / "HF_HUB_CACHE/models--o--n/snapshots/c/b.gguf")
    names = {model.name for model in installed.survey().models}
    assert {"qwen3:8b", "a.gguf", "o/n/b.gguf"} <= names


def test_a_given_home_overrules_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "other/a.gguf")
    monkeypatch.setenv("LLAMA_CACHE", str(tmp_path / "other"))
    assert names(tmp_path / "home") == []
