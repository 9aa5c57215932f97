"""Model of a Hugging Face repository, from its config.json and weight files.

Nothing is executed and no weights are loaded; `RemoteFile` reads the beginning of GGUF files.
"""

from dataclasses import replace
from pathlib import PurePosixPath

from advisor.errors import InputError
from advisor.model.config.read import describe
from advisor.model.hub.client import endpoint
from advisor.model.hub.repository import Repository, json_object, repository, small_file
from advisor.model.model import Described

UNPACKED = ("BF16-hf", "FP8")
"""Formats whose checkpoints count one number per weight; packed ones count words of several."""
TOLERANCE = 0.005
QUANTIZATION = "hf_quant_config.json"


def describe_repository(identity: str) -> Described:
    """A model from its repository's config.json, checked against its weights files."""
    repo = repository(identity)
    if "config.json" not in repo.files:
        raise InputError(_without_config(repo))
    text = small_file(repo, "config.json").decode(errors="replace")
    beside = None
    if QUANTIZATION in repo.files:
        beside = json_object(small_file(repo, QUANTIZATION), f"{identity}/{QUANTIZATION}")
    described = describe(text, identity.split("/")[1], beside)
    return replace(
        described,
        source=f"{endpoint()}/{identity}/blob/{repo.commit}/config.json",
        notes=(*described.notes, *_checks(repo, described)),
        facts={**described.facts, **_findings(repo)},
    )


def _without_config(repo: Repository) -> str:
    gguf = [name for name in sorted(repo.files) if name.endswith(".gguf")]
    if gguf:
        return (
            f"{repo.identity} has no config.json but {len(gguf)} GGUF files. "
            f"Name one of them: {repo.identity}/{gguf[0]}."
        )
    return (
        f"{repo.identity} has no config.json, so it is no model that can be described (perhaps "
        "an adapter or a data set). Give the repository of the model itself."
    )


def _weight_bytes(repo: Repository) -> int:
    """Bytes of the safetensors files at the top; copies in folders are other formats [B]."""
    sizes = {
        name: size
        for name, size in repo.files.items()
        if PurePosixPath(name).match("*.safetensors") and "/" not in name
    }
    of_model = [size for name, size in sizes.items() if name.startswith("model")]
    return sum(of_model or sizes.values())


def _findings(repo: Repository) -> dict[str, str]:
    stored = _weight_bytes(repo)
    return {
        "commit": repo.commit,
        **({"weight_bytes": str(stored)} if stored else {}),
        **{f"parameters {kind}": str(count) for kind, count in sorted(repo.parameters.items())},
    }


def _checks(repo: Repository, described: Described) -> tuple[str, ...]:
    notes = (repo.note,) if repo.note else ()
    counted = sum(repo.parameters.values())
    if not counted or described.format not in UNPACKED:
        return notes
    derived = described.architecture.params
    if abs(counted / derived - 1) <= TOLERANCE:
        return notes
    return (
        *notes,
        f"Its files hold {counted / 1e9:.3f}e9 numbers, {counted / derived - 1:+.1%} beside the "
        f"{derived / 1e9:.3f}e9 derived from config.json: towers for images or sound, layers for "
        "predicting several tokens, or something that config.json does not say.",
    )
