"""Shared run: the filled form, anonymous, with the prediction of this release.

What is only assumed of the machine (typical RAM of its kind, say) is left out; who takes the run in
assumes it anew.
"""

from collections.abc import Iterator, Mapping
from datetime import date

from advisor import __version__
from advisor.advice.diagnosis.diagnose import Measured, diagnose
from advisor.advice.diagnosis.results import BENCHES, BUILD
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.uncertainty import Range
from advisor.evidence.accuracy.fresh import constants_digest
from advisor.evidence.published.run_form import AGREE, OUTPUT
from advisor.machine.backends import Backend, OperatingSystem
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.probes.llama_cpp.shown_results import shown_result
from advisor.request.request import Request
from advisor.units import GB, GIB, Provenance, Quantity, number, range_of, tokens_per_second

KNOWN = (Provenance.MEASURED, Provenance.GIVEN)
"""Origins of figures that the sender knows of the machine."""
TYPED = ("ram_mts", "ram_channels", "pcie_gen", "pcie_lanes", "disk_gbs")
"""Fields that take what was typed of the machine."""
USEFUL = {"cpu": "the processor", "ram_mts": "the rate of its RAM"}
"""Fields that most say of a run in RAM, with their words."""
ALL_LAYERS = "999"  # layers on the GPU of a model that lies there whole, as measurement files say


def shared_run(
    request: Request, estimate: Estimate, measured: Measured, output: str, *, agreed: bool = False
) -> dict[str, str]:
    """Values of the form by field, from a run and the output of its tool.

    Without output a line with the typed speed stands in its place, which counts as doubtful.

    Raises:
        InputError: an impossible combination of the measured run and its estimate.
    """
    predicted = diagnose(estimate, measured).predicted
    values = {
        OUTPUT: shown_result(output) or f"{_digits(measured.decode)} tokens/s",
        **dict(_machine(request, estimate.machine)),
        **dict(_run(estimate, measured)),
        "tg_tps": _digits(measured.decode),
        "pp_tps": _digits(measured.prompt),
        "date": _day(measured.facts),
        "prediction": prediction_words(predicted.decode),
        AGREE: "yes" if agreed else "",
    }
    return {name: value for name, value in values.items() if value}


def prediction_words(speed: Range) -> str:
    """Words on a predicted speed, its range, and the release that predicted it."""
    ends = range_of(float(speed.low), float(speed.high), number)
    value = tokens_per_second(float(speed.value))
    return f"{value} ({ends}), release {__version__}, constants {constants_digest()}"


def _machine(request: Request, machine: Machine) -> Iterator[tuple[str, str]]:
    """Fields of the machine: its parts, and figures that are no assumption."""
    kinds = machine.cards
    if len(kinds) > 1:
        yield "gpu", MachineSpec.MIXED.join(gpu.name for gpu in machine.gpus)
    else:
        yield "gpu", next(iter(kinds), MachineSpec.NO_GPU)
    if len(kinds) == 1 and len(machine.gpus) > 1:
        yield "gpu_count", str(len(machine.gpus))
    if "(typical)" not in machine.host.name:
        yield "cpu", machine.host.name
    yield "ram_gb", _figure(machine.host.memory, GIB)
    yield "ram_bw_gbs", _figure(machine.host.bandwidth, GB)
    for name in TYPED:
        yield name, _digits(getattr(request, name))
    if request.system or request.here:
        system = OperatingSystem.seen(machine.system)
        words = (system.label if system else "", str(machine.driver))
        yield "os", ", ".join(filter(None, words))


def _figure(figure: Quantity, unit: float) -> str:
    """Figure in a unit; empty for one that the sender does not know."""
    if figure.kind not in KNOWN:
        return ""
    return _digits(float(figure.value) / unit)


def _digits(value: object) -> str:
    """Number with up to four digits; empty for none."""
    if not isinstance(value, int | float):
        return ""
    return f"{value:.4g}"


def _run(estimate: Estimate, measured: Measured) -> Iterator[tuple[str, str]]:
    """Fields of what ran: program, model, split, lengths."""
    facts = measured.facts or EngineRun(tool="", model="")
    yield "runtime", _runtime(estimate, facts)
    yield "model", estimate.model.name
    yield "quant", estimate.model.format
    yield "ngl", _layers(estimate, facts)
    yield "n_cpu_moe", _digits(estimate.settings.cpu_moe)
    if facts.tool in BENCHES:
        yield "context_depth", _digits(facts.depth)
    yield "prompt_len", _digits(measured.prompt_tokens or facts.prompt_tokens)
    yield "gen_len", _digits(facts.output_tokens)
    users = float(estimate.work.users)
    yield "batch", _digits(users) if users > 1 else ""
    yield "kv", "" if estimate.work.kv_type == "f16" else estimate.work.kv_type
    if float(estimate.work.ubatch) != 512.0:
        yield "ubatch", _digits(float(estimate.work.ubatch))
    if estimate.work.draft:
        yield "draft", f"{estimate.work.draft},{estimate.work.drafted:g}"


def _runtime(estimate: Estimate, facts: EngineRun) -> str:
    """Program with its backend and version, as far as the result states them."""
    build = BUILD.match(facts.engine)
    version = f"b{build[1]}" if build else facts.engine
    backend = facts.backend or Backend.label_of(estimate.machine.backend)
    words = (facts.runtime or estimate.runtime.name, backend, version)
    return " ".join(filter(None, words))


def _layers(estimate: Estimate, facts: EngineRun) -> str:
    """Layers on the GPU where somebody stated them, or where all are there."""
    if estimate.settings.gpu_layers is not None:
        return _digits(float(estimate.settings.gpu_layers))
    if not estimate.machine.gpus:
        return "0"
    if facts.gpu_layers is not None:
        return str(facts.gpu_layers)
    if estimate.strategy is PlacementStrategy.GPU_RESIDENT:
        return ALL_LAYERS
    return ""


def _day(facts: EngineRun | None) -> str:
    """Day of the run as its tool states it; today where it states none."""
    stated = facts.when[:10] if facts else ""
    return stated or date.today().isoformat()


NO_OUTPUT = (
    " A typed speed alone counts for little: put what the tool printed into the box `Output`, if "
    "you still have it."
)


def steps(values: Mapping[str, str], *, typed: bool = False) -> str:
    """Instructions for sending the text, for a person who has never sent a run."""
    missing = [label for name, label in USEFUL.items() if name not in values]
    if missing:
        add = f" If you can, add {' and '.join(missing)}."
    else:
        add = ""
    if typed:
        add += NO_OUTPUT
    return (
        "Open a new issue of this program's repository, choose `A run`, paste this text into its "
        f"first box and check the last one; nothing else is needed.{add}"
        " Nothing was sent."
    )
