"""What a server's process shows, and which causes it makes likelier."""

import math
from dataclasses import replace

import pytest

from advisor import describe_machine, estimate
from advisor.advice.diagnosis.watching import Watched, expected
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Tier
from advisor.probes.server import ServerReading
from advisor.probes.server_process import ProcessReading
from advisor.request.request import Request
from advisor.units import GIB

SERVER = ("llama-server", "-m", "model.gguf")


def made(model: str = "Llama-3.1-8B", **parts: object) -> Estimate:
    """First estimate of llama.cpp on a machine."""
    machine = describe_machine(**{"gpu": "RTX 3090", "cpu": "Ryzen 9 7950X", "ram_gb": 64} | parts)
    return estimate(model, machine)


RESIDENT = made()
SPLIT = made("Llama-3.1-70B")


def evidence(expected: Estimate, file: str = "", **seen: object) -> Watched:
    """Evidence of a process that wrote 100 tokens in 10 s and shows only what is given."""
    reading = ServerReading(server="llama.cpp", model=file, tokens=100, token_seconds=10)
    return Watched(process=ProcessReading(**seen), reading=reading, estimate=expected)


@pytest.mark.parametrize(
    ("expected", "seen", "shown", "against"),
    [
        (RESIDENT, {"words": (*SERVER, "-nkvo")}, "cache_in_ram", "no_flash_attention"),
        (RESIDENT, {"words": (*SERVER, "-fa", "off")}, "no_flash_attention", "cache_in_ram"),
        (RESIDENT, {"words": (*SERVER, "-fa", "on")}, "", "no_flash_attention"),
        (RESIDENT, {"words": (*SERVER, "--device=none")}, "cpu_alone", "drafted_tokens"),
        (RESIDENT, {"words": ("python", "-nkvo")}, "", ""),  # no server's command line
        (SPLIT, {"processors": 2.0}, "few_threads", "many_threads"),
        (SPLIT, {"processors": 32.0, "words": (*SERVER, "-t", "32")}, "many_threads", ""),
        (SPLIT, {"processors": 32.0}, "", "few_threads"),
        (SPLIT, {"others": 0.4}, "other_load", ""),
        (SPLIT, {"others": 0.01, "gpu_programs": 0}, "", "other_load"),
        (SPLIT, {"others": 0.01}, "", ""),  # who else uses the GPU is not known
        (RESIDENT, {"gpu_programs": 2}, "other_load", ""),
        # a drive of several GB/s reads 100 GB in 10 s or more, 1 MB in no time
        (SPLIT, {"read": 100e9}, "pages_lost", ""),
        # a tenth of a file of 5 GB for each of 100 tokens, however fast the drive
        (made(gpu="none", disk_gbs=1000), {"read": 50e9}, "pages_lost", ""),
        (SPLIT, {"read": 1e6}, "", "pages_lost"),
        # of a 70B model at 4 bits some 20 GB lie in RAM beside a card of 24 GiB
        (SPLIT, {"memory_limit": 8e9}, "memory_limit", ""),
        (SPLIT, {"memory_limit": math.inf, "spare": 60e9}, "", "memory_limit"),
        (SPLIT, {"spare": 8e9}, "pages_lost", ""),
        (RESIDENT, {"memory_limit": 8e9, "spare": 8e9}, "", ""),  # nothing is to lie in RAM
        (SPLIT, {"words": (*SERVER, "-t", "4")}, "few_threads", ""),
        (SPLIT, {"gpu_programs": 0}, "", "cpu_alone"),
        (RESIDENT, {"slowed_by": ("the power limit",)}, "", "cpu_alone"),
        (RESIDENT, {"slowed_by": ("heat", "the power limit")}, "gpu_limits", ""),
        (RESIDENT, {"slowed_by": ("the power limit",), "power": 0.5}, "gpu_limits", ""),
        (RESIDENT, {"slowed_by": ("the power limit",), "power": 1.0}, "", ""),
        (RESIDENT, {"slowed_by": ()}, "", "gpu_limits"),
        (RESIDENT, {"link": (1, 16)}, "narrow_link", ""),
        (RESIDENT, {"link": (4, 16)}, "", "narrow_link"),
        (RESIDENT, {"gpu_bytes": 0.1 * GIB}, "cpu_alone", ""),
        (RESIDENT, {"gpu_bytes": 6.0 * GIB}, "", "cpu_alone"),
    ],
)  # fmt: skip
def test_what_was_seen_speaks_for_or_against_a_cause(
    expected: Estimate, seen: dict[str, object], shown: str, against: str
) -> None:
    observations = evidence(expected, **seen).observations
    assert shown in {"", *(key for each in observations if each.shows for key in each.causes)}
    no = {key for each in observations if not each.shows for key in each.causes}
    assert against in {"", *no}
    if "read" in seen:
        of_reads = {"pages_lost", "memory_limit", "slow_drive"}
    else:
        of_reads = {shown}
    assert evidence(expected, **seen).shown == (of_reads if shown else set())


def test_nothing_seen_says_nothing() -> None:
    assert evidence(SPLIT).observations == ()
    assert evidence(SPLIT).factor("cpu_alone", SPLIT) == 1.0


def test_the_name_of_the_file_tells_its_format() -> None:
    assert evidence(RESIDENT, file="a-Q4_K_M.gguf").shown == frozenset()
    seen = evidence(RESIDENT, file="a-Q8_0.gguf")
    assert seen.shown == {"larger_file"}
    assert seen.observations[0].words == "It serves Q8_0, where Q4_K_M is expected."
    larger = estimate("Llama-3.1-8B Q8_0", made().machine)
    assert seen.factor("larger_file", larger) > 10 * seen.factor("larger_file", RESIDENT)


def test_a_server_is_expected_to_reach_what_its_file_allows() -> None:
    reading = ServerReading(server="llama.cpp", model="a-Q8_0.gguf")
    request = Request(model="Llama-3.1-8B", gpu="RTX 3090", ram_gb=64)
    assert expected(request, reading).model.format == "Q8_0"
    assert expected(replace(request, format="Q6_K"), reading).model.format == "Q6_K"


def test_memory_of_the_gpu_tells_placements_apart() -> None:
    """The factor is greatest for the placement that holds what was seen."""
    fewer = estimate("Llama-3.1-8B", RESIDENT.machine, placement="cpu-offload", gpu_layers=16)
    half, whole = (float(sum(each.held[Tier.VRAM])) for each in (fewer, RESIDENT))
    assert half < whole - 1.5 * GIB
    seen = evidence(RESIDENT, gpu_bytes=half)
    assert seen.factor("x", fewer) == pytest.approx(1.0)
    assert seen.factor("x", RESIDENT) < 0.1


def test_a_busy_gpu_tells_where_a_token_is_computed() -> None:
    """What lies in GPU memory alone keeps it busy; half of the layers in RAM leave it idle."""
    fewer = estimate("Llama-3.1-8B", RESIDENT.machine, placement="cpu-offload", gpu_layers=16)
    busy, idle = (evidence(RESIDENT, gpu_busy=share) for share in (0.98, 0.1))
    assert busy.factor("x", RESIDENT) == pytest.approx(1.0, rel=0.3)
    assert busy.factor("x", fewer) < 0.1 < idle.factor("x", fewer)
    assert idle.factor("x", RESIDENT) == pytest.approx(1 / 50)
    assert busy.factor("x", made(gpu="none")) == pytest.approx(1 / 50)


def test_busy_processors_tell_who_computes() -> None:
    # 10 s of tokens: 150 s of processor time are 15 processors at work, 9 s one that waits
    computing, waiting = (evidence(RESIDENT, busy=busy, processors=32.0) for busy in (150.0, 9.0))
    alone = made(gpu="none")
    assert computing.factor("x", alone) > 10 * computing.factor("x", RESIDENT)
    assert waiting.factor("x", RESIDENT) > 10 * waiting.factor("x", alone)


def test_a_cause_that_was_seen_stands_first_with_its_sentence() -> None:
    """Two fifths of the speed may be a hot card, or another program on it; the driver tells."""
    assert RESIDENT.decode is not None
    assert RESIDENT.prefill is not None
    slow = float(RESIDENT.decode.value) / 2.5
    reading = ServerReading(
        server="llama.cpp",
        tokens=3000,
        token_seconds=3000 / slow,
        prompt_tokens=20000,
        prompt_seconds=50000 / float(RESIDENT.prefill.value),
        prompts=20,
    )
    firsts = {}
    for key, seen in (
        ("gpu_limits", ProcessReading(slowed_by=("heat",), gpu_programs=0, others=0.0)),
        ("other_load", ProcessReading(slowed_by=(), gpu_programs=1, others=0.0)),
    ):
        answer = Watched(reading=reading, estimate=RESIDENT, system="Linux", process=seen)
        assert answer.alarm
        assert answer.diagnosis is not None
        assert answer.signs
        firsts[key] = answer.diagnosis.causes[0].row.key
    assert firsts == {key: key for key in firsts}
