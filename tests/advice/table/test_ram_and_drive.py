"""RAM against the drive: what more of either would bring."""

from itertools import pairwise

import pytest

from advisor.advice.advise import Answer, answer
from advisor.advice.table.ram_and_drive import AS_IS, NUMBERS_OF_DRIVES, RamAndDrive
from advisor.cli.main import main
from advisor.request.request import Request
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import decode_tps, usable
from advisor.runtimes.tiered import tiered_runtimes

FLASH = {"model": "Qwen3.8-Flash-Next", "gpu": "RTX 5070"}
ASKED = (
    {**FLASH, "format": "UD-Q4_K_XL", "ram_gb": 32.0},
    {**FLASH, "format": "IQ3_S", "ram_gb": 48.0},
    {"model": "GLM-5.3", "gpu": "RTX 4090", "ram_gb": 64.0},
    {"model": "Llama-3.3-70B", "format": "Q4_K_M", "gpu": "RTX 3060", "ram_gb": 16.0},
)


def answered(request: dict[str, object]) -> Answer:
    return answer(Request(**request).nouns())


@pytest.fixture(scope="module", params=ASKED, ids=lambda request: str(request["model"]))
def given(request: pytest.FixtureRequest) -> Answer:
    return answered(request.param)


def tried(given: Answer) -> RamAndDrive:
    curve = given.advice.ram_and_drive
    assert curve is not None
    return curve


def test_more_ram_and_more_drives_are_never_slower(given: Answer) -> None:
    for drives in NUMBERS_OF_DRIVES:
        along = tried(given).along(drives)
        assert [point.ram_gib for point in along] == sorted(point.ram_gib for point in along)
        for less, more in pairwise(along):
            assert more.decode >= 0.999 * less.decode
    for single, pair in zip(tried(given).along(1), tried(given).along(2), strict=True):
        assert pair.decode >= 0.999 * single.decode


def test_the_present_machine_is_as_fast_as_the_answer_says(given: Answer) -> None:
    # The fastest of llama.cpp and the engines in tiers, outside the GPU, in the same answer.
    engines = (LLAMA_CPP, *tiered_runtimes())
    estimates = [each for each in usable(given.advice.estimates) if each.runtime in engines]
    outside = [decode_tps(each) for each in estimates if each.strategy.value != "gpu-resident"]
    assert tried(given).now.decode == pytest.approx(max(outside))


def test_steps_are_priced_and_judged_beside_what_is_there(given: Answer) -> None:
    steps = tried(given).steps
    assert steps
    for step in steps:
        assert step.kept is not None
        assert step.kept.name == AS_IS
        assert step.upfront
        assert step.pays is not None


def test_a_step_that_brings_nothing_is_not_praised() -> None:
    # 46.8 GiB of experts (IQ3_S) and what the system takes lie in 64 GB of RAM already.
    curve = tried(answered({**FLASH, "format": "IQ3_S", "ram_gb": 64.0}))
    assert curve.words == "Neither more RAM nor a second drive makes it notably faster."


@pytest.mark.parametrize(
    "request_",
    [
        {"model": "Qwen3-8B", "gpu": "RTX 3090", "ram_gb": 64.0},  # the GPU holds it
        {"model": "Llama-3.3-70B", "machine": "Mac Studio M2 Max 32GB"},  # nothing can be added
    ],
)
def test_nothing_is_said_where_neither_changes_the_speed(request_: dict[str, object]) -> None:
    assert answered(request_).advice.ram_and_drive is None


def test_the_command_prints_both_lines(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--model", "GLM-5.3", "--gpu", "RTX 4090", "--ram-gb", "64")
    assert main(["advise", *words]) == 0
    printed = capsys.readouterr().out
    assert "tokens/s with RAM of  16 GB  32 GB  64 GB  128 GB" in printed
    for line in NUMBERS_OF_DRIVES.values():
        assert f"\n{line} " in printed
