"""Predictions for rows of a measurement file, whatever its sources left out.

Reads the columns of either published file; what a row states is used, what it does not is filled
with a typical part, and a row that cannot be predicted says why.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from advisor import catalog
from advisor.assemble import NO_GPU, MachineInputs, machine
from advisor.describe.outline import outline
from advisor.errors import AdvisorError, InputError, UnknownName
from advisor.estimate import estimate
from advisor.machine import Machine
from advisor.model import Model, scaled
from advisor.placement import Settings, Strategy
from advisor.runtimes import Runtime
from advisor.runtimes.accelerate import ACCELERATE
from advisor.runtimes.llama_cpp import LLAMA_CPP
from advisor.runtimes.vllm import VLLM
from advisor.units import GIB
from advisor.workload import Workload

COLUMNS = (
    "id", "tg_tps", "tg_low", "tg_high", "tg_tps_total", "e2e_tps_total", "pp_tps", "ttft_s",
    "fits", "bottleneck", "note",
)  # fmt: skip

STRATEGIES = {
    "resident": Strategy.GPU_RESIDENT,
    "batched": Strategy.GPU_RESIDENT,
    "cpu": Strategy.CPU_OFFLOAD,
    "partial": Strategy.CPU_OFFLOAD,
    "moe_offload": Strategy.CPU_OFFLOAD,
    "stream_cpu": Strategy.CPU_OFFLOAD,
    "kv_offload": Strategy.CPU_OFFLOAD,
    "nvme": Strategy.NVME_OFFLOAD,
}
"""Where the part outside VRAM lies, by a row's category."""

STREAMING = ("stream_cpu", "kv_offload", "batched")
SPELLINGS = (
    (r"fp16|f16|bf16|fp32", "BF16"),
    (r"nvfp4|fp4", "NVFP4"),
    (r"fp8|int8|8-bit", "FP8"),
    (r"gptq|awq|int4|4-?bit|w4a16|hqq|exl2", "AWQ"),
)
"""Formats that papers spell freely, and the catalogue's nearest."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A row, understood.

    Attributes:
        model: in the format it ran in.
        machine: where.
        work: what was asked.
        runtime: the one whose way of reading is closest.
        strategy: where the rest lay.
        settings: the split, where it was stated.
        notes: what stands in for what was not stated.
    """

    model: Model
    machine: Machine
    work: Workload
    runtime: Runtime
    strategy: Strategy
    settings: Settings
    notes: tuple[str, ...]


def predictions(rows: Iterator[Mapping[str, str]]) -> Iterator[dict[str, object]]:
    """One answer for each row, in order; a row never stops the file."""
    for row in rows:
        try:
            yield answer(row)
        except AdvisorError as error:
            yield {**dict.fromkeys(COLUMNS, ""), "id": row.get("id", ""), "note": str(error)}


def answer(row: Mapping[str, str]) -> dict[str, object]:
    """The columns of `COLUMNS` for one row.

    Raises:
        AdvisorError: the row cannot be predicted, and why.
    """
    case = understood(row)
    found = estimate(
        case.model, case.machine, case.work, case.runtime, case.strategy,
        catalog.efficiency(), case.settings,
    )  # fmt: skip
    if found.decode is None or found.prefill is None or found.first_token is None:
        raise InputError(found.refusal)
    users = float(case.work.users)
    return {
        "id": row.get("id", ""),
        "tg_tps": _number(found.decode.value),
        "tg_low": _number(found.decode.low),
        "tg_high": _number(found.decode.high),
        "tg_tps_total": _number(found.decode.value * users),
        "e2e_tps_total": _number(users * case.work.output / found.reply),
        "pp_tps": _number(found.prefill.value),
        "ttft_s": _number(found.first_token.value),
        "fits": "true" if np.all(found.fits) else "false",
        "bottleneck": found.bottleneck,
        "note": "; ".join(case.notes),
    }


def understood(row: Mapping[str, str]) -> Case:
    """What a row describes.

    Raises:
        AdvisorError: no prediction can be made of it, and why.
    """
    category = _text(row, "category")
    if category not in STRATEGIES:
        raise InputError(f"category {category!r} is no inference run; nothing to predict.")
    notes: list[str] = []
    model = _model(row, notes)
    runtime = _runtime(row, category, notes)
    inputs = _machine_inputs(row, category, notes)
    return Case(
        model=model,
        machine=machine(inputs),
        work=_work(row),
        runtime=runtime,
        strategy=STRATEGIES[category],
        settings=_settings(row, category, model),
        notes=tuple(notes),
    )


def _model(row: Mapping[str, str], notes: list[str]) -> Model:
    name, params = _text(row, "model"), _float(row, "params_b")
    size = _float(row, "model_size_gib")
    try:
        arch = catalog.architecture(name)
    except AdvisorError:
        if not params:
            raise
        arch = outline(
            name, params * 1e9, _scaled(_float(row, "active_params_b"), 1e9), _int(row, "n_layers")
        )
        notes.append(f"{name} is not in the catalogue: its size and depth stand in")
    found = catalog.in_format(arch, _format(_text(row, "quant"), size, arch.params, notes))
    return scaled(found, size * GIB) if size else found


def _format(text: str, size: float | None, params: float, notes: list[str]) -> str:
    known = catalog.model_formats()
    folded = text.casefold()
    for name in sorted(known, key=len, reverse=True):
        if re.search(rf"(^|[^a-z0-9]){re.escape(name.casefold())}($|[^a-z0-9])", folded):
            return name
    for pattern, name in SPELLINGS:
        if re.search(pattern, folded):
            notes.append(f"format {text!r} is taken as {name}")
            return name
    bits = size * GIB * 8 / params if size else _leading_bits(folded)
    near = min(
        ("IQ1_S", "IQ2_XS", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "F16"),
        key=lambda name: abs(TYPICAL_BITS[name] - bits),
    )
    notes.append(f"format {text or 'not stated'!r} is taken as {near}, {bits:.1f} bits a weight")
    return near


TYPICAL_BITS = {
    "IQ1_S": 1.7, "IQ2_XS": 2.5, "Q3_K_M": 3.9, "Q4_K_M": 4.85, "Q5_K_M": 5.7, "Q6_K": 6.6,
    "Q8_0": 8.5, "F16": 16.0,
}  # fmt: skip
"""Bits per weight of whole files, to place a mixture by its size (llama.cpp quantize README)."""


def _leading_bits(text: str) -> float:
    found = re.search(r"(\d+(?:\.\d+)?)", text)
    return float(found.group(1)) if found else 4.85


def _runtime(row: Mapping[str, str], category: str, notes: list[str]) -> Runtime:
    stated = _text(row, "runtime")
    folded = stated.casefold()
    for words, runtime in (
        (("llama", "ollama", "lm studio", "ggml"), LLAMA_CPP),
        (("accelerate", "transformers", "airllm"), ACCELERATE),
        (("vllm", "sglang", "tensorrt"), VLLM),
    ):
        if any(word in folded for word in words):
            return runtime
    nearest = VLLM if category in STREAMING else LLAMA_CPP
    if stated:
        notes.append(f"{stated} is not modelled: read as {nearest.name} does")
    return nearest


def _machine_inputs(row: Mapping[str, str], category: str, notes: list[str]) -> MachineInputs:
    gpu = NO_GPU if category == "cpu" else _gpu(row, notes)
    cpu = _known_cpu(row, notes)
    gen = _int(row, "pcie_gen")
    return MachineInputs(
        gpu=gpu,
        gpu_count=max(_int(row, "gpu_count") or 1, 1),
        cpu=cpu,
        ram_gb=100_000,
        ram_gbs=_float(row, "ram_bw_gbs"),
        ram_channels=_float(row, "ram_channels"),
        ram_mts=_float(row, "ram_mts"),
        cores=_int(row, "threads"),
        pcie_gbs=_float(row, "h2d_gbs"),
        pcie_gen=gen,
        pcie_lanes=_int(row, "pcie_lanes"),
        disk_gbs=_float(row, "disk_gbs"),
    )


def _gpu(row: Mapping[str, str], notes: list[str]) -> str:
    stated = _text(row, "gpu")
    if not stated or stated.casefold() == NO_GPU:
        return NO_GPU
    try:
        return catalog.find_gpu(stated).name
    except UnknownName:
        first = catalog.find_gpu(re.split(r"\+|\(|,", stated)[0])
        notes.append(f"GPU {stated!r} is taken as {first.name}")
        return first.name


def _known_cpu(row: Mapping[str, str], notes: list[str]) -> str | None:
    stated = _text(row, "cpu")
    if not stated:
        return None
    try:
        return catalog.find_host(stated).name
    except UnknownName:
        notes.append(f"CPU {stated!r} is not in the catalogue: a typical desktop stands in")
        return None


def _settings(row: Mapping[str, str], category: str, model: Model) -> Settings:
    layers, moe = _float(row, "ngl"), _float(row, "n_cpu_moe")
    if layers is None and (share := _float(row, "fraction_gpu")) is not None:
        layers = round(share * model.layers)
    if category == "moe_offload" and moe is None and (layers is None or layers >= model.layers):
        moe = float(model.layers)
    return Settings(gpu_layers=layers, cpu_moe=moe)


def _work(row: Mapping[str, str]) -> Workload:
    """Lengths: of the columns, else of llama-bench's `test=tgN,ppM`, else the usual 512 and 128."""
    note = _text(row, "source_note")
    depth = _float(row, "context_depth") or 0.0
    generated = _float(row, "gen_len") or _bench(note, "tg") or 128.0
    prompt = _float(row, "prompt_len")
    tested = _bench(note, "pp") or 512.0
    sent = depth if prompt is None else prompt
    fresh = tested if prompt is None else max(prompt, 1.0)
    return _lengths(sent, fresh, generated, _float(row, "batch") or 1.0)


def _lengths(depth: float, fresh: float, generated: float, users: float) -> Workload:
    return Workload(
        prompt=max(depth, fresh) if depth else fresh,
        cached=max(depth - fresh, 0.0),
        output=generated,
        context=depth + fresh + generated,
        users=users,
    )


def _bench(note: str, kind: str) -> float | None:
    found = re.search(rf"\b{kind}(\d+)", note)
    return float(found.group(1)) if found else None


def _text(row: Mapping[str, str], name: str) -> str:
    return (row.get(name) or "").strip()


def _float(row: Mapping[str, str], name: str) -> float | None:
    text = _text(row, name)
    try:
        return float(text) if text else None
    except ValueError as error:
        raise InputError(f"{name} is {text!r}; a number or nothing is expected.") from error


def _int(row: Mapping[str, str], name: str) -> int | None:
    value = _float(row, name)
    return None if value is None else round(value)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _number(value: object) -> float:
    return float(f"{float(np.ravel(np.asarray(value))[0]):.6g}")
