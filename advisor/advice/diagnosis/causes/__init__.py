"""Causes of a measured speed that is not the predicted one, and the speeds that would follow.

A cause is a machine, a request, a placement or a constant that is otherwise than was assumed: the
cost model works out what follows, in one or more degrees. A cause that cannot be yields none.
"""

from collections.abc import Callable, Mapping

from advisor.advice.diagnosis.causes import cpu, gpu, ram_and_drive, request
from advisor.advice.diagnosis.causes.counterfactual import Situation, Trials

CAUSES: Mapping[str, Callable[[Situation], Trials]] = {
    one.__name__: one
    for one in (
        request.whole_reply,
        gpu.cpu_alone,
        gpu.fewer_layers,
        gpu.whole_layers,
        request.more_context,
        request.deeper_context,
        gpu.spilled,
        ram_and_drive.one_channel,
        ram_and_drive.slow_modules,
        ram_and_drive.pages_lost,
        ram_and_drive.slow_drive,
        gpu.narrow_link,
        cpu.other_load,
        cpu.many_threads,
        cpu.few_threads,
        cpu.efficient_cores,
        cpu.far_memory,
        cpu.gpu_limits,
        cpu.cpu_limits,
        request.no_flash_attention,
        request.old_build,
        request.no_repacking,
        gpu.cache_in_ram,
        request.larger_file,
        request.all_users,
        request.empty_context,
        request.drafted_tokens,
        gpu.more_layers,
        request.smaller_file,
        request.kept_prompt,
    )
}
"""By the key of data/diagnosis/causes.csv."""

__all__ = ["CAUSES"]
