"""The answer of docs/core.md, drawn through the code: each line follows from those above it."""

import argparse
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.processors import smooth_max, unpacking_seconds
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import runtime

PAGE = Path(__file__).parents[2] / "docs" / "core.md"
BEGINS = "<!-- one answer -->\n"
ENDS = "<!-- end -->\n"
SYMBOL = re.compile(r"^\| \S+ \| .* \| (\S+) \| `(advisor\.[\w.]+)` \|$", re.MULTILINE)
NOUN = re.compile(r"^\| `(\w+)` \| .* \| `(advisor/[\w/.]+)` \|$", re.MULTILINE)


@cache
def answer() -> Estimate:
    return estimate(
        catalog.model("Llama-3.1-8B", "Q4_K_M"),
        machine(MachineSpec(gpu="RTX 3090")),
        Workload(),
        runtime("llama.cpp"),
        PlacementStrategy.GPU_RESIDENT,
    )


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Quantities of a token of the answer."""

    weights: float  # read weights [B]
    cache: float  # read cache [B]
    bandwidth: float  # peak of the GPU's memory [B/s]
    read_share: float  # share of the peak in reading weights
    kv_share: float  # share of the peak in reading the cache
    unpacking: float  # time of the GPU's cores to unpack the weights, beside reading [s]
    layers: float  # fixed cost of the layers [s]
    centre: float  # time of strangers beside the prediction, at the median
    token: float  # fixed cost of a step [s]

    @property
    def seconds(self) -> float:
        """t_step = centre ( W / (share S) and unpacking + K / (share_kv S) + tau + t_token )."""
        weights = float(
            smooth_max(self.weights / (self.read_share * self.bandwidth), self.unpacking)
        )
        cached = self.cache / (self.kv_share * self.bandwidth)
        return self.centre * (weights + cached + self.layers + self.token)


@cache
def parts() -> Parts:
    drawn = answer()
    gpu = drawn.machine.gpus[0]
    constants = drawn.constants
    assert constants is not None
    assert drawn.step is not None
    centre = constants.value("centre")
    assert drawn.phases is not None
    load = drawn.phases.decode.stages[0][0].load
    assert load is not None
    return Parts(
        centre=centre,
        weights=float(drawn.model.read_bytes_per_token),
        cache=float(drawn.model.kv_bytes(drawn.work.decode_depth, drawn.work.kv_type).sum()),
        bandwidth=gpu.bandwidth.value,
        read_share=constants.value("gpu_read_share", gpu.family),
        kv_share=constants.value("gpu_kv_share", gpu.family),
        unpacking=float(unpacking_seconds(load, gpu.lookup_family, gpu.peak_32_bit, constants)),
        layers=float(drawn.step.parts["layers"]) / centre,
        token=constants.value("token"),
    )


def lines() -> Iterator[str]:
    """Rows of the table of docs/core.md."""
    drawn = answer()
    held = parts()
    speed = drawn.decode
    assert speed is not None
    reading = held.weights / held.read_share / held.bandwidth
    cached = held.cache / held.kv_share / held.bandwidth
    yield "| step | value | from |"
    yield "|---|---|---|"
    yield f"| W | {held.weights / 1e9:.3f} GB | all weights but the token table, of which one row |"
    yield f"| c | {float(drawn.work.decode_depth):.0f} tokens | 512 + 256 / 2 |"
    yield f"| K | {held.cache / 1e6:.1f} MB | c x 32 layers x 8 heads x 128 values x 2 x 2 bytes |"
    yield f"| S | {held.bandwidth / 1e9:.0f} GB/s | NVIDIA's whitepaper of GA102 |"
    yield f"| W / (share S) | {1e3 * reading:.2f} ms | share {held.read_share:.3f}, fitted |"
    yield f"| unpacking | {1e3 * held.unpacking:.2f} ms | by the GPU's cores, beside reading |"
    yield f"| both | {1e3 * float(smooth_max(reading, held.unpacking)):.2f} ms | a smooth maximum |"
    yield f"| K / (share_kv S) | {1e3 * cached:.3f} ms | share {held.kv_share:.3f}, fitted |"
    yield f"| tau | {1e3 * held.layers:.2f} ms | kernels of 32 layers, started and waited for |"
    yield f"| t_token | {1e3 * held.token:.3f} ms | sampling, and the start of a step |"
    yield f"| centre | {held.centre:.3f} | time of strangers' machines beside it, the median |"
    yield f"| t_step | {1e3 * held.seconds:.2f} ms | centre times both, cache, tau and t_token |"
    yield f"| decode | {float(speed.value):.1f} tokens/s | 1 / t_step |"
    yield f"| range | {float(speed.low):.0f} to {float(speed.high):.0f} tokens/s | four in five |"


def test_the_parts_of_the_page_are_the_whole_answer() -> None:
    assert parts().seconds == pytest.approx(1.0 / float(answer().decode_tps), rel=1e-6)


def test_bytes_of_a_token_by_hand() -> None:
    # 640 tokens x 32 layers x 8 key-value heads of 128 values, for keys and values, 2 bytes each
    assert parts().cache == 640 * 32 * 8 * 128 * 2 * 2
    # 8.03e9 parameters less 128,256 x 4,096 of the table, at 4.5 to 5 bits a weight
    assert (8.03e9 - 128256 * 4096) * 4.5 / 8 < parts().weights < (8.03e9 - 128256 * 4096) * 5 / 8


def test_the_page_shows_this_answer() -> None:
    shown = PAGE.read_text(encoding="utf-8").partition(BEGINS)[2].partition(ENDS)[0]
    assert shown.splitlines() == list(lines()), "python tests/cost_model/test_one_answer.py --write"


@pytest.mark.parametrize(("unit", "path"), SYMBOL.findall(PAGE.read_text(encoding="utf-8")))
def test_a_symbol_is_in_the_code_with_its_unit(unit: str, path: str) -> None:
    module, _, name = path.rpartition(".")
    try:
        held = importlib.import_module(module)
    except ModuleNotFoundError:
        module, _, holder = module.rpartition(".")
        held = getattr(importlib.import_module(module), holder)
    member = getattr(held, name, None)
    computed = getattr(member, "func", getattr(member, "fget", member))
    if inspect.isfunction(computed):
        text = inspect.getdoc(computed) or ""
    else:
        stated = inspect.getsource(held)
        text = next(line for line in stated.splitlines() if re.match(rf"\s+{name}\b", line))
    assert f"[{unit}]" in text


@pytest.mark.parametrize(("noun", "file"), NOUN.findall(PAGE.read_text(encoding="utf-8")))
def test_a_noun_is_where_the_page_says(noun: str, file: str) -> None:
    text = (PAGE.parents[1] / file).read_text(encoding="utf-8")
    assert re.search(rf"^class {noun}\b", text, re.MULTILINE)


def test_the_page_has_its_symbols_and_nouns() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(SYMBOL.findall(text)) > 10
    assert len(NOUN.findall(text)) == 15


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help="draw the answer anew")
    parser.parse_args()
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGINS)
    after = rest.partition(ENDS)[2]
    drawn = "".join(f"{line}\n" for line in lines())
    PAGE.write_text(before + BEGINS + drawn + ENDS + after, encoding="utf-8")
