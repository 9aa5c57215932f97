"""Models of families that no rule describes, as transformers builds them.

    python -m lab.built_models

Each row of lab/built_models.csv names a model, its family and the sizes in which it differs from
the family's defaults. The model is built without weights, and data/models/built_models.csv gets its
config.json and the shapes of its tensors. Needs torch and transformers (requirements-oracles.txt).
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.records import csv_text
from advisor.model.by_name.hub_list import hub_list
from advisor.model.config.by_tensors import StoredTensor
from advisor.model.config.by_tensors import as_text as shapes_text
from advisor.model.config.values import BUILT, BuiltModelRow
from advisor.refresh.models import row_of

JOBS = Path(__file__).with_name("built_models.csv")
SOURCE = (
    "https://github.com/huggingface/transformers/tree/v{version}/src/transformers/models/{family}"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One row of lab/built_models.csv."""

    name: str  # repository
    family: str  # `model_type` of its config.json
    config: str  # keys that differ from the family's defaults, as JSON
    released: str  # day or month of publication; empty where unknown


def kept_keys(config: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of the language model that a description may read, without empty ones."""
    nested = config.get("text_config")
    text = nested if isinstance(nested, dict) else config
    return {
        key: value
        for key, value in {**text, "model_type": config["model_type"]}.items()
        if value not in (None, "", [], {}) and not isinstance(value, dict)
    }


def built(job: Job) -> BuiltModelRow:
    """Row of a model, built on torch's device without memory."""
    import torch
    import transformers

    told: Mapping[str, Any] = json.loads(job.config)
    config = transformers.CONFIG_MAPPING[job.family](**told)
    makers = (
        transformers.AutoModelForCausalLM,
        transformers.AutoModelForImageTextToText,
        transformers.AutoModelForMultimodalLM,
    )
    maker = next(each for each in makers if type(config) in each._model_mapping)
    with torch.device("meta"):
        model = maker.from_config(config)
    shapes = [
        StoredTensor(name=name, dtype="BF16", shape=tuple(weights.shape))
        for name, weights in model.named_parameters()
    ]
    kept = kept_keys(config.to_dict())
    listed = hub_list().named(job.name)
    total = sum(shape.params for shape in shapes)
    sizes = listed or row_of(job.name, kept, total, job.released)
    return BuiltModelRow(
        name=job.name,
        architecture=job.family,
        parameters=listed.parameters if listed else total,
        layers=sizes.layers,
        hidden=sizes.hidden,
        heads=sizes.heads,
        kv_heads=sizes.kv_heads,
        head_dim=sizes.head_dim,
        vocab=sizes.vocab,
        feed_forward=sizes.feed_forward,
        shared_feed_forward=sizes.shared_feed_forward,
        experts=sizes.experts,
        experts_used=sizes.experts_used,
        context=sizes.context,
        released=sizes.released,
        config=json.dumps(kept, separators=(",", ":")),
        tensors=shapes_text(shapes),
        date=date.today().isoformat(),
        source=SOURCE.format(version=transformers.__version__, family=job.family),
    )


def rows() -> Iterator[BuiltModelRow]:
    """Rows of all jobs, each named as it is done."""
    for job in read(JOBS, Job):
        row = built(job)
        sys.stderr.write(f"{row.name}: {len(row.tensors):,} characters\n")
        yield row


if __name__ == "__main__":
    (DATA / BUILT).write_text(csv_text(tuple(rows())), encoding="utf-8")
