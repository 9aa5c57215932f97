"""Files that start a server: their form, and the words of its command in them."""

import configparser
import shlex

import pytest
import yaml

from advisor.advice.start_files import StartFile, start_file
from advisor.cli.main import main
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import runtime
from advisor.runtimes.compare import compare, usable

SERVERS = ("llama.cpp", "ik_llama.cpp", "vllm", "sglang")


def served(server: str, gpu: str = "RTX 4090", name: str = "Qwen3-8B") -> Estimate:
    there = machine(MachineSpec(gpu=gpu, ram_gb=64))
    model = catalog.model(name, "Q4_K_M")
    return usable(compare(model, there, Workload(), runtimes=[runtime(server)]))[0]


@pytest.mark.parametrize("server", SERVERS)
def test_a_unit_runs_the_command(server: str) -> None:
    estimate = served(server)
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # keys keep their case
    unit.read_string(start_file(StartFile.SYSTEMD, estimate))
    assert unit["Service"]["ExecStart"] == f"/usr/bin/env {estimate.command}"
    assert unit["Install"]["WantedBy"] == "default.target"


@pytest.mark.parametrize("server", SERVERS)
def test_llama_swap_gives_the_command_its_port(server: str) -> None:
    estimate = served(server)
    (entry,) = yaml.safe_load(start_file(StartFile.LLAMA_SWAP, estimate))["models"].values()
    assert entry["cmd"] == f"{estimate.command} --port ${{PORT}}"


@pytest.mark.parametrize(
    ("server", "gpu", "image"),
    [
        ("llama.cpp", "RTX 4090", "ghcr.io/ggml-org/llama.cpp:server-cuda"),
        ("llama.cpp", "RX 7900 XTX", "ghcr.io/ggml-org/llama.cpp:server-rocm"),
        ("llama.cpp", "none", "ghcr.io/ggml-org/llama.cpp:server"),
        ("vllm", "RTX 4090", "vllm/vllm-openai:latest"),
        ("sglang", "RTX 4090", "lmsysorg/sglang:latest"),
    ],
)
def test_compose_takes_the_makers_image_and_keeps_every_word(
    server: str, gpu: str, image: str
) -> None:
    estimate = served(server, gpu)
    (service,) = yaml.safe_load(start_file(StartFile.COMPOSE, estimate))["services"].values()
    assert service["image"] == image
    words = [word for word in shlex.split(estimate.command) if word.startswith("-")]
    assert [word for word in words if word not in service["command"]] == []
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert ("deploy" in service) == (gpu == "RTX 4090")
    assert ("devices" in service) == (gpu == "RX 7900 XTX")


def test_names_with_signs_of_yaml_and_systemd_stay_text() -> None:
    estimate = served("llama.cpp")
    odd = "llama-server -m 'a: #b $c %d.gguf' -c 8192"
    estimate.__dict__["command"] = odd
    (entry,) = yaml.safe_load(start_file(StartFile.LLAMA_SWAP, estimate))["models"].values()
    assert entry["cmd"] == f"{odd} --port ${{PORT}}"
    assert "'a: #b $$c %%d.gguf'" in start_file(StartFile.SYSTEMD, estimate)


def test_what_no_file_can_start_is_refused() -> None:
    with pytest.raises(Refusal, match="no single command that serves"):
        start_file(StartFile.SYSTEMD, served("accelerate"))
    with pytest.raises(Refusal, match="for cards of this maker"):
        start_file(StartFile.COMPOSE, served("vllm", "RX 7900 XTX"))


def test_the_command_prints_the_file_alone(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["estimate", "--model", "Qwen3-8B", "--gpu", "RTX 4090", "--start", "compose"]
    assert main(words) == 0
    assert yaml.safe_load(capsys.readouterr().out)["services"]
    assert main([*words, "--runtime", "Accelerate"]) == 2
    assert "no single command that serves" in capsys.readouterr().err
