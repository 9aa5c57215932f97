"""Causes of a measured speed that is not the predicted one, and the speeds that would follow.

A cause is a machine, a request, a placement or a constant that is otherwise than was assumed: the
cost model works out what follows, in one or more degrees. A cause that cannot be yields none.
"""

from collections.abc import Callable, Mapping

from advisor.causes import graphics, memory, processors, usage
from advisor.causes.situation import Situation, Trials

CAUSES: Mapping[str, Callable[[Situation], Trials]] = {
    one.__name__: one
    for one in (
        usage.whole_reply,
        graphics.cpu_alone,
        graphics.fewer_layers,
        graphics.whole_layers,
        usage.more_context,
        usage.deeper_context,
        graphics.spilled,
        memory.one_channel,
        memory.slow_modules,
        memory.pages_lost,
        memory.slow_drive,
        graphics.narrow_link,
        processors.other_load,
        processors.many_threads,
        processors.few_threads,
        processors.efficient_cores,
        processors.far_memory,
        processors.gpu_limits,
        processors.cpu_limits,
        usage.no_flash_attention,
        usage.old_build,
        usage.no_repacking,
        graphics.cache_in_ram,
        usage.larger_file,
        usage.all_users,
        usage.empty_context,
        usage.drafted_tokens,
        graphics.more_layers,
        usage.smaller_file,
        usage.kept_prompt,
    )
}
"""By the key of data/causes.csv."""

__all__ = ["CAUSES"]
