"""The allocated context holds prompt and reply at each door, or the request is refused."""

import math

import numpy as np
import pytest

from advisor import scripting
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.request import command_line, texts, values
from advisor.request.request import Request

LENGTHS = (1, 512, 7936, 7937, 8192, 20_000, 32_768, 102_400, 1_000_000)
DOORS = {
    "options": lambda prompt, output: command_line.from_argv(
        ["--model", "Qwen3-8B", "--prompt", str(prompt), "--output", str(output)]
    ),
    "texts": lambda prompt, output: texts.from_texts(
        {"model": "Qwen3-8B", "prompt": str(prompt), "output": str(output)}
    ),
    "values": lambda prompt, output: values.from_values(
        {"model": "Qwen3-8B", "prompt": prompt, "output": output}
    ),
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize("output", [1, 256, 16_384])
@pytest.mark.parametrize("prompt", LENGTHS)
def test_an_open_context_holds_prompt_and_reply(prompt, output, door) -> None:
    nouns = door(prompt, output).nouns()
    context = float(nouns.work.context)
    assert context >= prompt + output
    # no more than a step above them, and the usual one where they are short
    assert context == max(8192, 256 * math.ceil((prompt + output) / 256))
    assert any(f"{context:,.0f} tokens" in note for note in nouns.notes) is (context > 8192)


@pytest.mark.parametrize("context", [512, 4096, 16_384])
def test_a_stated_context_that_is_too_short_is_refused(context) -> None:
    fitting = Request(model="Qwen3-8B", prompt=context - 256, output=256, context=context)
    assert fitting.nouns().work.context == context
    with pytest.raises(InputError, match=rf"do not fit the context of {context:,}.*--context"):
        _ = Request(model="Qwen3-8B", prompt=context, output=256, context=context).nouns().work


def test_of_a_sweep_each_context_holds_its_prompt() -> None:
    work = Workload(prompt=np.array([100, 9000, 30_000]), output=256).with_room()
    assert np.asarray(work.context).tolist() == [8192, 9472, 30_464]


def test_in_python_as_at_the_other_doors() -> None:
    machine = scripting.describe_machine(gpu="RTX 3090", ram_gb=64)
    long = scripting.compare("Qwen3-32B", machine, Workload(prompt=32_768), runtime="llama.cpp")
    assert {float(each.work.context) for each in long} == {33_024.0}
    with pytest.raises(InputError, match="do not fit the context of 4,096"):
        scripting.compare("Qwen3-32B", machine, Workload(prompt=32_768, context=4096))
