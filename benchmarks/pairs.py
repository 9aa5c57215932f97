"""Does a change pay? Published pairs of runs, and what is predicted for each; nothing is fitted to
them.

    python -m benchmarks.pairs [second_machine | expert_cache | drafts]

`second_machine`: rows of data/measurements/second_machine_pairs.csv, one runtime, model and number
of users on one machine and on two of its kind by a network. `expert_cache`: rows of
expert_cache_pairs.csv without and with a cache of experts in the GPU; experts outside it are copied
over the link (llama.cpp's `--moe-cache-mib`) or computed by the processor (forks). `drafts`: rows
of drafted_2026.csv whose note states the speed without drafting ("plain 45.6 with -ncmoe 30"), and
those of drafting.csv.

Aims: the sign right in at least 95 % of the pairs, with caches of experts in all; gains within a
fifth at the median, but for those.
"""

import csv
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.evidence.published.predict import predictions
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.runtimes import LLAMA_CPP, runtime
from advisor.runtimes.compare import compare
from advisor.runtimes.llama_cpp.passes import phases
from advisor.units import GIB
from lab.points import drafting

FOLDER = DATA / "measurements"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A published gain and the predicted one, each the rate with the change over that without."""

    id: str
    words: str
    measured: float
    predicted: float

    @property
    def right(self) -> bool:
        """Whether the sign is right."""
        return (self.predicted > 1.0) == (self.measured > 1.0)


@dataclass(frozen=True, kw_only=True)
class SecondMachineRow:
    """One row of second_machine_pairs.csv; data/measurements/README.md describes its columns."""

    id: str
    publisher: str
    gpu: str
    ram_gb: float
    runtime: str
    model: str
    quant: str
    users: int
    prompt: int
    reply: int
    counts: str
    network: str
    network_gbs: float | None
    one_tps: float
    two_tps: float
    source_url: str

    @property
    def prompts_counted(self) -> int:
        """Prompts read within the time of the published rate.

        llama-benchy divides the tokens of all by the time from the first user's first token to the
        last one's end (results.py of eugr/llama-benchy at 2e3e74d), so it counts all prompts but
        the first.
        """
        ways = {"decoding": 0, "from the first token": self.users - 1, "whole requests": self.users}
        return ways[self.counts]


def second_machine() -> Iterator[Pair]:
    """Pairs of one machine and two."""
    for row in read(FOLDER / "second_machine_pairs.csv", SecondMachineRow):
        yield Pair(
            id=row.id,
            words=f"{row.publisher:8} 2x {row.gpu:13} {row.runtime:9} {row.model:27} {row.quant:7} "
            f"{row.users:3} users",
            measured=row.two_tps / row.one_tps,
            predicted=_rate_of_all(row, 2) / _rate_of_all(row, 1),
        )


def _rate_of_all(row: SecondMachineRow, machines: int) -> float:
    """Predicted rate of all users as the row counts it, in the fastest placement [tokens/s].

    n reply / ( p / n t_prompts + reply t_token ), with p of the n users' prompts in that time.
    """
    where = machine(
        MachineSpec(
            gpu=row.gpu,
            ram_gb=row.ram_gb,
            machines=machines,
            network=row.network if machines > 1 else None,
            network_gbs=row.network_gbs if machines > 1 else None,
        )
    )
    context = row.prompt + row.reply
    work = Workload(prompt=row.prompt, output=row.reply, context=context, users=row.users)
    model = resolve.find(row.model, row.quant).model
    engine = runtime(row.runtime)
    share = row.prompts_counted / row.users
    rates = [0.0]
    for outcome in compare(model, where, work, runtimes=(engine,)):
        if bool(outcome.fits) and outcome.step and outcome.prompt:
            seconds = share * outcome.prompt.total + row.reply * outcome.step.total
            rates.append(float(row.users * row.reply / seconds))
    return max(rates)


@dataclass(frozen=True, kw_only=True)
class ExpertCacheRow:
    """One row of expert_cache_pairs.csv; data/measurements/README.md describes its columns."""

    id: str
    publisher: str
    gpu: str
    gpu_count: int
    backend: str
    ram_channels: float
    ram_mts: float
    pcie_gbs: float | None
    model: str
    quant: str
    cpu_moe: float
    cached_cpu_moe: float
    cache_gib: float
    misses: str
    plain_tps: float
    cached_tps: float
    source_url: str


WORK = Workload(prompt=64, output=200, context=2048)
"""Most rows of caches state a reply of 200 tokens or none at all."""
ROOM_GIB = 256.0  # RAM of a machine whose row states none: all of the experts fit


def expert_cache() -> Iterator[Pair]:
    """Pairs without and with a cache of experts."""
    for row in read(FOLDER / "expert_cache_pairs.csv", ExpertCacheRow):
        plain = Settings(cpu_moe=row.cpu_moe)
        cached = Settings(cpu_moe=row.cached_cpu_moe, expert_cache=row.cache_gib * GIB)
        yield Pair(
            id=row.id,
            words=f"{row.publisher:12} {row.gpu_count}x {row.gpu:16} {row.model:20} "
            f"{row.cache_gib:5.1f} GiB, misses {row.misses:8}",
            measured=row.cached_tps / row.plain_tps,
            predicted=_rate_beside_ram(row, cached) / _rate_beside_ram(row, plain),
        )


def _rate_beside_ram(row: ExpertCacheRow, settings: Settings) -> float:
    """Predicted rate of decoding with experts in RAM; NaN for what does not fit [tokens/s]."""
    where = machine(
        MachineSpec(
            gpu=row.gpu,
            gpu_count=row.gpu_count,
            backend=row.backend,
            ram_gb=ROOM_GIB,
            ram_channels=row.ram_channels,
            ram_mts=row.ram_mts,
            pcie_gbs=row.pcie_gbs,
        )
    )
    engine = LLAMA_CPP
    model = resolve.find(row.model, row.quant).model
    if row.misses == "computed":
        schedule = partial(phases, copies_experts=True, copies_misses=False)
        engine = replace(LLAMA_CPP, schedule=schedule)
    settings = replace(settings, gpu_layers=float(model.layers))
    for outcome in compare(model, where, WORK, settings=settings, runtimes=(engine,)):
        if outcome.strategy is PlacementStrategy.CPU_OFFLOAD and outcome.decode_tps is not None:
            return float(outcome.decode_tps)
    return np.nan


PLAIN = re.compile(r"plain(?: -cmoe)? (\d+(?:\.\d+)?)(?: with -ncmoe (\d+))?")
DRAFT = re.compile(r"draft:.*?(?=; plain)")


def drafts() -> Iterator[Pair]:
    """Pairs without and with drafted tokens: of rows that state the speed without, and of
    drafting.csv, whose points scale that speed by the gain.
    """
    with (FOLDER / "drafted_2026.csv").open(encoding="utf-8", newline="") as file:
        remarks = ((row, PLAIN.search(row["source_note"])) for row in csv.DictReader(file))
        rows = [(row, told) for row, told in remarks if told]
    drafted = [dict(row, source_note=PLAIN.sub("", row["source_note"])) for row, _ in rows]
    alone = [_without_drafts(row, told[2]) for row, told in rows]
    answers = zip(rows, predictions(drafted), predictions(alone), strict=True)
    for (row, told), faster, slower in answers:
        yield Pair(
            id=row["id"],
            words=f"{row['publisher']:16} {row['gpu']:16} {row['model']:18} {row['category']:12}",
            measured=float(row["tg_tps"]) / float(told[1]),
            predicted=float(str(faster["tg_tps"])) / float(str(slower["tg_tps"])),
        )
    for gain in drafting.rows():
        yield Pair(
            id=gain.id,
            words=f"{gain.runtime:16} {gain.gpu:16.16} {gain.model:18} {gain.draft} "
            f"{gain.drafted:9}",
            measured=gain.drafted_tps / gain.plain_tps,
            predicted=drafting.gain(gain),
        )


def _without_drafts(row: Mapping[str, str], layers: str | None) -> dict[str, str]:
    """The same run without drafting, with its own layers of experts in RAM where it states them."""
    own = {"n_cpu_moe": layers} if layers else {}
    return {**row, **own, "source_note": DRAFT.sub("", row["source_note"])}


@dataclass(frozen=True)
class Aim:
    """What is to be reached by the predictions of some pairs."""

    pairs: Callable[[], Iterator[Pair]]
    signs: float = 0.95  # least share of right signs
    within: float = 1.2  # largest median factor between predicted and measured gains


AIMS = {
    "second_machine": Aim(second_machine),
    "expert_cache": Aim(expert_cache, signs=1.0, within=np.inf),
    "drafts": Aim(drafts),
}


def met(aim: Aim, pairs: tuple[Pair, ...]) -> bool:
    """Whether gains meet their aims; prints how near they are."""
    ratios = np.array([pair.predicted / pair.measured for pair in pairs])
    right = sum(pair.right for pair in pairs)
    off = np.exp(np.median(np.abs(np.log(ratios))))
    print(f"signs right: {right} of {len(pairs)}")
    print(f"median of predicted over measured: {np.median(ratios):.2f}")
    print(f"median factor between them: {off:.2f}")
    return bool(right >= aim.signs * len(pairs) and off <= aim.within)


def main(names: list[str]) -> int:
    """Print the tables; returns the exit code: 0 where all aims are met."""
    missed = 0
    for name in names or AIMS:
        pairs = tuple(AIMS[name].pairs())
        print(f"{name}:")
        for pair in pairs:
            print(f"{pair.words} {pair.measured:5.2f} {pair.predicted:5.2f}")
        missed += not met(AIMS[name], pairs)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
