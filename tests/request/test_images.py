"""Images of a prompt: their tokens by family, their encoder's time and memory, at every door."""

import re

import numpy as np
import pytest

from advisor.cost_model.placement import Location
from advisor.errors import InputError
from advisor.model import resolve
from advisor.request.images import image_rows, images_of, pixels, row_of
from advisor.request.request import Request
from advisor.runtimes import runtime
from advisor.runtimes.compare import compare


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        # 280 tokens of 48 pixels: 16 x 16 of a square image, 22 x 12 of 16:9.
        ("gemma-4-26b", "1024x1024", 256),
        ("gemma-4-26b", "1280x720", 264),
        ("gemma-4-26b", "200x200", 256),
        ("gemma-3-27b", "1280x720", 256),
        # 1280 / 28 = 45.7 and 720 / 28 = 25.7, each rounded.
        ("qwen2.5-vl-7b", "1280x720", 46 * 26),
        ("qwen3-vl-8b", "1024x1024", 32 * 32),
        ("qwen3.6-27b", "1280x720", 40 * 22),
        # Scaled to 1,024 x 576, squares of 16.
        ("pixtral 12b", "1280x720", 64 * 36),
        ("ministral 3 8b", "1540x1540", 55 * 55),
        # 1280 / 336 and 720 / 336 make 4 x 3 tiles of 144 tokens, and one of the whole.
        ("llama 4 scout", "1280x720", 13 * 144),
        ("llama 4 scout", "300x300", 144),
        ("internvl3-8b", "1280x720", 7 * 256),
        ("llama-3.2-11b-vision", "1280x720", 1),
    ],
)
def test_an_image_makes_the_tokens_that_its_familys_processor_makes(
    model: str, size: str, tokens: int
) -> None:
    row = row_of(resolve.find(model).model)
    assert row is not None
    assert row.tokens(*pixels(size)) == tokens


def test_a_larger_image_never_makes_fewer_tokens_than_a_smaller_one_of_its_shape() -> None:
    for _, row in image_rows():
        made = [row.tokens(side, side) for side in range(64, 4096, 64)]
        assert all(np.diff(made) >= 0)
        assert made[-1] <= 16_384


def test_each_row_names_models_and_its_source() -> None:
    assert all(
        row.source and re.fullmatch(r"2026-\d\d-\d\d", row.source_date) for _, row in image_rows()
    )


def question(**values: object) -> Request:
    usual = {"model": "qwen3.6-27b", "gpu": "RTX 3090", "ram_gb": 64.0, "runtime": "llama.cpp"}
    return Request(**{**usual, **values})  # type: ignore[arg-type]


def answer(request: Request):  # type: ignore[no-untyped-def]
    nouns = request.nouns()
    return compare(nouns.model, nouns.machine, nouns.work, runtimes=(runtime("llama.cpp"),))[0]


def test_images_join_the_prompt_and_take_the_encoders_time_and_memory() -> None:
    with_images = answer(question(images=4, image_size="1280x720"))
    as_text = answer(question(prompt=512 + 4 * 880))
    assert with_images.work.prompt == as_text.work.prompt
    # 4 images of 880 tokens, 4 patches each, 2 FLOP a weight of 460.7 million.
    flops = 2 * 460_700_000 * 4 * 880 * 4
    peak = with_images.machine.gpus[0].peak_16_bit
    share = with_images.constants.value("gpu_flop_share", "Ampere")
    encoder = float(with_images.prompt.total - as_text.prompt.total)
    assert encoder == pytest.approx(flops / (share * peak))
    card = Location.vram(0)
    beside = with_images.placement.buffers[card] - as_text.placement.buffers[card]
    assert float(beside) == pytest.approx(2 * 460_700_000)
    assert "--no-mmproj" in as_text.command
    assert "--no-mmproj" not in with_images.command


def test_stated_tokens_count_for_models_that_nobody_knows_to_read_images() -> None:
    request = question(model="qwen3-8b", images=2, image_tokens=500.0)
    assert request.nouns().work.prompt == 512 + 1000
    assert any("size of the encoder" in note for note in request.nouns().notes)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model": "qwen3-8b", "images": 1}, "not known to read images"),
        ({"images": 1, "image_size": "huge"}, "such as 1280x720"),
        ({"images": 1, "image_size": "0x0"}, "such as 1280x720"),
        ({"images": -1}, "Images"),
    ],
)
def test_what_is_no_image_is_refused_in_words(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _ = question(**values).nouns().work


def test_without_a_model_the_tokens_of_an_image_must_be_stated() -> None:
    with pytest.raises(InputError, match="name one"):
        images_of(None, 1, None, None)
    assert images_of(None, 3, None, 100.0).tokens == 300


def test_a_session_has_its_images_in_its_first_prompt() -> None:
    plain = question(session="pinchbench").nouns().session
    seen = question(session="pinchbench", images=2).nouns().session
    assert plain is not None
    assert seen is not None
    assert seen.first == plain.first + 2 * 32 * 32
