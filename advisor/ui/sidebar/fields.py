"""Inputs of the Advise page: key in links, label, default, limits."""

from functools import cache

from advisor.advice.prices.host_parts import part_kinds
from advisor.advice.prices.rows import machines_for_sale
from advisor.cost_model.workload import DRAFTS, Workload
from advisor.formatting import US_DOLLAR
from advisor.machine import backends, software
from advisor.machine.catalog import gpu_rows
from advisor.model import catalog
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.request.load import LoadQuestion
from advisor.request.money import MoneyInputs
from advisor.request.ownership import Form
from advisor.runtimes import ASIDE, RUNTIMES
from advisor.ui.sidebar.field_kinds import Amount, Field, Pick
from advisor.ui.sidebar.machine_fields import machine_fields
from advisor.ui.sidebar.option_words import (
    ANY,
    AS_STORED,
    AUTO,
    BY_PARTS,
    BY_USER,
    IN_PARTS,
    NONE,
    NOTHING,
    OWNED,
    RENTED,
    WHOLE,
)
from advisor.ui.sidebar.registry_fields import choice, number, size
from advisor.units import gibibytes, tokens

NO_POLICY = software.POLICIES[0]
DRIVERS = ("Mesa 24.2", "Mesa 25.3", "AMDVLK", "ROCm 6.4")
"""Drivers to choose from; others can be typed."""
WORK, SPENT, LOADED = Workload(), MoneyInputs(), LoadQuestion()
"""Requests, money and load as they are where nobody states them."""
CURRENCIES = (
    "USD", "EUR", "GBP", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "HUF", "IDR", "ILS",
    "INR", "JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK", "SGD", "THB",
    "TRY", "TWD", "UAH", "VND", "ZAR",
)  # fmt: skip
"""Currencies of the page; the command line takes any."""
CONTEXTS = {f"{2**power // 1024}k": 2**power for power in range(11, 21)}
"""Sizes of the context, as people write them [tokens]."""
OTHER_FORMATS = ("AWQ", "GPTQ", "FP8")
"""Formats that llama.cpp does not read, which a person may have."""


@cache
def fields() -> dict[str, Field]:
    """All inputs by key, built once."""
    every = (
        *_model(),
        *machine_fields(),
        *_having(),
        *_request(),
        *_placement(),
        *_software(),
        *_load(),
        *_money(),
    )
    return {field.key: field for field in every}


def _model() -> tuple[Field, ...]:
    forms = catalog.model_formats().values()
    names = [form.name for form in forms if form.family == "gguf"]
    return (
        Pick(
            key="model", label="Model", kind="model", options=tuple(catalog.model_rows()),
            default="Llama-3.1-70B", free=True,
            help="Part of a name filters the list. Or type the path of a GGUF file or "
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


def _request() -> tuple[Field, ...]:
    """Runtime, lengths of prompt and reply, cache and drafted tokens."""
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
        size("prompt", "prompt", tokens, default=float(WORK.prompt)),
        size("cached", "cached", tokens, default=float(WORK.cached)),
        number("cachedshare", "cached_share", 0.05, placeholder="by tokens"),
        size("output", "output", tokens, default=float(WORK.output)),
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
    )  # fmt: skip


def _placement() -> tuple[Field, ...]:
    """Placement of layers and experts, where the runtime is not to choose it."""
    return (
        number("layers", "gpu_layers", 1, placeholder="automatic"),
        number("experts", "cpu_moe", 1, placeholder="automatic"),
        size("cache", "cache_gb", gibibytes, placeholder="what is free"),
        Pick(
            key="division", label="Experts on each of several GPUs", kind="division of experts",
            options=(IN_PARTS, WHOLE, BY_USER), default=IN_PARTS,
            help="Whole ones: expert parallel, for vLLM, SGLang and TensorRT-LLM. Memory is the "
            "same; a step waits for the GPU whose experts are asked for most. With users of its "
            "own, a GPU holds all other weights too, and the cache of its users alone: more memory "
            "for weights, less for DeepSeek's cache, more tokens together with many users.",
        ),
    )  # fmt: skip


def _software() -> tuple[Field, ...]:
    return (
        Pick(
            key="backend", label="Backend", kind="backend", options=(AUTO, *backends.NAMES),
            default=AUTO,
            help="GPU interface of llama.cpp. Auto: the usual one of the card on its operating "
            "system.",
        ),
        number("threads", "threads", 1, placeholder="one per core"),
        choice("system", tuple(software.SYSTEMS), "operating system", AUTO),
        size("screen", "screen_gb", gibibytes, placeholder="usual"),
        choice("driver", DRIVERS, "driver", AUTO, free=True),
        choice("build", ("2024-09", "2025-10"), "build", AUTO, free=True),
        choice("numa", software.POLICIES[1:], "policy", NO_POLICY),
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
        number("namedrent", "rented_at", 0.05, placeholder="price on record"),
    )  # fmt: skip
