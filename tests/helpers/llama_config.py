"""The config.json of a known model, as input of tests."""

LLAMA: dict[str, object] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}
"""Llama 3.1 8B: meta-llama/Llama-3.1-8B, config.json."""
PARAMS = 8_030_261_248
"""Its weights, as the Hub counts its safetensors."""
