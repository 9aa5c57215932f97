"""Models installed on this machine, listed without opening their weights.

Looked for where Ollama, LM Studio, Hugging Face libraries and llama.cpp keep them.

References:
    [1] ollama/ollama, docs/faq.md (folders; OLLAMA_MODELS), manifest/manifest.go (their layout).
    [2] https://huggingface.co/docs/huggingface_hub/guides/manage-cache (layout; HF_HUB_CACHE).
    [3] ggml-org/llama.cpp, common/common.cpp, `fs_get_cache_directory` (LLAMA_CACHE).
    [4] https://lmstudio.ai/docs/app/basics/import-model (publisher/model/file).
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from advisor.permission import permitted

# Bounded walk through a folder that never leaves it.

MAX_ENTRIES = 20_000  # entries looked at below one folder; a collection of models has a few hundred
MAX_DEPTH = 6


class Walk:
    """Walk through the files below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()  # links are followed only where they end below it
        self.notes: list[str] = []  # what was skipped, in sentences
        self._left = MAX_ENTRIES

    def files(self, folder: Path, depth: int = MAX_DEPTH) -> Iterator[Path]:
        """Regular files below a folder, in the order of their names."""
        for entry in self._entries(folder):
            if self._is_folder(entry):
                if depth > 1:
                    yield from self.files(Path(entry.path), depth - 1)
            elif self.inside(Path(entry.path)):
                yield Path(entry.path)

    def folders(self, folder: Path) -> Iterator[Path]:
        """Folders directly in a folder; links to folders are left out, as they may lead in a
        circle.
        """
        return (Path(entry.path) for entry in self._entries(folder) if self._is_folder(entry))

    def inside(self, path: Path) -> bool:
        """Whether a path is a regular file below the root, links resolved."""
        try:
            real = path.resolve(strict=True)
            return real.is_file() and real.is_relative_to(self.root)
        except (OSError, RuntimeError):
            # A dangling or circular link, or a folder that may not be entered.
            return False

    def size(self, path: Path) -> int:
        """Size of a file; 0 where it cannot be read [B]."""
        try:
            return path.stat().st_size
        except OSError:
            return 0

    def text(self, path: Path, cap: int) -> str:
        """Small file's text, empty where it cannot be read or is larger than `cap` bytes."""
        try:
            if not self.inside(path) or path.stat().st_size > cap:
                return ""
            return path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            self.notes.append(f"{path} cannot be read and was skipped.")
            return ""

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        if self._left <= 0:
            return []
        try:
            with os.scandir(folder) as listing:
                entries = [entry for entry, _ in zip(listing, range(self._left), strict=False)]
        except FileNotFoundError:
            return []
        except OSError as error:
            self.notes.append(f"{folder} was skipped: {error.strerror}.")
            return []
        self._left -= len(entries)
        if self._left <= 0:
            self.notes.append(f"{self.root} has more than {MAX_ENTRIES:,} files; some are missing.")
        return sorted(entries, key=lambda entry: entry.name)

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError:
            return False


OLLAMA_WEIGHTS = "application/vnd.ollama.image.model"
OLLAMA_HOST = "registry.ollama.ai"
MANIFEST = 100_000
DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
LATER_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")
NOT_A_MODEL = ("mmproj", "ggml-vocab")
"""Beginnings of GGUF files that hold a vision tower or a vocabulary only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstalledModel:
    """Model on this machine."""

    name: str  # name in its program
    kind: str  # "Ollama", "LM Studio", "Hugging Face" or "llama.cpp"
    path: Path  # a GGUF file, or a folder with config.json
    size: int  # size of its weights, all parts of a split file together [B]


Look = Callable[[str, Walk], Iterator[InstalledModel]]
"""Function that finds the models of a kind below a folder."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """Models that were found, and sentences about files that were skipped."""

    models: tuple[InstalledModel, ...]
    notes: tuple[str, ...]


def survey(home: Path | None = None) -> Survey:
    """Models on this machine, and sentences about skipped files; none where its files are not
    read.
    """
    if not permitted().files:
        return Survey(models=(), notes=("Files of this machine are not read here.",))
    models: dict[Path, InstalledModel] = {}
    notes: list[str] = []
    for kind, look, root in _places(home):
        walk = Walk(root)
        for model in look(kind, walk):
            models.setdefault(model.path, model)
        notes += walk.notes
    return Survey(models=tuple(models.values()), notes=tuple(notes))


def _places(home: Path | None) -> Iterator[tuple[str, Look, Path]]:
    user = home or Path.home()
    environment: Mapping[str, str] = {} if home else os.environ
    ollama = [user / ".ollama/models"] + (
        [] if home else [Path("/usr/share/ollama/.ollama/models")]
    )
    for root in _chosen(environment, "OLLAMA_MODELS", ollama):
        yield "Ollama", _ollama, root
    for root in (user / ".lmstudio/models", user / ".cache/lm-studio/models"):
        yield "LM Studio", _files_and_folders, root
    hub = Path(environment.get("HF_HOME") or user / ".cache/huggingface") / "hub"
    for root in _chosen(environment, "HF_HUB_CACHE", [hub]):
        yield "Hugging Face", _hugging_face, root
    caches = [user / ".cache/llama.cpp", user / "Library/Caches/llama.cpp"]
    for root in _chosen(environment, "LLAMA_CACHE", caches):
        yield "llama.cpp", _files_and_folders, root


def _chosen(environment: Mapping[str, str], name: str, usual: list[Path]) -> list[Path]:
    if environment.get(name):
        return [Path(environment[name])]
    return usual


def _ollama(kind: str, walk: Walk) -> Iterator[InstalledModel]:
    """Models of Ollama, whose manifests name the blobs of weights:
    manifests/host/namespace/model/tag [1].
    """
    manifests = walk.root / "manifests"
    for path in walk.files(manifests):
        parts = path.relative_to(manifests).parts
        if len(parts) == 4:
            layer = _weights_layer(walk.text(path, MANIFEST))
        else:
            layer = None
        if layer is None:
            continue
        digest, size = layer
        blob = walk.root / "blobs" / f"sha256-{digest}"
        if walk.inside(blob):
            yield InstalledModel(name=_ollama_name(*parts), kind=kind, path=blob, size=size)


def _weights_layer(manifest: str) -> tuple[str, int] | None:
    try:
        layers = json.loads(manifest)["layers"]
        weights = [layer for layer in layers if layer["mediaType"] == OLLAMA_WEIGHTS]
        digest = DIGEST.fullmatch(weights[0]["digest"])
        return (digest[1], int(weights[0]["size"])) if digest else None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def _ollama_name(host: str, namespace: str, model: str, tag: str) -> str:
    if host != OLLAMA_HOST:
        return f"{host}/{namespace}/{model}:{tag}"
    if namespace == "library":
        return f"{model}:{tag}"
    return f"{namespace}/{model}:{tag}"


def _files_and_folders(kind: str, walk: Walk) -> Iterator[InstalledModel]:
    """GGUF files by their path, and folders that hold config.json beside safetensors."""
    files = list(walk.files(walk.root))
    yield from _gguf_files(kind, walk, files, walk.root)
    for path in files:
        if path.name == "config.json" and path.parent != walk.root:
            folder = path.parent
            yield from _checkpoint(kind, walk, str(folder.relative_to(walk.root)), folder, files)


def _hugging_face(kind: str, walk: Walk) -> Iterator[InstalledModel]:
    """models--owner--name/snapshots/commit, whose files are links into blobs [2]."""
    for folder in walk.folders(walk.root):
        if not folder.name.startswith("models--"):
            continue
        name = folder.name.removeprefix("models--").replace("--", "/")
        snapshot = _snapshot(walk, folder)
        if snapshot is not None:
            files = list(walk.files(snapshot))
            yield from _gguf_files(kind, walk, files, snapshot, name)
            if snapshot / "config.json" in files:
                yield from _checkpoint(kind, walk, name, snapshot, files)


def _snapshot(walk: Walk, folder: Path) -> Path | None:
    """Commit that `main` means, or the last one by name."""
    snapshots = list(walk.folders(folder / "snapshots"))
    main = walk.text(folder / "refs" / "main", MANIFEST).strip()
    return next(
        (snapshot for snapshot in snapshots if snapshot.name == main),
        snapshots[-1] if snapshots else None,
    )


def _gguf_files(
    kind: str, walk: Walk, files: Iterable[Path], root: Path, owner: str = ""
) -> Iterator[InstalledModel]:
    """Whole files, and the first of split ones with the size of all parts."""
    sizes: dict[Path, int] = {}
    for path in files:
        if path.suffix != ".gguf" or path.name.startswith(NOT_A_MODEL):
            continue
        first = path.with_name(LATER_PART.sub(r"-00001-of-\2.gguf", path.name))
        sizes[first] = sizes.get(first, 0) + walk.size(path)
    for path, size in sizes.items():
        if walk.inside(path):
            name = path.relative_to(root).as_posix()
            yield InstalledModel(
                name=f"{owner}/{name}" if owner else name, kind=kind, path=path, size=size
            )


def _checkpoint(
    kind: str, walk: Walk, name: str, folder: Path, files: Iterable[Path]
) -> Iterator[InstalledModel]:
    weights = [file for file in files if file.parent == folder and file.suffix == ".safetensors"]
    if weights:
        size = sum(walk.size(weight) for weight in weights)
        yield InstalledModel(name=name, kind=kind, path=folder, size=size)
