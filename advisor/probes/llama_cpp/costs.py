"""Costs of bytes, layers, attention and experts, separated from the times of samples.

t = W / S + layers tau + F_a / C_a + expert layers tau_e

W is the weights read for a token, F_a its work on the cache. The wide and the narrow sample of a
storage type differ in bytes per layer, which gives S and tau; two depths of a sample give C_a,
which depends on the head size and on the number of heads that share a key.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from advisor.model.architecture import Group
from advisor.probes.llama_cpp.job import Timings
from advisor.probes.llama_cpp.samples import (
    ATTENDING,
    DEEP,
    EXPERTS,
    FIRST_TYPE,
    NARROW,
    OWN,
    PLAIN,
    SHALLOW,
    WIDE,
    Sample,
)

FEED_FORWARD = (Group.DENSE_FFN, Group.SHARED_EXPERTS, Group.ROUTED_EXPERTS)
MIDDLE = (10, 90)
"""Percentiles between which tokens are called usual."""
Timed: TypeAlias = Mapping[tuple[str, str], tuple[Sample, Timings]]
"""Samples and their times by role and kind."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One cost."""

    name: str  # as `Measurement.name`
    value: float  # value in `unit`
    unit: str  # SI unit
    spread: float  # half the range of the central repeats over their median


def costs(timed: Timed) -> tuple[Cost, ...]:
    """All costs that the given samples determine; results at or below zero are omitted."""
    return tuple(cost for cost in _costs(timed) if cost.value > 0)


def _costs(timed: Timed) -> Iterator[Cost]:
    attending = {kind: timing for (role, kind), timing in timed.items() if role == ATTENDING}
    attention = {kind: _attention(*timing) for kind, timing in attending.items()}
    for kind, (_, times) in attending.items():
        spread = usual_spread(times.token_seconds[DEEP])
        name = f"engine_attention_{kind}"
        yield Cost(name=name, value=attention[kind], unit="FLOP/s", spread=spread)
    usual = max(attention.values(), default=0.0)
    layer = _layer(timed, usual)
    narrow = next((times for (role, _), (_, times) in timed.items() if role == NARROW), None)
    if layer and narrow:
        spread = usual_spread(narrow.token_seconds[SHALLOW])
        yield Cost(name="engine_layer", value=layer, unit="s", spread=spread)
    rates: dict[str, float] = {}
    for (role, kind), (sample, times) in timed.items():
        if role in (WIDE, OWN, PLAIN):
            rate = _read_rate(sample, times, layer, usual)
            spread = usual_spread(times.token_seconds[SHALLOW])
            name = f"engine_{'plain' if role == PLAIN else 'read'}_{kind.casefold()}"
            yield Cost(name=name, value=rate, unit="B/s", spread=spread)
            rates |= {kind: rate} if role == WIDE else {}
        if times.prompt_rates:
            yield _prompt(sample, times.prompt_rates)
    if (EXPERTS, FIRST_TYPE) in timed and rates.get(FIRST_TYPE, 0.0) > 0:
        yield _experts(*timed[EXPERTS, FIRST_TYPE], rates[FIRST_TYPE], layer, usual)


def _attention(sample: Sample, times: Timings) -> float:
    """Work on the cache over the extra time of the deeper cache [FLOP/s]; 0 without extra time."""
    longer = _token(times, DEEP) - _token(times, SHALLOW)
    per_token = float(np.sum(sample.model.attention_flops))
    return per_token * (DEEP - SHALLOW) / longer if longer > 0 else 0.0


def _layer(timed: Timed, attention: float) -> float:
    """Fixed cost of a layer beside its bytes [s]; 0 where unknown.

    From W_1 / S + L_1 tau = t_1 and W_2 / S + L_2 tau = t_2, where S cancels out.
    """
    for (role, kind), (wide, wide_times) in timed.items():
        if role in (WIDE, OWN) and (NARROW, kind) in timed:
            narrow, narrow_times = timed[NARROW, kind]
            long = _without(wide, wide_times, attention)
            short = _without(narrow, narrow_times, attention)
            more = wide.model.read_bytes_per_token / narrow.model.read_bytes_per_token
            # The narrow one as many times as it has the bytes of the wide one: layers are left.
            layers = more * narrow.model.layers - wide.model.layers
            return max((more * short - long) / layers, 0.0) if layers > 0 else 0.0
    return 0.0


def _read_rate(sample: Sample, times: Timings, layer: float, attention: float) -> float:
    left = _without(sample, times, attention) - sample.model.layers * layer
    return sample.model.read_bytes_per_token / left if left > 0 else 0.0


def _experts(sample: Sample, times: Timings, rate: float, layer: float, attention: float) -> Cost:
    model = sample.model
    left = _without(sample, times, attention) - model.layers * layer
    extra = (left - model.read_bytes_per_token / rate) / float(np.sum(model.expert_layers))
    spread = usual_spread(times.token_seconds[SHALLOW])
    return Cost(name="engine_expert_layer", value=extra, unit="s", spread=spread)


def _prompt(sample: Sample, rates: Sequence[float]) -> Cost:
    """Work on weights in a prompt: two operations per weight that a token passes through [FLOP].

    The last layer's feed-forward part and the output head are computed for the last token only.
    """
    work = sample.model.flops
    skipped = sum(work[group][-1] for group in FEED_FORWARD)
    per_token = sum(float(np.sum(part)) for part in work.values()) - float(skipped)
    return Cost(
        name=f"engine_prompt_{sample.kind.casefold()}",
        value=per_token * statistics.median(rates),
        unit="FLOP/s",
        spread=usual_spread(rates),
    )


def _without(sample: Sample, times: Timings, attention: float) -> float:
    """Time of a token without attention to the shallow cache [s]."""
    work = float(np.sum(sample.model.attention_flops)) * SHALLOW
    return _token(times, SHALLOW) - (work / attention if attention else 0.0)


def _token(times: Timings, depth: int) -> float:
    return statistics.median(times.token_seconds[depth])


def usual_spread(values: Sequence[float]) -> float:
    """Half the range of the central repeats over their median."""
    low, high = np.percentile(values, MIDDLE)
    return float(high - low) / (2.0 * statistics.median(values))
