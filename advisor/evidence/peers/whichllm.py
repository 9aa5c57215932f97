"""whichllm: bandwidth over bytes, times a factor for the format and one for the vendor.

Andyyyy64/whichllm, `src/whichllm/engine/performance.py` in v0.5.14, 2026-06-29.
"""

from advisor.evidence.peers.peer import Facts, Peer, Where

FORMATS = {
    "F32": 0.30, "F16": 0.40, "BF16": 0.40, "Q8_0": 0.45, "Q6_K": 0.50, "Q5_K_M": 0.52,
    "Q5_K_S": 0.52, "Q5_0": 0.50, "Q4_K_M": 0.55, "Q4_K_S": 0.55, "Q4_0": 0.53, "NVFP4": 0.56,
    "MXFP4": 0.55, "Q3_K_M": 0.50, "Q3_K_S": 0.48, "Q3_K_L": 0.50, "Q2_K": 0.45, "IQ4_XS": 0.52,
    "IQ4_NL": 0.50, "IQ3_S": 0.45, "IQ3_M": 0.45, "IQ3_XS": 0.45, "IQ3_XXS": 0.42, "IQ2_S": 0.40,
    "IQ2_M": 0.40, "IQ2_XXS": 0.38, "IQ1_M": 0.35, "IQ1_S": 0.35,
}  # fmt: skip
OTHER_FORMAT = 0.45
VENDORS = {"NVIDIA": 1.0, "AMD": 0.78, "Apple": 0.82, "Intel": 0.65}


def decode(facts: Facts) -> float:
    """f_format f_vendor S / (W r), 0.45 of that where a part is in RAM [tokens/s].

    r is the share of an expert model that is read: its active share, but at least a floor of 5 %
    for each 256 GB/s, up to 25 %. A processor reaches 18 over the billions of active weights, for
    any RAM.
    """
    efficiency = FORMATS.get(facts.format, OTHER_FORMAT)
    if facts.where is Where.RAM:
        active = max(facts.active_params / 1e9, 0.5)
        return max(0.3, 18.0 / active * efficiency / OTHER_FORMAT)
    read = facts.file_bytes * _read_share(facts)
    rate = efficiency * VENDORS.get(facts.gpu_vendor, 0.7) * facts.gpu_bandwidth / read
    if facts.where is Where.GPU:
        return rate
    return rate * (0.85 if facts.gpu_unified else 0.45)


def _read_share(facts: Facts) -> float:
    if not facts.experts:
        return 1.0
    floor = min(0.05 * max(1.0, facts.gpu_bandwidth / 256e9), 0.25)
    return min(1.0, max(facts.active_params / facts.params, floor))


WHICHLLM = Peer(
    name="whichllm",
    version="0.5.14",
    date="2026-06-29",
    source="https://github.com/Andyyyy64/whichllm/blob/v0.5.14/src/whichllm/engine/performance.py",
    formula="0.3 to 0.56 of bandwidth over bytes by format, less by vendor; 0.45 of it when split",
    decode=decode,
)
