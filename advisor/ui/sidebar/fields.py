"""Every input of the Advise page: its name in a link, its words, what it allows."""

from dataclasses import dataclass
from functools import cache

from advisor.advice import offers
from advisor.cost_model.workload import LIMITS
from advisor.errors import UnknownName
from advisor.machine import from_spec, spec
from advisor.machine.catalog import disk_rows, gpu_rows, host_rows
from advisor.model import catalog
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.runtimes import ASIDE, RUNTIMES

THIS, ANOTHER = "This machine", "Another machine"
NO_GPU, AS_SEEN, AUTO, NONE, ANY = "No GPU", "As seen", "Auto", "None", "Any"
AS_STORED = "As stored"
PCI, NVLINK = "PCI Express", "NVLink bridge"
DEFAULT_HOST = "Desktop DDR4-3200 dual-channel (typical)"
CONTEXTS = {f"{2**power // 1024}k": 2**power for power in range(11, 21)}
"""Sizes of the context, as people write them [tokens]."""
OTHER_FORMATS = ("AWQ", "GPTQ", "FP8")
"""Formats that llama.cpp does not read, which a person may have."""


@dataclass(frozen=True, kw_only=True)
class Pick:
    """One of several names.

    Attributes:
        key: in links and in the session.
        label: above the widget.
        options: as shown and as written in links.
        default: one of them.
        kind: what a name is ("GPU"), for messages.
        help: behind the question mark.
        free: other text is allowed too, and judged where it is used.
    """

    key: str
    label: str
    options: tuple[str, ...]
    default: str
    kind: str
    help: str = ""
    free: bool = False

    @property
    def default_text(self) -> str:
        """The default as a link writes it."""
        return self.default

    def meant(self, text: str) -> str | None:
        """The option that a value from a link names, whatever its case; None where none is."""
        folded = text.strip().casefold()
        return next((one for one in self.options if one.casefold() == folded), None)

    def problem(self, text: str) -> str:
        """What is wrong with a value from a link; empty where nothing is."""
        if self.free or self.meant(text) is not None:
            return ""
        return f"{UnknownName(self.kind, text, self.options)} Shown instead: {self.default}."


@dataclass(frozen=True, kw_only=True)
class Amount:
    """A number.

    Attributes:
        key: in links and in the session.
        label: above the widget, with the unit.
        low: smallest.
        high: largest.
        default: None for empty.
        step: of the buttons; whole numbers where it is whole.
        placeholder: shown while empty.
        help: behind the question mark.
    """

    key: str
    label: str
    low: float
    high: float
    default: float | None
    step: float
    placeholder: str = ""
    help: str = ""

    def problem(self, text: str) -> str:
        """What is wrong with a value from a link; empty where nothing is."""
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if self.low <= value <= self.high and self.whole_enough(value):
            return ""
        return (
            f"{self.label} cannot be {text[:40]!r}; allowed is {self.low:,g} to {self.high:,.0f}. "
            f"Shown instead: {self.default_text or 'nothing'}."
        )

    @property
    def default_text(self) -> str:
        """The default as a link writes it; empty for none."""
        return "" if self.default is None else f"{self.default:g}"

    @property
    def whole(self) -> bool:
        """Takes whole numbers only."""
        return isinstance(self.step, int)

    def whole_enough(self, value: float) -> bool:
        """A whole number, where it has to be."""
        return not self.whole or value == int(value)


Field = Pick | Amount


def _limited(
    key: str, label: str, limits: tuple[float, float], default: float | None, step: float,
    placeholder: str = "", help: str = "",  # noqa: A002 - as the field is called
) -> Amount:  # fmt: skip
    return Amount(
        key=key, label=label, low=limits[0], high=limits[1], default=default, step=step,
        placeholder=placeholder, help=help,
    )  # fmt: skip


@cache
def fields() -> dict[str, Field]:
    """All inputs by key; read once, since the catalogue is."""
    return {one.key: one for one in (*_model(), *_machine(), *_more(), *_money())}


def _model() -> tuple[Field, ...]:
    forms = catalog.model_formats().values()
    names = [one.name for one in forms if one.family == "gguf"]
    return (
        Pick(
            key="model", label="Model", kind="model", options=tuple(catalog.model_rows()),
            default="Llama-3.1-70B", free=True,
            help="A part of a name finds it in the list. Or type the path of a GGUF file or "
            "config.json, or owner/name of a repository on Hugging Face.",
        ),
        Pick(
            key="format", label="Format", kind="format", options=(*names, *OTHER_FORMATS),
            default="Q4_K_M",
            help="How the weights are packed. Q4_K_M takes about 4.8 bits for each weight.",
        ),
        Pick(
            key="repack", label="Format", kind="format",
            options=(AS_STORED, *names, *OTHER_FORMATS), default=AS_STORED,
            help="As the file or repository has it, or what another format would make of it.",
        ),
        Pick(
            key="context", label="Context", kind="context", options=tuple(CONTEXTS), default="8k",
            help="Tokens that the cache has room for, for each user.",
        ),
        _limited("users", "Users", (1, 512), 1, 1, help="People answered at the same time."),
        _limited(
            "replies", "Replies a day", offers.LIMITS["replies_per_day"], 40, 10,
            help="Replies that people wait for in a day, all users together.",
        ),
    )  # fmt: skip


def _machine() -> tuple[Field, ...]:
    gpus = tuple(gpu_rows())
    hosts = tuple(host_rows())
    links = (AUTO, *(f"PCIe {gen} x{lanes}" for gen in (3, 4, 5) for lanes in (4, 8, 16)))
    limits = spec.LIMITS
    return (
        Pick(key="machine", label="Machine", kind="machine", options=(THIS, ANOTHER), default=THIS),
        Pick(key="gpu", label="GPU", kind="GPU", options=(NO_GPU, *gpus), default="RTX 3090"),
        Pick(
            key="mygpu", label="GPU", kind="GPU", options=(AS_SEEN, NO_GPU, *gpus), default=AS_SEEN,
            help="Choose one to see what this machine would do with it.",
        ),
        _limited("gpus", "GPUs", (1, 8), 1, 1),
        Pick(
            key="gpu2", label="And a GPU of another kind", kind="GPU", options=(NONE, *gpus),
            default=NONE, help="A second card beside the first, as many have it after an upgrade.",
        ),
        Pick(
            key="bridge", label="Between the two", kind="link", options=(PCI, NVLINK),
            default=PCI,
            help="A bridge carries what the cards add up when they share layers.",
        ),
        Pick(key="cpu", label="Processor", kind="CPU", options=hosts, default=DEFAULT_HOST),
        _limited("ram", "RAM (GB)", limits["ram_gb"][:2], 64, 8),
        _limited(
            "pool", "Memory (GB)", limits["ram_gb"][:2], None, 8, "as in the catalogue",
            "Memory that processor and GPU share.",
        ),
        _limited(
            "ramspeed", "RAM (GB/s)", limits["ram_gbs"][:2], None, 1.0, "estimated",
            "What all cores together read, not the datasheet's peak. Empty: estimated.",
        ),
        Pick(
            key="drive", label="Drive", kind="drive", options=tuple(disk_rows()),
            default=from_spec.TYPICAL_DISK,
        ),
        _limited(
            "drivespeed", "Drive (GB/s)", limits["disk_gbs"][:2], None, 0.1, "estimated",
            "Large reads, sustained. Empty: from the datasheet.",
        ),
        Pick(
            key="link", label="Link to the GPU", kind="link", options=links, default=AUTO,
            help="Auto: as the GPU's datasheet has it.",
        ),
    )  # fmt: skip


def _more() -> tuple[Field, ...]:
    return (
        Pick(
            key="runtime", label="Runtime", kind="runtime",
            options=(ANY, *(one.name for one in (*RUNTIMES, *ASIDE))), default=ANY,
            help="Cards, upgrades, changes and what to rent are then of it alone. Any: the fastest "
            "that people usually meet.",
        ),
        Pick(
            key="kv", label="KV cache", kind="KV type", options=tuple(KV_BYTES_PER_VALUE),
            default="f16", help="Format of the cache. q8_0 takes half of f16.",
        ),
        _limited("prompt", "Prompt (tokens)", (1, 1_000_000), 512, 128),
        _limited("output", "Output (tokens)", (1, 100_000), 256, 64),
        _limited(
            "ubatch", "Micro-batch", LIMITS["ubatch"], 512, 128,
            help="Prompt tokens computed together (llama.cpp's -ub).",
        ),
        _limited(
            "layers", "GPU layers", (0, 1000), None, 1, "find",
            "Layers on the GPU (llama.cpp's -ngl). Empty: as many as fit.",
        ),
        _limited(
            "experts", "Expert layers in RAM", (0, 1000), None, 1, "find",
            "Layers whose experts stay in RAM (llama.cpp's -ncmoe). Empty: as few as possible.",
        ),
        _limited(
            "cache", "Page cache (GB)", (0, 100_000), None, 4, "what is free",
            "RAM that keeps parts of a model that lies on the drive.",
        ),
    )  # fmt: skip


def _money() -> tuple[Field, ...]:
    limits = offers.LIMITS
    return (
        _limited(
            "hour", "Worth of an hour ($)", limits["usd_per_hour_of_time"], 30, 5,
            help="What an hour of waiting costs you.",
        ),
        _limited("rentday", "Rented hours a day", (1, 24), 24, 1),
        _limited(
            "months", "Months of use", limits["purchase_months"], 36, 6,
            help="Months over which a purchase is spread.",
        ),
        _limited("kwh", "Electricity ($/kWh)", limits["usd_per_kwh"], 0.18, 0.01),
        Pick(
            key="rentgpu", label="Own rent for", kind="GPU",
            options=(NONE, *gpu_rows()), default=NONE,
            help="A GPU whose rent you know; it replaces the price on record.",
        ),
        _limited("rentusd", "Rent ($/h each)", (0, 1000), 1.0, 0.05),
    )  # fmt: skip
