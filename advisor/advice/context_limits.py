"""What does not go together in the lengths that were asked for: prompt, context, the model's own.

An estimate is still given; these sentences stand beside it.
"""

import numpy as np

from advisor.cost_model.workload import Workload
from advisor.model.model import Model


def context_notes(model: Model, work: Workload) -> tuple[str, ...]:
    """Sentences about lengths that exceed the allocated context or the model's own.

    Args:
        model: whose context is known where its file or row tells it.
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
