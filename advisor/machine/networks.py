"""Networks between machines, by their names: rate of the payload, and time of a short sum.

"200GbE", "2x 100G RoCE" or "Thunderbolt 5" are a kind (data/hardware/networks.csv) and a nominal
rate. Ethernet of 100 Gbit/s and more is taken to be RDMA, as its cards all are.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.units import GB

FILE = DATA / "hardware" / "networks.csv"
RATE = re.compile(r"(?:\b(\d) ?x ?)?\b(\d+(?:\.\d+)?) ?-?g(?:be|bps|bit(?:/s)?|b/s|igabit|e|\b)")
"""Pattern of a nominal rate, and of a number of such links [Gbit/s]."""
OF_RDMA = 100.0
"""Rate of Ethernet from which its cards read memory themselves [Gbit/s]."""
OTHER = "Ethernet"


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkRow:
    """Kind of network; fields as the columns of data/hardware/networks.csv."""

    name: str  # name
    words: str  # pattern of the words that mean it
    gbit_per_s: float  # usual nominal rate [Gbit/s]
    payload: float  # share of the nominal rate that payload gets
    reduce_us: float  # time of a sum of a short vector over two machines [us]
    message_us: float  # time of a message over TCP and its answer [us]
    source: str  # page the figures were read from
    source_date: str  # day or month of that
    note: str  # remark


@dataclass(frozen=True, kw_only=True)
class Network:
    """Network between machines."""

    name: str  # kind and nominal rate ("RoCE, 200 Gbit/s")
    rate: Quantity  # rate of the payload, one direction [B/s]
    reduce: Quantity  # time of a sum of a short vector over two machines [s]
    message: Quantity  # time of a message over TCP and its answer [s]


@cache
def _rows() -> tuple[NetworkRow, ...]:
    return read(FILE, NetworkRow)


@cache
def _mention() -> re.Pattern[str]:
    """Pattern of a network in a machine's name: kinds and rates, with what joins them."""
    kinds = "|".join(row.words for row in _rows())
    rate = r"\b(?:\d ?x ?)?\d+(?:\.\d+)? ?(?:gbe|gbps|gbit(?:/s)?|gb/s (?=network)|gigabit)\b"
    joint = r"over|via|through|using|linked by|connected (?:by|with|over|via)|joined by|with|and|by"
    more = r"cables?|links?|switch|direct|dac|network|bridge|\d+g\b|qsfp\w*"
    item = rf"(?:{kinds}|{rate})"
    return re.compile(
        rf"[(,;]?\s*(?:\b(?:{joint})\s+)*{item}(?:[\s,/+-]*(?:{item}|{more}|{joint}))*\s*[)]?"
    )


def without_network(text: str) -> tuple[str, str]:
    """A machine's name without the network in it, and the network; empty where it has none."""
    mention = _mention().search(text)
    if mention is None:
        return text, ""
    return f"{text[: mention.start()]} {text[mention.end() :]}".strip(), mention[0].strip(" (),;")


def network_named(text: str) -> Network:
    """Network of a name.

    Raises:
        InputError: a name without a known kind or rate; lists the kinds.
    """
    folded = text.casefold()
    stated = RATE.search(folded)
    row = next((row for row in _rows() if re.search(row.words, folded)), None)
    if row is None and stated is None:
        kinds = ", ".join(row.name for row in _rows())
        raise InputError(
            f"Network {text[:40]!r} is not known; name its kind ({kinds}) or its rate (200GbE)."
        )
    nominal = float(stated[2]) * float(stated[1] or 1) if stated else None
    if row is None or (row.name == OTHER and (nominal or 0.0) >= OF_RDMA):
        row = _of_ethernet(nominal or 0.0)
    return _network(row, nominal or row.gbit_per_s)


def _of_ethernet(nominal: float) -> NetworkRow:
    fast = nominal >= OF_RDMA
    return next(row for row in _rows() if row.name == ("RoCE" if fast else OTHER))


def _network(row: NetworkRow, nominal: float) -> Network:
    def figure(value: float) -> Quantity:
        return Quantity(
            value=value, kind=Provenance.DERIVED, source=row.source, date=row.source_date
        )

    return Network(
        name=f"{row.name}, {nominal:g} Gbit/s",
        rate=figure(row.payload * nominal / 8 * GB),
        reduce=figure(row.reduce_us * 1e-6),
        message=figure(row.message_us * 1e-6),
    )


USUAL: tuple[tuple[str, str], ...] = (("GB10", "200GbE"), ("Apple M3 Ultra", "Thunderbolt 5"))
"""Network that machines with a chip are built with, by the beginning of the chip's name."""
USUAL += tuple((f"Apple M{chip}", "Thunderbolt 5") for chip in ("4 Pro", "4 Max"))
USUAL += (("Apple M5", "Thunderbolt 5"), ("Apple M", "Thunderbolt 4"))


def usual_network(gpu: str) -> Network:
    """Network of machines whose owner states none: what they are built with, else 10 Gbit."""
    text = next((name for chip, name in USUAL if gpu.startswith(chip)), "10GbE")
    built = network_named(text)
    told = f"{built.name}, which nobody stated"

    def assumed(figure: Quantity) -> Quantity:
        return Quantity(value=figure.value, kind=Provenance.ASSUMED, source=told)

    return Network(
        name=built.name,
        rate=assumed(built.rate),
        reduce=assumed(built.reduce),
        message=assumed(built.message),
    )


def joined(machine: Machine, nodes: int, network: Network) -> Machine:
    """As many machines of a kind, over the network they have, else over another.

    Args:
        machine: a machine, or several of a kind.
        nodes: number of machines.
        network: network of machines that have none.
    """
    of_each = machine.gpus[: len(machine.gpus) // machine.nodes]
    single = machine.name.partition(" machines of ")[2] or machine.name
    return replace(
        machine,
        name=f"{nodes} machines of {single}",
        gpus=of_each * nodes,
        nodes=nodes,
        network=machine.network or network.rate,
        reduce=machine.reduce or network.reduce,
    )
