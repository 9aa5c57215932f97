"""Speed of llama.cpp on this machine's processor, by short runs of small models.

Wide layers show the rate at which each storage type is read and unpacked, many narrow ones the
fixed cost of a layer, a long cache that of attention, and experts that of routing. The first model
is timed again between the others, which shows how steady the machine was. The models are written
for the purpose and deleted afterwards; the engine runs in a separate process.
"""

import shutil
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from advisor.failures import ProbeError
from advisor.model.gguf.read import describe_path
from advisor.probes import host
from advisor.probes.disk.test_file import MEMORY_FILESYSTEMS, filesystem, temporary_folder, unnamed
from advisor.probes.host import Neighbours
from advisor.probes.llama_cpp import synthetic_model
from advisor.probes.llama_cpp.job import EngineJob, Timings
from advisor.probes.llama_cpp.programs import LLAMA_BENCH, XLLAMACPP, EngineProgram
from advisor.probes.llama_cpp.samples import PLAIN, Sample, Timed, costs, samples, samples_with
from advisor.probes.measurement import Cancelled, Measurement, Progress, Watch, moment, now
from advisor.units import GB, GIB

# Timings of samples in turns with a reference sample, freed of the machine's drift.
#
# The speed of a shared or warming machine changes within a minute. The reference is timed between
# the other samples; how long its tokens take at each turn, beside its mean over all turns, is the
# machine's pace there. Each sample's times are divided by the pace at its own turn.

WORTH_SAYING = 0.05  # drift from which a note advises to repeat the probe


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One timing of a sample."""

    sample: Sample  # sample
    timings: Timings  # its times
    middle: float  # moment between its begin and its end [s]


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """Steadiness of the machine's speed over a probe."""

    turns: int  # how many times the reference was timed
    drift: float  # half the range of its token times over their mean, 0.03 for 3 %; 0 for one turn

    @property
    def words(self) -> str:
        """Sentence for a measurement's note; empty for a single turn."""
        if self.turns < 2:
            return ""
        told = f"Over {self.turns} turns the machine's speed stayed within {self.drift:.0%}"
        if self.drift < WORTH_SAYING:
            return f"{told} each way."
        return f"{told} each way, which is taken out; repeat it at rest."


def in_turns(turns: Sequence[Turn]) -> tuple[Timed, Steadiness]:
    """Times of the samples at the pace of the first one, and how steady the pace was."""
    if not turns:
        return {}, Steadiness(turns=0, drift=0.0)
    reference = [turn for turn in turns if turn.sample == turns[0].sample]
    seconds = [_token(turn) for turn in reference]
    mean = float(np.exp(np.mean(np.log(seconds))))
    places = [turn.middle for turn in reference]
    paces = np.log(seconds) - np.log(mean)
    timed: dict[tuple[str, str], tuple[Sample, Timings]] = {}
    for turn in turns:
        pace = float(np.exp(np.interp(turn.middle, places, paces)))
        key = (turn.sample.role, turn.sample.kind)
        _, earlier = timed.get(key, (turn.sample, Timings()))
        timed[key] = (turn.sample, _joined(earlier, turn.timings, pace))
    drift = (max(seconds) - min(seconds)) / (2.0 * mean)
    return timed, Steadiness(turns=len(reference), drift=drift)


def _token(turn: Turn) -> float:
    return statistics.median(turn.timings.token_seconds[turn.sample.depths[0]])


def _joined(earlier: Timings, timings: Timings, pace: float) -> Timings:
    """Earlier times, and further ones divided by the machine's pace; rates are multiplied by it."""
    return Timings(
        token_seconds={
            depth: (*earlier.token_seconds.get(depth, ()), *(time / pace for time in seconds))
            for depth, seconds in timings.token_seconds.items()
        },
        prompt_rates=(*earlier.prompt_rates, *(rate * pace for rate in timings.prompt_rates)),
    )


ENGINES: Mapping[str, EngineProgram] = {"llama-bench": LLAMA_BENCH, "xllamacpp": XLLAMACPP}
"""Ways to run llama.cpp: the user's own program first, then the wheel."""
MISSING = (
    "The engine probe runs llama.cpp and finds none: put its llama-bench on the PATH, or install "
    "the Python wheel (pip install xllamacpp)."
)
TOO_SLOW = (
    "llama.cpp had not timed a model after {:.0f} s: the machine is busy, or too slow for this "
    "probe; close other programs and give it more time."
)
REPEATING = 0.8  # longest time for the repeats of one figure [s]
BUSY = 0.1  # share of the processor used by other programs from which a note warns of it


def measure(
    seconds: float = 20.0,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    *,
    path: Path | None = None,
) -> tuple[Measurement, ...]:
    """Time llama.cpp with small models, or with a model of the user (a GGUF file).

    As many as the time allows of `engine_read_q4_k`, `engine_read_q8_0`, ... [B/s] by storage type
    (or by the format of the user's model), `engine_layer` and `engine_expert_layer` [s],
    `engine_attention_128_4`, ... [FLOP/s] by head size and heads that share a key,
    `engine_prompt_q4_k`, ... [FLOP/s], and `engine_plain_q4_k`, ... [B/s] for weights in the file's
    layout; empty when cancelled. A sample that runs when the time is up is stopped.
    """
    name = next((name for name, engine in ENGINES.items() if engine.available()), None)
    if name is None:
        raise ProbeError(MISSING)
    watch = Watch(progress=progress, cancelled=cancelled, seconds=seconds)
    facts = host.facts()
    if path is None:
        wanted = samples(facts)
    else:
        wanted = _with_own(path, facts.memory_available)
    neighbours = Neighbours()
    turns, failures = _turns(name, wanted, facts.cores, seconds, path, watch)
    if watch.stop(1.0):
        return ()
    if not turns:
        raise ProbeError(failures[0] if failures else TOO_SLOW.format(seconds))
    timed, steadiness = in_turns(turns)
    models = f"{len(timed)} model{'s' if len(timed) > 1 else ''}"
    told = (f"llama.cpp by {name}, {models}.", steadiness.words, neighbours.note(BUSY))
    # No cost is more certain than the machine was steady.
    figure = partial(
        Measurement,
        threads=facts.cores,
        when=moment(),
        note=" ".join(filter(None, (*told, *dict.fromkeys(failures)))),
    )
    return tuple(
        figure(
            name=cost.name,
            value=cost.value,
            unit=cost.unit,
            spread=max(cost.spread, steadiness.drift),
        )
        for cost in costs(timed)
    )


def _with_own(path: Path, available: int) -> Sequence[Sample]:
    model = describe_path(path).model
    if model is None:
        raise ProbeError(f"{path} does not tell the size of its weights; give another file.")
    if model.file_bytes > available / 4:
        raise ProbeError(
            f"{path} has {model.file_bytes / GIB:.1f} GB of weights and a probe takes at most a "
            f"quarter of the {available / GIB:.1f} GB of free memory; give a smaller model, or "
            "none, and the probe writes its own."
        )
    return samples_with(model)


def _turns(
    name: str,
    wanted: Sequence[Sample],
    threads: int,
    seconds: float,
    given: Path | None,
    watch: Watch,
) -> tuple[list[Turn], list[str]]:
    """Timed samples in their order, and the reasons why others failed."""
    until = now() + seconds
    turns: list[Turn] = []
    failures: list[str] = []
    for part, sample in enumerate(wanted):
        if sample.role == PLAIN and ENGINES[name] is LLAMA_BENCH:
            continue  # it has no option that leaves the weights as they are
        stretch = watch.stretch(part, len(wanted), f"{sample.role} model in {sample.kind}")

        def stop(stretch: Watch = stretch) -> bool:
            return stretch.stop(0.0) or now() > until

        if stop():
            break
        began = now()
        try:
            with _written(sample, given) as (file, descriptor):
                job = EngineJob(
                    path=file,
                    descriptor=descriptor,
                    threads=threads,
                    vocab=sample.model.architecture.vocab,
                    depths=sample.depths,
                    prompt=sample.prompt,
                    seconds=min(seconds / len(wanted) / 2, REPEATING),
                    plain=sample.role == PLAIN,
                )
                timings = ENGINES[name].run(job, stop)
        except ProbeError as error:
            failures.append(str(error))
            continue
        if set(timings.token_seconds) >= set(sample.depths):
            turns.append(Turn(sample=sample, timings=timings, middle=(began + now()) / 2.0))
    return turns, failures


@contextmanager
def _written(sample: Sample, given: Path | None) -> Iterator[tuple[Path, int | None]]:
    """File of a sample, deleted at the end of the block, even by a kill; or the user's file."""
    if sample.synthetic is None:
        yield given or Path(), None
        return
    folder = temporary_folder()
    try:
        # On a drive a sample is a sparse file and takes no room; in memory each page does once it
        # is read, and the engine is killed when there is none.
        kind = filesystem(folder)
        free = shutil.disk_usage(folder).free
        if kind in MEMORY_FILESYSTEMS and free < sample.model.file_bytes:
            raise ProbeError(
                f"{folder} lies on {kind} and has {free / GB:.2f} GB free; llama.cpp is timed with "
                f"a model of {sample.model.file_bytes / GB:.2f} GB: set TMPDIR to a folder on a "
                "drive."
            )
        with unnamed(folder) as (descriptor, path):
            with open(descriptor, "wb", closefd=False) as file:
                synthetic_model.write(file, sample.synthetic)
            yield path, descriptor
    except OSError as error:
        raise ProbeError(
            f"{folder} cannot hold a small model ({error.strerror}); set TMPDIR to a folder that "
            "can."
        ) from error
