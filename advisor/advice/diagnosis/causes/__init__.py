"""Possible causes of a gap between measured and predicted speed, each a changed estimate.

A cause changes the machine, the request, the placement or a constant, in one or more degrees; the
cost model computes the speeds. A cause that is impossible in a situation yields no trial.
"""

from collections.abc import Callable, Mapping

from advisor.advice.diagnosis.causes import cpu, gpu, ram_and_drive, request, software
from advisor.advice.diagnosis.causes.counterfactual import Situation, Trials

CAUSES: Mapping[str, Callable[[Situation], Trials]] = {
    "whole_reply": request.whole_reply,
    "cpu_alone": gpu.cpu_alone,
    "fewer_layers": gpu.fewer_layers,
    "whole_layers": gpu.whole_layers,
    "more_context": request.more_context,
    "deeper_context": request.deeper_context,
    "spilled": gpu.spilled,
    "one_channel": ram_and_drive.one_channel,
    "slow_modules": ram_and_drive.slow_modules,
    "pages_lost": ram_and_drive.pages_lost,
    "slow_drive": ram_and_drive.slow_drive,
    "narrow_link": gpu.narrow_link,
    "other_load": cpu.other_load,
    "many_threads": cpu.many_threads,
    "few_threads": cpu.few_threads,
    "efficient_cores": cpu.efficient_cores,
    "far_memory": cpu.far_memory,
    "gpu_limits": gpu.gpu_limits,
    "cpu_limits": cpu.cpu_limits,
    "no_flash_attention": request.no_flash_attention,
    "old_build": request.old_build,
    "old_driver": software.old_driver,
    "other_backend": software.other_backend,
    "no_repacking": request.no_repacking,
    "cache_in_ram": gpu.cache_in_ram,
    "larger_file": request.larger_file,
    "all_users": request.all_users,
    "empty_context": request.empty_context,
    "drafted_tokens": request.drafted_tokens,
    "more_layers": gpu.more_layers,
    "smaller_file": request.smaller_file,
    "kept_prompt": request.kept_prompt,
}
"""Causes by their key in data/diagnosis/causes.csv."""

__all__ = ["CAUSES"]
