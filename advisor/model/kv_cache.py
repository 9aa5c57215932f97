"""Formats of the KV cache."""

KV_BYTES_PER_VALUE = {
    "f32": 4.0,
    "f16": 2.0,
    "bf16": 2.0,
    "q8_0": 34 / 32,
    "fp8": 1.0,
    "q5_1": 24 / 32,
    "q5_0": 22 / 32,
    "q4_1": 20 / 32,
    "q4_0": 18 / 32,
    "iq4_nl": 18 / 32,
}
"""Bytes a cached value takes [B]; blocks of 32 with their scales, from the constants of the `gguf`
package 0.19.0 (GGML_QUANT_SIZES), 2026-05-06."""
