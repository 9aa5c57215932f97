"""Known speeds as people type them, and what is refused."""

import pytest

from advisor.errors import InputError
from advisor.request.known import QuestionRun, known
from advisor.request.known_speed import LONGEST, MOST, KnownSpeed, read
from advisor.request.request import Request

READINGS = {
    "Qwen3-8B Q4_K_M 41": KnownSpeed(model="Qwen3-8B Q4_K_M", speed=41),
    "Qwen3-8B Q4_K_M  41 t/s": KnownSpeed(model="Qwen3-8B Q4_K_M", speed=41),
    "qwen3:8b: 41.5 tokens/s": KnownSpeed(model="qwen3:8b", speed=41.5),
    "qwen3:8b = 41 tok/s": KnownSpeed(model="qwen3:8b", speed=41),
    "Llama 3.1 8B 41 tokens per second": KnownSpeed(model="Llama 3.1 8B", speed=41),
    "gpt-oss-20b 1,900 prompt": KnownSpeed(model="gpt-oss-20b", speed=1900, prompt=True),
    "gpt-oss-20b 1900 prompt of 4k": KnownSpeed(
        model="gpt-oss-20b", speed=1900, prompt=True, length=4096
    ),
    "qwen3:30b 18, context 16k": KnownSpeed(model="qwen3:30b", speed=18, context=16_384),
    "qwen3:30b 18 at 1000 tokens": KnownSpeed(model="qwen3:30b", speed=18, context=1000),
    "Llama-3.1-8B AWQ 30 users 8 in vLLM": KnownSpeed(
        model="Llama-3.1-8B AWQ", speed=30, users=8, runtime="vLLM"
    ),
    "Qwen3-4B Q4_K_M 12 -ngl 0": KnownSpeed(model="Qwen3-4B Q4_K_M", speed=12, gpu_layers=0),
    "gpt-oss-20b 30 ncmoe 24, context 8k": KnownSpeed(
        model="gpt-oss-20b", speed=30, cpu_moe=24, context=8192
    ),
    "Llama-3.1-8B 30 in LM Studio, 8 users": KnownSpeed(
        model="Llama-3.1-8B", speed=30, users=8, runtime="LM Studio"
    ),
}


@pytest.mark.parametrize("text", READINGS)
def test_readings(text: str) -> None:
    assert read(text) == READINGS[text]
    assert read(read(text).text) == READINGS[text], "what is said is read as the same"


@pytest.mark.parametrize(
    "text",
    ["", "41", "Qwen3-8B", "Qwen3-8B fast", "Qwen3-8B 41 bananas", "Qwen3-8B Q4_K_M 0",
     "Qwen3-8B 9e9", "Qwen3-8B -3", "Qwen3-8B 41 users 99999", "Qwen3-8B nan",
     f"Qwen3-8B {'x' * LONGEST} 41"],
)  # fmt: skip
def test_refused(text: str) -> None:
    with pytest.raises(InputError):
        read(text)


def test_a_request_checks_its_known_speeds() -> None:
    with pytest.raises(InputError, match="at most"):
        Request(known=("Qwen3-8B 41",) * (MOST + 1))
    with pytest.raises(InputError, match="no known speed"):
        Request(known=("fast",))
    with pytest.raises(InputError, match="list of texts"):
        Request(known=(41,))
    with pytest.raises(InputError, match="list of texts"):
        Request(known="Qwen3-8B 41")
    with pytest.raises(InputError, match="no machine yet"):
        _ = Request(model="Qwen3-8B", cards_owned="nothing", known=("Qwen3-8B 41",)).nouns().known


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Gibberish 41", "No model is called"),
        ("/etc/passwd 41", "No model is called"),
        ("Qwen3-8B 41 in Nothing", "runtime"),
        ("Llama-3.1-405B 41 in TensorRT-LLM", "does not fit"),
    ],
)
def test_a_speed_that_cannot_be_of_the_machine_is_refused(text: str, words: str) -> None:
    here = Request(gpu="RTX 3090", ram_gb=32).nouns().machine
    with pytest.raises(InputError, match=words) as refused:
        known(read(text), here, QuestionRun())
    assert "The known speed" in str(refused.value)


def test_a_known_speed_runs_where_it_is_fastest() -> None:
    here = Request(gpu="RTX 3090", ram_gb=64).nouns().machine
    small = known(read("Qwen3-8B Q4_K_M 100"), here, QuestionRun())
    large = known(read("Llama-3.3-70B Q4_K_M 2"), here, QuestionRun())
    assert small.estimate.strategy == "gpu-resident"
    assert large.estimate.strategy == "cpu-offload"


def test_a_known_speed_of_the_model_itself_ran_as_it_is_asked() -> None:
    request = Request(
        model="Qwen3-8B",
        gpu="RTX 3090",
        ram_gb=64,
        gpu_layers=10,
        placement="cpu-offload",
        known=("Qwen3-8B 12", "Qwen3-14B 70"),
    )
    same, other = request.nouns().known
    assert same.estimate.strategy == "cpu-offload"
    assert same.estimate.settings.gpu_layers == 10
    assert other.estimate.strategy == "gpu-resident"


def test_a_stated_split_is_taken() -> None:
    here = Request(gpu="RTX 3090", ram_gb=64).nouns().machine
    in_ram = known(read("Qwen3-4B Q4_K_M 12 ngl 0"), here, QuestionRun())
    assert in_ram.estimate.strategy == "cpu-offload"
    assert in_ram.run.predicted < 60, "as fast as RAM is read"
    experts = known(read("gpt-oss-20b 30 ncmoe 99"), here, QuestionRun())
    assert float(experts.estimate.placement.cpu_moe) == 24
    assert (
        known(read("Qwen3-4B 120 ngl 99"), here, QuestionRun()).estimate.strategy == "gpu-resident"
    )
