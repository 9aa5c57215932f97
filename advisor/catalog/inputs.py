"""Inputs of a comparison: name, label, unit, limits and help of each, stated once.

The command line, the form, links, copied commands and the checks of the dataclasses use this table.
Defaults are those of the dataclasses (`MachineSpec`, `Workload`, `Settings`, `MoneyInputs`).
"""

from collections.abc import Mapping
from typing import Any

from advisor.catalog.limits import Input

MACHINE = (
    Input(
        name="gpu", label="GPU", help='any usual name, or none; several as "2x 3090 + P40"',
    ),
    Input(name="gpu_count", label="GPUs", help="GPUs of that kind", limits=(1, 72), whole=True),
    Input(
        name="vram_gb", label="GPU memory", unit="GiB", limits=(0.1, 1024),
        help="memory of each GPU, as sold",
    ),
    Input(
        name="screen_gb", label="Memory of the screen", unit="GiB", limits=(0, 16),
        help="memory of the first GPU that screens and other programs take; left open, 0.75 GiB of "
        "a desktop card on Windows, none elsewhere",
    ),
    Input(name="cpu", label="Processor", help="processor by any usual name, or a platform"),
    Input(
        name="cores", label="Cores", unit="cores", limits=(1, 4096), whole=True,
        help="physical cores",
    ),
    Input(
        name="threads", label="Threads", unit="threads", limits=(1, 4096), whole=True,
        help="threads that compute (llama.cpp's -t); left open, one for each core",
    ),
    Input(
        name="backend", label="Backend",
        help="GPU interface of llama.cpp: cuda, rocm, sycl, metal, vulkan, cpu or unknown; left "
        "open, the usual one of the card on its operating system",
    ),
    Input(
        name="system", label="Operating system",
        help="linux, windows or macos, which decides the usual backend; left open, this machine's "
        "own, the one that a product is sold with, or linux",
    ),
    Input(
        name="driver", label="Graphics driver",
        help="mesa or rocm with its version (mesa 24.2, rocm 6.4), or amdvlk; left open, one of "
        "today",
    ),
    Input(
        name="build", label="Build of llama.cpp",
        help="number of its build (b6715) or its month (2025-10); left open, one of today",
    ),
    Input(
        name="numa", label="Memory nodes",
        help="llama.cpp's --numa on several sockets: distribute, isolate (one socket alone), "
        "numactl (bound to one by numactl) or none; left open, none",
    ),
    Input(
        name="ram_gb", label="RAM", unit="GB", limits=(0.5, 1_000_000),
        help="main memory as sold; on a unified-memory chip what processor and GPU share",
    ),
    Input(
        name="ram_gbs", label="RAM", unit="GB/s", limits=(0.1, 100_000),
        help="sustained read rate of all cores, used unchanged; not the datasheet's peak",
    ),
    Input(
        name="ram_channels", label="RAM channels", unit="channels", limits=(1, 64),
        help="64-bit memory channels",
    ),
    Input(
        name="ram_mts", label="RAM rate", unit="MT/s", limits=(100, 50_000),
        help="transfers per second of each channel",
    ),
    Input(
        name="pcie_gbs", label="Link", unit="GB/s", limits=(0.01, 10_000),
        help="sustained rate of the link to the GPU, used unchanged",
    ),
    Input(name="pcie_gen", label="PCIe generation", limits=(1, 6), whole=True,
          help="PCIe generation of the GPU's slot"),
    Input(name="pcie_lanes", label="PCIe lanes", unit="lanes", help="PCIe lanes of the GPU's slot",
          limits=(1, 32), whole=True),
    Input(name="disk", label="Drive", help="drive by its name in the catalogue"),
    Input(
        name="disk_gbs", label="Drive", unit="GB/s", limits=(0.001, 10_000),
        help="sustained read rate of the drive, used unchanged",
    ),
    Input(
        name="machines", label="Machines", limits=(1, 64), whole=True,
        help="machines of that kind, joined by a network",
    ),
    Input(
        name="network", label="Network between machines",
        help="network between machines: 10GbE, 200GbE, RoCE, Thunderbolt 5",
    ),
    Input(
        name="network_gbs", label="Network", unit="GB/s", limits=(0.001, 1000),
        help="sustained rate between machines, one way",
    ),
)  # fmt: skip
"""Inputs of `MachineSpec`."""

REQUEST = (
    Input(
        name="context", label="Context", unit="tokens", limits=(1, 20_000_000), whole=True,
        help="size of each user's cache in tokens",
    ),
    Input(
        name="prompt", label="Prompt", unit="tokens", limits=(0, 10_000_000), whole=True,
        help="tokens sent",
    ),
    Input(
        name="cached", label="Prompt already cached", unit="tokens", limits=(0, 10_000_000),
        whole=True, help="tokens of the prompt whose keys and values are in the cache already",
    ),
    Input(
        name="output", label="Output", unit="tokens", limits=(1, 1_000_000), whole=True,
        help="tokens generated",
    ),
    Input(
        name="users", label="Users", limits=(1, 100_000), whole=True,
        help="people answered at the same time",
    ),
    Input(
        name="ubatch", label="Micro-batch", unit="tokens", limits=(1, 65_536), whole=True,
        help="prompt tokens computed together (llama.cpp's -ub)",
    ),
)  # fmt: skip
"""Numbers of `Workload`."""

CACHED_SHARE = Input(
    name="cached_share", label="Share already cached", limits=(0, 1),
    help="share of each prompt whose keys and values are in the cache already, 0 to 1, as vLLM's "
    "prefix cache hit rate; in place of a number of tokens",
)  # fmt: skip
"""Cached part of a prompt as a share; `Workload` has it as tokens."""

DRAFT = (
    Input(
        name="drafted", label="Drafted tokens", unit="tokens", limits=(0, 64), whole=True,
        flag="draft-tokens", help="tokens drafted per step, with --draft",
    ),
    Input(
        name="acceptance", label="Acceptance", limits=(0, 1),
        help="share of drafted tokens that the model accepts, 0 to 1",
    ),
)  # fmt: skip
"""Numbers of drafting, in `Workload` too."""

LOAD = (
    Input(
        name="requests_per_hour", label="Requests an hour", limits=(0.01, 100_000_000),
        help="requests of all users together, at random times; the answer then has their waits",
    ),
    Input(
        name="user_tps", label="Speed for each user", unit="tokens/s", limits=(0.1, 10_000),
        help="least speed for each user while a reply is written",
    ),
    Input(
        name="first_token_within", label="First token within", unit="s", limits=(0.01, 100_000),
        help="longest wait for the first token",
    ),
    Input(
        name="length_spread", label="Spread of lengths", limits=(0, 5),
        help="standard deviation of prompt and reply lengths over their mean; 0 if all are equal",
    ),
)  # fmt: skip
"""Numbers of many users."""

PLACEMENT = (
    Input(
        name="gpu_layers",
        label="GPU layers",
        limits=(0, 10_000),
        whole=True,
        help="repeating layers on the GPU (llama.cpp's -ngl); left open, as many as fit",
    ),
    Input(
        name="cpu_moe",
        label="Expert layers in RAM",
        limits=(0, 10_000),
        whole=True,
        help="layers whose experts stay in RAM (llama.cpp's -ncmoe); left open, as few as possible",
    ),
    Input(
        name="cache_gb",
        label="Page cache",
        unit="GB",
        limits=(0, 1_000_000),
        help="RAM for cached parts of a model file on the drive; left open, all free RAM",
    ),
)
"""Numbers of `Settings`."""

MONEY = (
    Input(
        name="replies_per_day", label="Replies a day", limits=(0, 10_000_000),
        help="replies that people wait for in a day, all users together",
    ),
    Input(
        name="days_per_week", label="Days a week", limits=(0.1, 7),
        help="days of use in a week",
    ),
    Input(
        name="answer_hours", label="Answers within", unit="h", limits=(0.1, 24),
        help="hours within which the replies of a day must be complete",
    ),
    Input(
        name="usd_per_hour_of_time", label="Worth of an hour", unit="$", limits=(0, 100_000),
        help="what an hour of waiting costs you",
    ),
    Input(
        name="rented_hours_per_day", label="Rented hours a day", limits=(0.01, 24),
        help="hours a day that a rented machine is kept; left open, computed from use and starts",
    ),
    Input(
        name="starts_per_day", label="Starts a day", limits=(0, 1000),
        help="times a day that a rented machine is started",
    ),
    Input(
        name="start_minutes", label="Start", unit="min", limits=(0, 1440),
        help="time from ordering a rented machine until it runs, without loading the model",
    ),
    Input(
        name="thinking_tokens", label="Thinking", unit="tokens", limits=(0, 1_000_000), whole=True,
        help="tokens of reasoning before each reply, which nobody reads",
    ),
    Input(
        name="reading_tps", label="Reading", unit="tokens/s", limits=(0.1, 1_000_000),
        help="how fast replies are read: faster output saves no time; large for batch jobs",
    ),
    Input(
        name="api_usd_in", label="Your API, sent", unit="$", limits=(0, 1000),
        help="price of your API for a million input tokens",
    ),
    Input(
        name="api_usd_out", label="Your API, answered", unit="$", limits=(0, 1000),
        help="price of your API for a million output tokens",
    ),
    Input(
        name="api_tps", label="API speed", unit="tokens/s", limits=(0.01, 1_000_000),
        help="speed of an API for which none is published",
    ),
    Input(
        name="hours_on_per_day", label="On for hours a day", limits=(0, 24),
        help="hours a day that your machine is on for this, idle time included",
    ),
    Input(
        name="purchase_months", label="Months of use", limits=(1, 240),
        help="months over which the price of a purchase is spread",
    ),
    Input(
        name="usd_per_kwh", label="Electricity", unit="$/kWh", limits=(0, 10),
        help="price of electricity",
    ),
)  # fmt: skip
"""Numbers of `MoneyInputs`."""

OWN_PRICE = Input(
    name="own_price", label="Own price", unit="$", limits=(0.01, 1_000_000),
    help="price of a GPU, a whole machine or a part that replaces the one on record",
)  # fmt: skip
OWN_RENT = Input(
    name="own_rent", label="Own rent", unit="$/h", limits=(0.001, 1000),
    help="rent of a GPU by the hour that replaces the price on record",
)  # fmt: skip
"""Typed price of one item; `MoneyInputs` holds several of each."""

CURRENCY = Input(
    name="usd_rate",
    label="Worth of one unit",
    unit="US $",
    limits=(1e-6, 1000),
    help="value of one unit of your currency in US dollars, as stated by you",
)
"""Exchange rate of `Currency`; typed amounts are in that currency."""

OWNERSHIP = (
    Input(
        name="resale",
        label="Would sell for",
        unit="$",
        limits=(0, 1_000_000),
        help="resale value of your cards, tied up while you keep them; left open, the used price "
        "on record",
    ),
    Input(
        name="rented_at",
        label="Your rent",
        unit="$/h",
        limits=(0, 1000),
        help="hourly price of the machine, if you rent it now",
    ),
)
"""Numbers of `Ownership`."""

TARGET = (
    Input(
        name="min_tps", label="Least speed", unit="tokens/s", limits=(0, 100_000),
        help="least speed for each user",
    ),
    Input(
        name="max_usd_per_month", label="Most a month", unit="$", limits=(0, 10_000_000),
        help="most that a month costs: purchase spread over its months, rent, power",
    ),
    Input(
        name="max_usd", label="Most at once", unit="$", limits=(0, 100_000_000),
        help="most that is paid once",
    ),
)  # fmt: skip
"""Numbers of the finder's `Target`."""

_TABLES = (
    MACHINE, REQUEST, (CACHED_SHARE,), DRAFT, LOAD, PLACEMENT, MONEY, (CURRENCY,), OWNERSHIP,
    TARGET,
)  # fmt: skip
BY_NAME = {entry.name: entry for table in _TABLES for entry in table}
"""Every input."""


def in_usd(values: Mapping[str, Any], usd: float) -> dict[str, Any]:
    """Values by name, with amounts of money converted to US dollars.

    Args:
        values: values of inputs, as typed.
        usd: value of one unit of the typed currency [USD].
    """
    return {
        name: value * usd if value is not None and BY_NAME[name].unit.startswith("$") else value
        for name, value in values.items()
    }
