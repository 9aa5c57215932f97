"""Time and uncertainty that drafted tokens add to a step."""

from dataclasses import replace

import numpy as np

from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN, StepTime
from advisor.cost_model.workload import DRAFTS, Workload
from advisor.model.model import Model
from advisor.units import Array

DRAFTING = 0.2
"""Half width that drafted tokens add to a range, as the logarithm of a factor: acceptance is 0.68
to 0.88 by kind of text (nine kinds, llama.cpp pull request 24087), and published gains lie a fifth
from what their own acceptance says (data/measurements/drafting.csv)."""


def with_drafting(time: StepTime, model: Model, work: Workload) -> StepTime:
    """A step with the time of its k drafts, each a part as large as the drafter's share.

    t = t_moving (1 + k bytes_d / bytes) + t_layers (1 + k layers_d / layers) + t_token (1 + k runs)

    A head reads one layer and the output head in the same run; a smaller model is run for each
    token. Where the model lies in RAM, the drafter is taken to lie there too.
    """
    if not work.draft or not np.any(work.drafted):
        return time
    drafted = np.asarray(work.drafted, dtype=float)
    read = model.read_bytes_per_token
    if work.draft_model is not None:
        shares = {LAYERS: work.draft_model.layers / model.layers, TOKEN: 1.0, CROSSINGS: 0.0}
        moving = work.draft_model.read / read
    else:
        layers = DRAFTS[work.draft]
        head = model.output * (layers > 0)
        moving = (layers * (read - model.output) / model.layers + head) / read
        shares = {}
    parts: dict[str, Array] = {
        name: seconds * (1.0 + drafted * shares.get(name, moving))
        for name, seconds in time.parts.items()
    }
    return replace(time, total=sum(parts.values(), start=np.zeros(())), parts=parts)
