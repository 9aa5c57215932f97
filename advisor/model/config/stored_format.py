"""Stored format of a checkpoint, by its name in data/models/recipes.csv.

Toolkits describe it in `quantization_config` of config.json or in hf_quant_config.json, each in its
own words. A format without a recipe gives an empty name and a note that names it.

References:
    [1] huggingface/transformers 5.23.0, src/transformers/utils/quantization_config.py.
    [2] vllm-project/compressed-tensors, `QuantizationScheme`, `CompressionFormat`.
    [3] NVIDIA/Model-Optimizer, hf_quant_config.json (`quant_algo`).
"""

from collections.abc import Mapping

from advisor.model.config.values import Config, shown

PLAIN = "BF16-hf"
EXPERTS_ONLY = "MXFP4-hf"
FULL_WORDS = ("float32", "float64", "torch.float32")
ALGORITHMS = {
    "FP8": "FP8",
    "FP8_PER_CHANNEL_PER_TOKEN": "FP8",
    "FP8_PB_WO": "FP8",
    "NVFP4": "NVFP4",
    "NVFP4_AWQ": "NVFP4",
    "W4A16_AWQ": "AWQ",
    "MXFP4": "MXFP4-hf",
}
"""`quant_algo` of ModelOpt [3]."""
USUALLY_LEFT = (
    *("lm_head", "embed", "gate", "router", "norm", "bias", "indexers_proj"),
    *("vision", "visual", "multi_modal", "mtp"),
)


def stored_format(
    config: Config, beside: Mapping[str, object] | None = None
) -> tuple[str, tuple[str, ...]]:
    """Name of the format, empty where it has no recipe, and notes about it.

    Args:
        config: the language model's config.json.
        beside: hf_quant_config.json, where the repository has one.
    """
    quantization = dict(config.part("quantization_config"))
    quantization |= _of_modelopt(beside or {})
    if not quantization and config.part("quantization"):
        # MLX, Apple's library, writes a second block of that name with bits and group_size.
        quantization = {"quant_method": "mlx", **config.part("quantization")}
    if not quantization:
        return PLAIN, _plain_notes(config)
    form, unusual = _named(Config(name=config.name, values=quantization))
    if not form:
        return "", (f"Its weights are stored as {unusual}, for which there is no recipe; choose.",)
    left_out = () if form == EXPERTS_ONLY else _left_out(quantization)
    return form, (*((unusual,) if unusual else ()), *left_out)


def _of_modelopt(beside: Mapping[str, object]) -> Mapping[str, object]:
    inner = beside.get("quantization")
    return inner if isinstance(inner, Mapping) else {}


def _plain_notes(config: Config) -> tuple[str, ...]:
    kind = config.word("dtype", "torch_dtype")
    if kind in FULL_WORDS:
        return (f"Its file is in {kind}; runtimes load it in 16 bits, as shown here.",)
    return ()


def _named(quantization: Config) -> tuple[str, str]:
    """Format with a note, or an empty name with a note that names the format."""
    method = quantization.word("quant_method").casefold()
    algorithm = quantization.word("quant_algo").upper()
    if algorithm:
        return ALGORITHMS.get(algorithm, ""), "" if algorithm in ALGORITHMS else algorithm
    if method in ("awq", "gptq"):
        return _integer_groups(method.upper(), quantization)
    if method in ("fp8", "fbgemm_fp8"):
        return "FP8", ""
    if method == "mxfp4":
        return "MXFP4-hf", ""
    if quantization.flag("load_in_8bit") or quantization.flag("load_in_4bit"):
        return _bitsandbytes(quantization)
    if method in ("compressed-tensors", "modelopt", "modelopt_fp4", ""):
        return _compressed(quantization)
    return "", method


def _integer_groups(form: str, quantization: Config) -> tuple[str, str]:
    bits = quantization.whole("bits", "w_bit")
    if bits != 4:
        return "", f"{form} of {bits} bits"
    group = quantization.raw("group_size", "q_group_size")[1]
    if group not in (None, 128):
        return form, f"Its groups have {shown(group)} weights; the recipe {form} counts 128."
    return form, ""


def _bitsandbytes(quantization: Config) -> tuple[str, str]:
    if quantization.flag("load_in_8bit"):
        return "bnb-int8", ""
    kind = quantization.word("bnb_4bit_quant_type") or "fp4"
    if kind == "nf4":
        plain = not quantization.flag("bnb_4bit_use_double_quant")
        return "bnb-nf4", "Its scales are 32-bit; the recipe counts packed ones." if plain else ""
    return "", f"bitsandbytes {kind}"


def _compressed(quantization: Config) -> tuple[str, str]:
    kinds = {
        _weights(quantization, group)
        for group in quantization.part("config_groups").values()
        if isinstance(group, Mapping)
    }
    if len(kinds) == 1:
        return kinds.pop()
    return "", "a mix of several types" if kinds else "an undescribed type"


def _weights(quantization: Config, group: Mapping[str, object]) -> tuple[str, str]:
    inner = group.get("weights")
    weights = Config(name=quantization.name, values=inner if isinstance(inner, Mapping) else {})
    bits, kind = weights.whole("num_bits"), weights.word("type")
    size = weights.raw("group_size")[1]
    match kind, bits, size:
        case "float", 8, _:
            return "FP8", ""
        case "float", 4, 16:
            return "NVFP4", ""
        case "float", 4, 32:
            return "MXFP4-hf", ""
        case "int", 4, 128:
            return "GPTQ", "compressed-tensors, 4 bits in groups of 128: as large as GPTQ."
    return "", f"{kind or 'unknown'} weights of {bits} bits in groups of {shown(size)}"


def _left_out(quantization: Mapping[str, object]) -> tuple[str, ...]:
    """A note where more than the customary parts stay in 16 bits, so that the file is larger."""
    for key in ("ignore", "modules_to_not_convert", "exclude_modules"):
        modules = quantization.get(key)
        if isinstance(modules, list | tuple):
            unusual = [
                module
                for module in modules
                if isinstance(module, str) and not any(word in module for word in USUALLY_LEFT)
            ]
            if unusual:
                return (
                    f"{len(unusual)} of its modules stay in 16 bits ({unusual[0][:60]} ...), "
                    "so its file is larger than the recipe says.",
                )
    return ()
