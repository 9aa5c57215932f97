"""Encoders of images in a checkpoint, by the sizes that its config.json states.

Engines load the encoder with the model, and keep it in 16 bits where they pack the rest. Its
weights are layers x (4 hidden^2 + 2 or 3 hidden x width), with three matrices of the feed-forward
where it has a gate, and a projector of the merged patches to the width of the language model.

Reference: huggingface/transformers 5.23.0, models/{qwen2_5_vl,siglip,pixtral,mllama}/modeling_*.py.
"""

from collections.abc import Mapping

from advisor.model.config.values import MAX_LAYERS, Config

PARTS = ("vision_config", "vision_tower_config", "vit_config")
"""Keys under which multimodal models keep their encoder of images."""
GATED = ("silu", "swiglu")  # activations of feed-forward blocks with a gate
WIDTHS = 4  # width of a feed-forward block over the hidden size, where none is stated
LARGEST = 65_536  # hidden sizes and widths above which a number is none [values]


def tower_weights(name: str, whole: Mapping[str, object], hidden: int) -> int:
    """Weights of the encoder of images of a config.json, with its projector; 0 without one."""
    part = next((whole[key] for key in PARTS if isinstance(whole.get(key), Mapping)), None)
    if not isinstance(part, Mapping):
        return 0
    config = Config(name=name, values=part)
    layers = config.whole("depth", "num_hidden_layers", "layers", high=MAX_LAYERS)
    layers += config.whole("num_global_layers", high=MAX_LAYERS)
    size = config.whole("hidden_size", "embed_dim", "width", high=LARGEST)
    if not layers or not size:
        return 0
    wide = config.whole("intermediate_size", high=LARGEST) or WIDTHS * size
    matrices = 3 if config.word("hidden_act", "hidden_activation") in GATED else 2
    merged = size * max(config.whole("spatial_merge_size", high=16), 1) ** 2
    projector = merged * (merged + hidden) if merged != size else size * hidden
    return layers * (4 * size**2 + matrices * size * wide) + projector
