"""Models: byte groups per layer, and every way to get them.

model           `Model`: bytes held and read, FLOPs and cache of each layer, in one format
resolve         a model from a name, file, pasted configuration or repository
catalog         models of the catalogue
installed       models that lie on this machine
architecture    tensors by group, before a format is chosen; `build` makes them from a `spec`
by_name/        models from a name alone, known or not
formats         bytes per weight, recipes and spellings of formats
config/, gguf/, hub     readers of config.json, GGUF files and Hub repositories

Errors: `UnknownName` for a name that means nothing, with similar ones; `Refusal` for a model that
is not understood, naming the part; `InputError` for files and numbers that are damaged, missing or
contradict each other; `NetworkError` for what cannot be reached.
"""
