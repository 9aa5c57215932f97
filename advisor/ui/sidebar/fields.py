"""Inputs of the Advise page: key in links, label, default, limits."""

from collections.abc import Callable
from functools import cache

from advisor.advice.arrivals.question import LoadQuestion
from advisor.advice.money.inputs import MoneyInputs
from advisor.advice.money.ownership import Form
from advisor.advice.prices.host_parts import part_kinds
from advisor.advice.prices.machine_prices import machines_for_sale
from advisor.catalog.inputs import BY_NAME
from advisor.cost_model.workload import DRAFTS, Workload
from advisor.formatting import US_DOLLAR
from advisor.machine import backends, from_spec, software
from advisor.machine.catalog import disk_rows, gpu_rows, host_rows, machine_rows
from advisor.model import catalog
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.runtimes import ASIDE, RUNTIMES
from advisor.ui.sidebar.field_kinds import Amount, Field, Pick, Size
from advisor.units import gibibytes, gigabytes_per_second, tokens

NO_POLICY = software.POLICIES[0]
DRIVERS = ("Mesa 24.2", "Mesa 25.3", "AMDVLK", "ROCm 6.4")
"""Drivers to choose from; others can be typed."""
THIS, ANOTHER, NAMED = "This machine", "Another machine", "By name"
NO_GPU, AS_SEEN, AUTO, NONE, ANY = "No GPU", "As seen", "Auto", "None", "Any"
AS_STORED = "As stored"
CLOUD = "cloud"
"""Kind of the presets that nobody owns."""
ANY_NAME = "Or type any name that people or drivers use"
PCI, NVLINK = "PCI Express", "NVLink bridge"
WORK, SPENT, LOADED = Workload(), MoneyInputs(), LoadQuestion()
"""Requests, money and load as they are where nobody states them."""
CURRENCIES = (
    "USD", "EUR", "GBP", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "HUF", "IDR", "ILS",
    "INR", "JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK", "SGD", "THB",
    "TRY", "TWD", "UAH", "VND", "ZAR",
)  # fmt: skip
"""Currencies of the page; the command line takes any."""
OWNED, RENTED, NOTHING, BY_PARTS = "Owned", "Rented", "Nothing yet", "By its parts"
IN_PARTS, WHOLE, BY_USER = "A part of each", "Whole ones", "Whole ones, and users of its own"
"""What each of several GPUs holds of the experts."""
CONTEXTS = {f"{2**power // 1024}k": 2**power for power in range(11, 21)}
"""Sizes of the context, as people write them [tokens]."""
OTHER_FORMATS = ("AWQ", "GPTQ", "FP8")
"""Formats that llama.cpp does not read, which a person may have."""


def number(
    key: str, name: str, step: float, *, default: float | None = None, placeholder: str = "",
    label: str = "",
) -> Amount:  # fmt: skip
    """Number of the input registry, under its key in links.

    Args:
        key: key in links and in the session.
        name: name in the registry.
        step: step of the buttons.
        default: default; None for empty.
        placeholder: text in the empty field.
        label: shorter label, for a narrow column.
    """
    entry = BY_NAME[name]
    low, high = entry.limits or (0.0, float("inf"))
    return Amount(
        key=key, label=label or entry.title, low=low, high=high, default=default, step=step,
        placeholder=placeholder, help=_sentence(entry.help),
    )  # fmt: skip


def _choice(
    name: str, options: tuple[str, ...], kind: str, default: str, *, free: bool = False
) -> Pick:
    """Choice of the input registry, under its own name.

    Args:
        name: name in the registry, and the key in links and in the session.
        options: names to choose from beside the default.
        kind: kind of thing, for messages.
        default: option that states nothing.
        free: other text is allowed.
    """
    entry = BY_NAME[name]
    return Pick(
        key=name, label=entry.label, kind=kind, options=(default, *options), default=default,
        help=_sentence(entry.help), free=free,
    )  # fmt: skip


def _size(
    key: str, name: str, read: Callable[[str], float], *, default: float | None = None,
    placeholder: str = "", label: str = "",
) -> Size:  # fmt: skip
    """Size of the input registry, typed with or without its unit.

    Args:
        key: key in links and in the session.
        name: name in the registry.
        read: parser of the text.
        default: default; None for empty.
        placeholder: text in the empty field.
        label: shorter label, for a narrow column.
    """
    entry = BY_NAME[name]
    low, high = entry.limits or (0.0, float("inf"))
    return Size(
        key=key, label=label or entry.title, low=low, high=high, default=default, read=read,
        whole=entry.whole or read is tokens, placeholder=placeholder, help=_sentence(entry.help),
    )  # fmt: skip


def _sentence(phrase: str) -> str:
    return f"{phrase[:1].upper()}{phrase[1:]}."


@cache
def fields() -> dict[str, Field]:
    """All inputs by key, built once."""
    every = (*_model(), *_machine(), *_having(), *_more(), *_load(), *_money())
    return {field.key: field for field in every}


def _model() -> tuple[Field, ...]:
    forms = catalog.model_formats().values()
    names = [form.name for form in forms if form.family == "gguf"]
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
            help="How the weights are packed. Q4_K_M takes about 4.8 bits for each weight. AWQ and "
            "GPTQ (4 bits) and FP8 (8 bits) are made for GPU servers such as vLLM.",
        ),
        Pick(
            key="repack", label="Format", kind="format",
            options=(AS_STORED, *names, *OTHER_FORMATS), default=AS_STORED,
            help="Format of the file or repository, or another one to compare with.",
        ),
        Pick(
            key="context", label="Context", kind="context", options=tuple(CONTEXTS), default="8k",
            free=True,
            help="Tokens that the cache of each user has room for. Or type 100k or 131072.",
        ),
        number("users", "users", 1, default=int(WORK.users)),
        number("replies", "replies_per_day", 10, default=SPENT.replies_per_day),
    )  # fmt: skip


def _machine() -> tuple[Field, ...]:
    gpus = tuple(gpu_rows())
    hosts = tuple(host_rows())
    owned = (row.name for row in machine_rows().values() if row.kind != CLOUD)
    rented = (row.name for row in machine_rows().values() if row.kind == CLOUD)
    presets = (*owned, *rented)
    links = (AUTO, *(f"PCIe {gen} x{lanes}" for gen in (3, 4, 5) for lanes in (4, 8, 16)))
    return (
        Pick(
            key="machine", label="Machine", kind="machine", options=(THIS, ANOTHER, NAMED),
            default=THIS,
        ),
        Pick(
            key="owned", label="Machine", kind="machine", options=presets, default=presets[0],
            free=True,
            help="Choose one, or type what it is called: Mac Studio M3 Ultra 512GB, Legion with "
            "4070, 2x 3090 Threadripper, g6e.xlarge.",
        ),
        Pick(
            key="gpu", label="GPU", kind="GPU", options=(NO_GPU, *gpus), default="RTX 3090",
            free=True, help=f"{ANY_NAME}: 4090 laptop, 2x 3090, NVIDIA GeForce RTX 3060.",
        ),
        Pick(
            key="mygpu", label="GPU", kind="GPU", options=(AS_SEEN, NO_GPU, *gpus), default=AS_SEEN,
            free=True,
            help=f"Choose one to see what this machine would do with it. {ANY_NAME}.",
        ),
        number("gpus", "gpu_count", 1, default=1),
        Pick(
            key="gpu2", label="And a GPU of another kind", kind="GPU", options=(NONE, *gpus),
            default=NONE, free=True,
            help="A second card of another kind, as many people have after an upgrade.",
        ),
        Pick(
            key="bridge", label="Between the two", kind="link", options=(PCI, NVLINK),
            default=PCI,
            help="Connection between the two cards, which matters when they share layers.",
        ),
        Pick(
            key="cpu", label="Processor", kind="CPU", options=hosts,
            default=from_spec.TYPICAL_HOST, free=True,
            help=f"{ANY_NAME}: i7-13700K, 2x EPYC 7763, Ryzen 7 5800X3D.",
        ),
        _size("ram", "ram_gb", gibibytes, default=from_spec.TYPICAL_RAM_GIB),
        _size("pool", "ram_gb", gibibytes, placeholder="as in the catalogue", label="Memory (GB)"),
        _size("ramspeed", "ram_gbs", gigabytes_per_second, placeholder="estimated"),
        Pick(
            key="drive", label="Drive", kind="drive", options=tuple(disk_rows()),
            default=from_spec.TYPICAL_DISK,
        ),
        _size("drivespeed", "disk_gbs", gigabytes_per_second, placeholder="estimated"),
        Pick(
            key="link", label="Link to the GPU", kind="link", options=links, default=AUTO,
            help="Auto: the link of the GPU's datasheet.",
        ),
    )  # fmt: skip


def _more() -> tuple[Field, ...]:
    return (
        Pick(
            key="runtime", label="Runtime", kind="runtime",
            options=(ANY, *(runtime.name for runtime in (*RUNTIMES, *ASIDE))), default=ANY,
            help="Limits the whole answer to one runtime. Any: the fastest in common use.",
        ),
        Pick(
            key="kv", label="KV cache", kind="KV type", options=tuple(KV_BYTES_PER_VALUE),
            default="f16", help="Format of the cache. q8_0 takes half of f16.",
        ),
        _size("prompt", "prompt", tokens, default=float(WORK.prompt)),
        _size("cached", "cached", tokens, default=float(WORK.cached)),
        number("cachedshare", "cached_share", 0.05, placeholder="by tokens"),
        _size("output", "output", tokens, default=float(WORK.output)),
        number("ubatch", "ubatch", 128, default=float(WORK.ubatch)),
        Pick(
            key="draft", label="Drafted by", kind="drafting method", options=(NONE, *DRAFTS),
            default=NONE, free=True,
            help="Speculative decoding: tokens are drafted by the model's own layers (mtp), an "
            "EAGLE head, n-grams of the text or a smaller model, typed by its name, and the "
            "model checks several at once. Runtimes without it say so.",
        ),
        number("acceptance", "acceptance", 0.05, placeholder="as published"),
        number("drafted", "drafted", 1, placeholder="as usual"),
        number("layers", "gpu_layers", 1, placeholder="find"),
        number("experts", "cpu_moe", 1, placeholder="find"),
        _size("cache", "cache_gb", gibibytes, placeholder="what is free"),
        Pick(
            key="backend", label="Backend", kind="backend", options=(AUTO, *backends.NAMES),
            default=AUTO,
            help="GPU interface of llama.cpp. Auto: the usual one of the card on its operating "
            "system.",
        ),
        number("threads", "threads", 1, placeholder="one a core"),
        _choice("system", tuple(software.SYSTEMS), "operating system", AUTO),
        _size("screen", "screen_gb", gibibytes, placeholder="usual"),
        _choice("driver", DRIVERS, "driver", AUTO, free=True),
        _choice("build", ("2024-09", "2025-10"), "build", AUTO, free=True),
        _choice("numa", software.POLICIES[1:], "policy", NO_POLICY),
        Pick(
            key="division", label="Experts on each of several GPUs", kind="division of experts",
            options=(IN_PARTS, WHOLE, BY_USER), default=IN_PARTS,
            help="Whole ones: expert parallel, for vLLM, SGLang and TensorRT-LLM. Memory is the "
            "same; a step waits for the GPU whose experts are asked for most. With users of its "
            "own, a GPU holds all other weights too, and the cache of its users alone: more memory "
            "for weights, less for DeepSeek's cache, more tokens together with many users.",
        ),
    )  # fmt: skip


def _load() -> tuple[Field, ...]:
    """Inputs beside the chart of users under load."""
    return (
        number("eachtps", "user_tps", 1.0, default=LOADED.user_tps),
        number("firstin", "first_token_within", 0.5, default=LOADED.first_token_within),
        number("perhour", "requests_per_hour", 100.0, placeholder="left open"),
        number("spread", "length_spread", 0.1, default=LOADED.length_spread),
    )


def _money() -> tuple[Field, ...]:
    return (
        number("hour", "usd_per_hour_of_time", 5, default=SPENT.usd_per_hour_of_time),
        number("days", "days_per_week", 1.0, default=SPENT.days_per_week),
        number("within", "answer_hours", 1.0, default=SPENT.answer_hours),
        number("rentday", "rented_hours_per_day", 1, placeholder="by use"),
        number("starts", "starts_per_day", 1.0, default=SPENT.starts_per_day),
        number("startmin", "start_minutes", 1.0, default=SPENT.start_minutes),
        number("thinking", "thinking_tokens", 256, default=SPENT.thinking_tokens),
        number("reading", "reading_tps", 1.0, default=SPENT.reading_tps),
        number("on", "hours_on_per_day", 1.0, default=SPENT.hours_on_per_day),
        number("months", "purchase_months", 6, default=SPENT.purchase_months),
        number("kwh", "usd_per_kwh", 0.01, default=SPENT.usd_per_kwh),
        number("apiin", "api_usd_in", 0.05, placeholder="as listed"),
        number("apiout", "api_usd_out", 0.05, placeholder="as listed"),
        number("apispeed", "api_tps", 10.0, placeholder="as published"),
        Pick(
            key="currency", label="Currency", kind="currency", options=CURRENCIES,
            default=US_DOLLAR.code,
            help="Currency of all typed and shown amounts; quoted prices stay in the dollars of "
            "their sources.",
        ),
        number("rate", "usd_rate", 0.01, placeholder="type today's"),
        Pick(
            key="rentgpu", label="Own rent for", kind="GPU",
            options=(NONE, *gpu_rows()), default=NONE,
            help="A GPU whose rent you know; it replaces the price on record.",
        ),
        Amount(
            key="rentusd", label="Rent ($/h each)", low=0.01, high=1000.0, default=1.0, step=0.05
        ),
        Pick(
            key="buygpu", label="Own price for", kind="GPU",
            options=(NONE, *part_kinds(), *machines_for_sale(), *gpu_rows()), default=NONE,
            help="A GPU, machine or part of the host (psu, dock, ram) whose price you know; it "
            "replaces the one on record.",
        ),
        Amount(
            key="buyusd", label="Price ($ each)", low=1.0, high=1_000_000.0, default=1000.0,
            step=50.0,
        ),
    )  # fmt: skip


def _having() -> tuple[Field, ...]:
    return (
        Pick(
            key="having", label="You have it", kind="answer", options=(OWNED, RENTED, NOTHING),
            default=OWNED, help="Its present cost, power or rent, is part of every comparison. "
            "Nothing yet: cards come in a new desktop.",
        ),
        Pick(
            key="formfactor", label="Kind of machine", kind="kind of machine",
            options=(BY_PARTS, *(form.value for form in Form)), default=BY_PARTS,
            help="A laptop, Mac or mini PC takes no card inside. By its parts: derived from them.",
        ),
        number("resale", "resale", 50.0, placeholder="used price"),
        number("rentedat", "rented_at", 0.05, default=0.5),
    )  # fmt: skip
