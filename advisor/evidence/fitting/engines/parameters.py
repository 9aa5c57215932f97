"""Fitted constants of serving engines: start values, limits and the columns they may differ by.

Start values follow from times of single operations (aiconfigurator 0.12.0). Limits are physical: a
share is below 1, a launch takes microseconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

FAMILY, ENGINE, RELEASE = "family", "engine", "release"


@dataclass(frozen=True, kw_only=True)
class EngineParameter:
    """One fitted constant."""

    start: float  # value expected before the fit
    low: float  # smallest plausible value
    high: float  # largest plausible value
    unit: str  # unit of the value
    width: float = 0.3  # standard deviation of the prior of its logarithm
    # columns that it may differ by, each with the standard deviation of the prior of the factor's
    # logarithm
    factors: Mapping[str, float] = field(default_factory=dict)
    note: str  # description


def _share(start: float, note: str, **factors: float) -> EngineParameter:
    return EngineParameter(
        start=start, low=0.02, high=0.97, unit="share", factors=factors, note=note
    )


def _launch(start: float, note: str, **factors: float) -> EngineParameter:
    return EngineParameter(start=start, low=1e-7, high=2e-3, unit="s", factors=factors, note=note)


def _ratio(start: float, note: str, unit: str = "ratio", **factors: float) -> EngineParameter:
    return EngineParameter(start=start, low=0.3, high=200.0, unit=unit, factors=factors, note=note)


SERIAL = 0.6e-3
"""Largest fixed cost of a step that does not overlap with the GPU [s]. Today's engines schedule a
step while the GPU computes the one before (vLLM by default since 0.14 of January 2026, its release
notes; the overlap scheduler of TensorRT-LLM's documentation; SGLang's zero-overhead scheduler,
lmsys.org 2024-12-04), which leaves sampling and output. Most published runs are older; the limit
keeps their scheduling time, beyond `engine_release`, out of today's step."""
READ = "share of GPU memory bandwidth, {} of {}"
WORK = "share of the dense matrix peak, {} of {}"
FORMS = {
    "f16": "16 bits", "fp8": "8-bit floats", "nvfp4": "NVFP4", "int4": "4-bit integers",
    "mxfp4": "MXFP4",
}  # fmt: skip
DENSE = {"f16": (0.82, 0.74), "fp8": (0.75, 0.6), "nvfp4": (0.6, 0.5), "int4": (0.7, 0.5)}
"""Start values by format: share of bandwidth, share of peak."""
EXPERTS = {
    "f16": (0.7, 0.45, 16.0), "fp8": (0.6, 0.4, 16.0), "nvfp4": (0.6, 0.35, 16.0),
    "int4": (0.6, 0.4, 8.0), "mxfp4": (0.6, 0.5, 16.0),
}  # fmt: skip
"""Start values of experts by format: both shares, and the smallest tile, 8 in Marlin and 16 in
Triton and CUTLASS."""

ENGINE_PARAMETERS: Mapping[str, EngineParameter] = {
    **{f"dense_{form}_read_share": _share(read, READ.format("dense weights", FORMS[form]),
                                          family=0.15, engine=0.1)
       for form, (read, _) in DENSE.items()},
    **{f"dense_{form}_flop_share": _share(work, WORK.format("dense products", FORMS[form]),
                                          family=0.3, engine=0.2)
       for form, (_, work) in DENSE.items()},
    **{f"experts_{form}_read_share": _share(read, READ.format("routed experts", FORMS[form]),
                                            family=0.15, engine=0.1)
       for form, (read, _, _) in EXPERTS.items()},
    **{f"experts_{form}_flop_share": _share(work, WORK.format("expert products", FORMS[form]),
                                            family=0.3, engine=0.2)
       for form, (_, work, _) in EXPERTS.items()},
    **{f"experts_{form}_tile": _ratio(rows, "smallest tile of an expert's tokens, experts of "
                                      f"{FORMS[form]}", "tokens")
       for form, (_, _, rows) in EXPERTS.items()},
    **{f"moves_{form}": _ratio(moves, "memory moved between products beside the residual stream, "
                               f"weights of {FORMS[form]}", engine=0.3)
       for form, moves in (("f16", 15.0), ("fp8", 30.0), ("nvfp4", 17.0), ("int4", 15.0))},
    "experts_moves": _ratio(5.0, "memory moved to sort tokens by expert, beside the residual "
                            "stream", engine=0.3),
    "attention_read_share": _share(0.7, "share of GPU memory bandwidth, KV cache", family=0.2,
                                   engine=0.2),
    "attention_flop_share": _share(0.45, "share of the dense matrix peak, attention", family=0.2,
                                   engine=0.2),
    "state_flop_share": _share(0.1, "share of the dense matrix peak, linear attention", family=0.2,
                               engine=0.2),
    "dense_layer": _launch(22e-6, "start of a layer's kernels: products, norms", engine=0.3,
                           family=0.1),
    "attention_layer": _launch(11e-6, "start of a layer's attention for a token", engine=0.3,
                               family=0.1),
    "attention_prompt_layer": _launch(52e-6, "start of a layer's attention for a prompt",
                                      engine=0.3, family=0.1),
    "latent_layer": _launch(25e-6, "start of what a layer of latent attention (MLA) unfolds",
                            engine=0.3, family=0.3),
    "indexed_layer": _launch(40e-6, "start of the indexer of a layer of sparse attention",
                             engine=0.3, family=0.3),
    "indexed_prompt_layer": _launch(300e-6, "the same for a prompt", engine=0.3, family=0.3),
    "experts_layer": _launch(25e-6, "start of a layer's routed experts", engine=0.3, family=0.1),
    "state_layer": _launch(20e-6, "start of a layer's linear attention", engine=0.3, family=0.1),
    "all_reduce": _launch(9e-6, "adding up a vector among two GPUs"),
    "all_reduce NVLink": _launch(5e-6, "adding up a vector among two GPUs"),
    "all_reduce host memory": _launch(25e-6, "adding up a vector among two GPUs"),
    "all_reduce_further": _launch(2.3e-6, "the same for each further GPU"),
    "all_reduce_further NVLink": _launch(0.3e-6, "the same for each further GPU"),
    "all_reduce_further host memory": _launch(5e-6, "the same for each further GPU"),
    "peer_share": _share(0.6, "GPU to GPU over the host's link beside pinned copies"),
    "peer_share NVLink": _share(0.6, "share of the link between GPUs"),
    "peer_share host memory": EngineParameter(
        start=0.4, low=0.02, high=0.5, unit="share", width=0.15,
        note="GPU to GPU through the host's memory beside pinned copies: at most half, since each "
             "byte is copied twice",
    ),
    "peer_sharing host memory": EngineParameter(
        start=0.5, low=0.01, high=3.0, unit="ratio", width=0.3,
        note="time that each further GPU adds to a sum of long vectors: 0.5 where all of them "
             "share one path",
    ),
    "peer_sharing": EngineParameter(
        start=0.15, low=0.01, high=3.0, unit="ratio", width=0.5, factors={FAMILY: 0.7},
        note="time that each further GPU adds to a sum of long vectors",
    ),
    "token": EngineParameter(
        start=0.25e-3, low=1e-5, high=SERIAL, unit="s", width=0.25, factors={ENGINE: 0.1},
        note="a step's own cost: scheduling and sampling",
    ),
    "engine_sequence": EngineParameter(
        start=3e-6, low=1e-7, high=10e-6, unit="s", width=0.3, factors={ENGINE: 0.1},
        note="cost of each sequence in a step",
    ),
    "engine_release": EngineParameter(start=1.0, low=0.5, high=3.0, unit="factor", width=1e-4,
                                      factors={RELEASE: 0.3}, note="time beside today's release"),
}  # fmt: skip
"""Fitted constants by name. Costs of a whole step belong to no kernel, so simulations do not
contain them."""
IN_RUNS = ("token", "engine_sequence")
"""Costs that simulations do not contain."""
FIXED = {
    "peer_sharing NVLink": 0.0, "crossing": 10e-6, "network_hop": 50e-6, "pipeline_share": 0.0,
    "link_share": 1.0, "host_copy": 1e15,
}  # fmt: skip
"""Constants of links, not fitted here."""
