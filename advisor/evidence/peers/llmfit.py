"""llmfit: 0.55 of bandwidth over bytes, with a formula of its own for experts.

AlexsJones/llmfit, `llmfit-core/src/fit.rs: estimate_tps` and the tables of `models.rs` at commit
3f44fd3 (22 commits after v1.1.10), 2026-08-22, with the defaults of its `CalcConfig`.
"""

from advisor.evidence.peers.peer import Facts, Peer, Where

EFFICIENCY = 0.55
BYTES = {"F16": 2.0, "BF16": 2.0, "Q8_0": 1.0, "Q6_K": 0.75, "Q5_K_M": 0.625, "Q3_K_M": 0.375,
         "Q2_K": 0.25}  # fmt: skip
USUAL_BYTES = 0.5
"""Bytes read per weight in 4-bit formats and all others that `BYTES` does not list."""
STORED = {"F32": 4.0, "F16": 2.0, "BF16": 2.0, "Q8_0": 1.05, "Q6_K": 0.80, "Q5_K_M": 0.68,
          "Q3_K_M": 0.48, "Q2_K": 0.37}  # fmt: skip
USUAL_STORED = 0.58
"""Bytes stored per weight in other formats; the formula for experts in the GPU reads stored
bytes."""
SPEEDS = {"F16": 0.6, "BF16": 0.6, "Q8_0": 0.8, "Q6_K": 0.95, "Q4_K_M": 1.15, "Q4_0": 1.15,
          "Q3_K_M": 1.25, "Q2_K": 1.35}  # fmt: skip
"""Factors on a processor's speed; 1 for other formats."""
DYNAMIC = {"2": "Q2_K", "3": "Q3_K_M", "4": "Q4_K_M", "5": "Q5_K_M", "6": "Q6_K", "8": "Q8_0"}
FIXED_BYTES = 3.2
"""Bytes per weight outside the routed experts."""
IN_RAM_FACTORS = {Where.EXPERTS: 0.8, Where.SPLIT: 0.5, Where.RAM: 0.3}


def decode(facts: Facts) -> float:
    """One formula for each run mode [tokens/s].

    In the GPU 0.55 S / W; a split 0.5 of that, whatever its share. Experts in RAM 0.8 / (A / S_ram
    + A / (0.55 S)) for active weights A and a measured RAM rate. A processor 70 (90 on ARM) over
    the billions of active weights, times factors.
    """
    if facts.where is Where.RAM:
        return IN_RAM_FACTORS[Where.RAM] * _by_processor(facts)
    if facts.where is Where.GPU and facts.experts:
        return _experts_in_gpu(facts)
    active = facts.active_params * BYTES.get(_tier(facts.format), USUAL_BYTES)
    seconds = active / (EFFICIENCY * facts.gpu_bandwidth)
    if facts.where is Where.EXPERTS:
        seconds += active / facts.ram
    return IN_RAM_FACTORS.get(facts.where, 1.0) / seconds


def _by_processor(facts: Facts) -> float:
    rate = (90.0 if facts.arm else 70.0) / (facts.active_params / 1e9)
    return rate * SPEEDS.get(_tier(facts.format), 1.0) * (1.1 if facts.cores >= 8 else 1.0)


def _experts_in_gpu(facts: Facts) -> float:
    """Active experts at stored size, all else at 3.2 bytes a weight, slower in a full VRAM."""
    stored = STORED.get(_tier(facts.format), USUAL_STORED)
    outside = facts.shared_params + 2.0 * facts.vocab * facts.hidden
    read = facts.expert_params * stored + outside * FIXED_BYTES
    full = facts.params * stored / facts.gpu_memory
    idle = 1.0 - facts.experts_used / facts.experts
    pressed = max(1.0 - (full - 0.6) * idle, 0.3) if 0.6 <= full <= 1.0 else 1.0
    return pressed * facts.gpu_bandwidth / read


def _tier(form: str) -> str:
    """Key of a format in the tables: dynamic formats by their bits, others by name."""
    if not form.startswith("UD-Q"):
        return form
    return DYNAMIC.get(form[4], form)


LLMFIT = Peer(
    name="llmfit",
    version="1.1.10, 3f44fd3",
    date="2026-08-22",
    source="https://github.com/AlexsJones/llmfit/blob/3f44fd3/llmfit-core/src/fit.rs",
    formula="0.55 of bandwidth over bytes; half when split; experts at the rate of RAM",
    decode=decode,
)
