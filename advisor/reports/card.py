"""A card: the verdict on one model and one machine, as a link's preview and a README show it."""

from dataclasses import dataclass

from advisor.advice.advise import Answer
from advisor.advice.judgement import Judgement
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import model_words
from advisor.machine.in_words import parts
from advisor.runtimes.compare import decode_tps
from advisor.units import number

TITLE_LENGTH = 70  # characters of a title that previews show whole
GOOD = "good"
PARTLY = "partly"
BAD = "bad"
"""Tones: of a speed that suits, one that is slow, and one that is of no use."""
TONES = {
    Judgement.FASTER: GOOD,
    Judgement.KEEPS_UP: GOOD,
    Judgement.SLOWER: PARTLY,
    Judgement.MINUTES: PARTLY,
    Judgement.THINKS: PARTLY,
    Judgement.DRIVE: BAD,
    Judgement.UNUSABLE: BAD,
    Judgement.NOTHING: BAD,
}
"""Tone of each judgement."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """Words and figures of a card."""

    model: str  # model and format
    machine: str  # graphics cards and RAM
    tone: str  # a tone of the speed
    gives: str  # first line of the verdict
    way: str  # second line of the verdict
    runs: str  # runtime and where the weights lie; empty where nothing runs
    speed: float | None  # generation [tokens/s]; None where nothing runs
    low: float  # end of its 80 % range [tokens/s]
    high: float  # end of its 80 % range [tokens/s]
    reading: float  # reading speed [tokens/s]

    @property
    def figure(self) -> str:
        """Speed with its range: "36 tok/s (23-46)"."""
        if self.speed is None:
            return "does not run"
        return f"{number(self.speed)} tok/s ({number(self.low)}-{number(self.high)})"

    @property
    def text(self) -> str:
        """Whole card in a line, for a forum."""
        where = f", {self.runs}" if self.runs else ""
        return f"{self.machine}: {self.model} {self.figure}{where}"

    @property
    def title(self) -> str:
        """Title of a preview."""
        figure = "does not run" if self.speed is None else f"{number(self.speed)} tokens/s"
        return f"{self.model.partition(' (')[0]} on {self.machine}: {figure}"


def card_of(answer: Answer) -> Card:
    """Card of an answer."""
    advice = answer.advice
    best = advice.best
    model = answer.nouns.model
    words = advice.summary
    spread = best.decode if best is not None else None
    return Card(
        model=f"{model_words(model.title)} ({best.model.format if best else model.format})",
        machine=parts(answer.nouns.machine),
        tone=PARTLY if words.reserved else TONES[words.judgement],
        gives=words.gives,
        way=words.way,
        runs=_runs(best) if best is not None else "",
        speed=decode_tps(best) if best is not None else None,
        low=float(spread.low) if spread is not None else 0.0,
        high=float(spread.high) if spread is not None else 0.0,
        reading=answer.nouns.money.reading_tps,
    )


def _runs(best: Estimate) -> str:
    """Runtime, and where the weights lie: "llama.cpp, experts in RAM"."""
    return f"{best.runtime.name}, {_where(best)}"


def _where(best: Estimate) -> str:
    placed = best.placement
    if best.machine.unified and best.strategy is PlacementStrategy.GPU_RESIDENT:
        return "in shared memory"
    if best.strategy is PlacementStrategy.GPU_RESIDENT:
        return "in the GPU"
    if best.strategy is PlacementStrategy.NVME_OFFLOAD:
        return "partly from the drive"
    layers = int(placed.gpu_layers) if placed is not None else 0
    if not layers:
        return "in RAM"
    if placed is not None and float(placed.cpu_moe) and best.model.has_experts:
        return "experts in RAM"
    return f"{layers} of {best.model.layers} layers in the GPU"
