"""Graphics cards within the name of a machine: which, how many, and what of the name is left."""

import re
from collections.abc import Iterable
from dataclasses import replace

from advisor.errors import UnknownName
from advisor.machine.names.apple_names import names_apple
from advisor.machine.names.card_pattern import CARD
from advisor.machine.names.gpu_memory import OtherMemory
from advisor.machine.names.gpu_names import GpuName, GpuNames
from advisor.machine.names.gpu_slices import sliced
from advisor.machine.names.gpu_words import named_part
from advisor.machine.names.spelling import sizes_gib, without_sizes


class CardMentions:
    """Reader of the cards in a machine's name.

    Args:
        gpus: index of GPU names.
    """

    def __init__(self, gpus: GpuNames) -> None:
        self.gpus = gpus

    def names_any(self, text: str) -> bool:
        """Whether a plain text names graphics cards of the catalogue."""
        return bool(self.within(text, laptop=False)[0])

    def lists_several(self, text: str) -> bool:
        """Whether a plain text lists graphics cards: "3090 + 3090"."""
        text = named_part(text)
        return bool(LIST.search(text)) and len(CARD.findall(text)) > 1 and self.names_any(text)

    def within(self, text: str, *, laptop: bool) -> tuple[list[GpuName], str]:
        """GPUs in a text, kind by kind, and the rest of the text; graphics that share the RAM are
        left to the processor where there is a card.
        """
        if names_apple(text) or OF_SEVERAL.search(text):
            return [self.gpus.match(text)], " "
        cards: list[GpuName] = []

        def taken(match: re.Match[str]) -> str:
            mention = ATTACHED_COUNT.sub(" x", KIND_OF_MACHINE.sub("", match[0].strip()))
            sizes = [] if sliced(mention) else sizes_gib(mention)
            try:
                gpu = self._card(mention, laptop=laptop)
                if not sizes or abs(sizes[0] - gpu.row.memory_gib) <= 1:
                    cards.append(gpu)
                    return " | "
            except OtherMemory:
                pass
            except UnknownName:
                return match[0]
            cards.append(self._card(without_sizes(mention), laptop=laptop))
            if OF_ALL_CARDS.match(match.string[match.end() :]):
                return " | "
            return f" | {sizes[0]:g}gb | "  # not the card's own size: the machine's memory

        rest = CARD.sub(taken, OF_CARD_BEFORE.sub(r" \1", text))
        own = [gpu for gpu in cards if not gpu.row.of_ram]
        return _summed(own or cards), rest

    def _card(self, mention: str, *, laptop: bool) -> GpuName:
        """Card of a mention; in a laptop, the laptop GPU of that name.

        Raises:
            UnknownName: no such card; lists similar names.
        """
        if laptop and "laptop" not in mention and not MAX_Q.search(mention):
            try:
                return self.gpus.match(f"{mention} laptop")
            except OtherMemory:
                raise
            except UnknownName:
                pass
        return self.gpus.match(mention)

    def refuse_unknown(self, rest: str) -> None:
        """A card that is named beside known parts is not left out.

        Raises:
            UnknownName: no card of that name, with close ones.
        """
        for mention in (match[0].strip() for match in CARD.finditer(rest)):
            if SURELY_A_CARD.search(mention):
                self.gpus.match(mention)


OF_ALL_CARDS = re.compile(r" ?(?:total |of |combined )*(?:v-?ram|video|gpu memory|total)\b")
"""What follows the memory of all cards together."""
LIST = re.compile(r"[+,;&|]|\band\b")
OF_SEVERAL = re.compile(r"\[(?!amd/ati\])[^\]]+/[^\]]+\]")
"""Pattern of a chip that lspci names by all its cards: "[Radeon RX 6800/6800 XT / 6900 XT]"."""
SURELY_A_CARD = re.compile(
    r"^(?:\d+\s*[x*]\s*)?(?:(?:nvidia|geforce|amd|radeon|intel) )*"
    r"(?:(?:rtx|gtx|rx|arc)\b|(?:radeon )?(?:pro )?wx|mi ?\d)"
    r"|\b(?:ti|super|xtx|xt|gre)\b"
)
OF_CARD_BEFORE = re.compile(r"(?<=\blaptop) gpu, (\d{1,2} ?gi?b)$")
"""Pattern of a size behind a laptop's card that ends a name: the card's own, where it has it."""
MAX_Q = re.compile(r"\bmax-?q\b")
ATTACHED_COUNT = re.compile(r"(?<=[gb])x(?=\d{1,2}$)")
KIND_OF_MACHINE = re.compile(r"(?<!blackwell) (?:server|workstation)$")


def _summed(gpus: list[GpuName]) -> list[GpuName]:
    """Cards of a list, each kind once: "3090 + 3090" are two of it."""
    kinds: dict[tuple[str, float | None], GpuName] = {}
    for gpu in gpus:
        kind = gpu.row.name, gpu.part_gib
        more = kinds[kind].count if kind in kinds else 0
        kinds[kind] = replace(gpu, count=gpu.count + more)
    return [gpu for gpu in kinds.values() if not _is_again(gpu, kinds.values())]


def _is_again(gpu: GpuName, others: Iterable[GpuName]) -> bool:
    """Cards that a name gives again with a socket: "8x V100 server: 8x V100-SXM2-16GB"."""
    return (
        gpu.count > 1
        and gpu.memory_gib is None
        and any(other.count == gpu.count and other.row.name in gpu.alternatives for other in others)
    )
