"""Warnings about a prompt or context that exceeds the context of the request or of the model.

An estimate is still given; these sentences stand beside it.
"""

import numpy as np

from advisor.cost_model.workload import Workload
from advisor.model.model import Model


def context_notes(model: Model, work: Workload) -> tuple[str, ...]:
    """Sentences about lengths that exceed the allocated context or the model's own.

    Args:
        model: model, whose context is known if its file or row states it.
        work: the request.
    """
    context, own = float(np.max(work.context)), model.architecture.max_context
    needed = float(np.max(work.prompt)) + float(np.max(work.output))
    notes = []
    if needed > context:
        notes.append(
            f"A prompt and reply of {needed:,.0f} tokens do not fit the context of {context:,.0f} "
            "that is allocated; allocate more, or ask for less."
        )
    if own and context > own:
        notes.append(
            f"A context of {context:,.0f} tokens is beyond the {own:,} that {model.name} was made "
            "for; runtimes refuse it or answer badly unless its positions are stretched."
        )
    return tuple(notes)
