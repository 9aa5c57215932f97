"""Scenario files: valid, invalid, and other files."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from advisor.catalog.inputs import INPUTS
from advisor.cli.main import main
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.reports.scenarios import CONDITIONS, PROMISED, read_scenarios, run, scenarios
from advisor.runtimes.compare import compare, usable

DOCS = Path(__file__).parents[3] / "docs" / "scenarios.md"
PLAIN: dict[str, Any] = {
    "models": ["Llama-3.1-8B"],
    "machines": [{"name": "mine", "gpu": "RTX 4090", "ram_gb": 64}],
}


def written(folder: Path, data: object) -> Path:
    path = folder / "file.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def failures(conditions: dict[str, Any]) -> list[str]:
    (result,) = run(scenarios({**PLAIN, "conditions": conditions}))
    return list(result.failures)


def test_the_answer_is_that_of_a_comparison() -> None:
    (result,) = run(scenarios(PLAIN))
    here = machine(MachineSpec(gpu="RTX 4090", ram_gb=64))
    fitting = usable(compare(catalog.model("Llama-3.1-8B", "Q4_K_M"), here, Workload()))
    assert result.best is not None
    assert (result.best.runtime, result.best.strategy) == (
        fitting[0].runtime,
        fitting[0].strategy,
    )
    assert (result.model, result.machine, result.failures) == ("Llama-3.1-8B", "mine", ())


def test_every_condition_can_fail_and_hold() -> None:
    for name, holds, fails, words in (
        ("min_decode_tps", 0.001, 1e6, "tokens/s, less than 1,000,000"),
        ("min_decode_tps_low", 0.001, 1e6, "tokens/s at the low end, less than"),
        ("min_prefill_tps", 0.001, 1e9, "prompt tokens/s, less than"),
        ("max_ttft_s", 1e6, 1e-9, "to the first token, more than"),
        ("placement", "gpu-resident", "nvme-offload", "runs by gpu-resident, not nvme-offload"),
    ):
        assert failures({name: holds}) == []
        (failure,) = failures({name: fails})
        assert words in failure


def test_every_promise_can_be_broken_and_kept() -> None:
    for name, kept, broken, words in (
        ("decode_tps", ">= 0.001", ">1e6", "tokens/s, not more than 1,000,000"),
        ("decode_tps_low", "> 0.001", ">= 1e6", "tokens/s at the low end, less than"),
        ("prefill_tps", "<1e9", "<= 0.5", "prompt tokens/s, more than 0.5"),
        ("ttft_s", "<= 1e6", "< 1e-9", "to the first token, not less than"),
        ("monthly_usd", "<= 1000", "<= 0.01", "a month, more than $0.01"),
        ("fits", True, False, "it runs, and should not"),
        ("placement", "gpu-resident", "nvme-offload", "runs by gpu-resident, not nvme-offload"),
    ):
        for bound, failed in ((kept, False), (broken, True)):
            (result,) = run(scenarios({**PLAIN, "promises": {name: bound}}))
            assert bool(result.failures) is failed, (name, bound, result.failures)
            assert not failed or words in result.failures[0]


def test_a_session_can_be_promised() -> None:
    session = {**PLAIN, "request": {"session": "swe-bench"}}
    for bound, words in (
        ("<= 36000", ""),
        ("<= 0.5", "for the task of a session, more than 500 ms"),
    ):
        (result,) = run(scenarios({**session, "promises": {"task_s": bound}}))
        assert words in "".join(result.failures)
        assert bool(result.failures) is bool(words)
    (without,) = run(scenarios({**PLAIN, "promises": {"task_s": "<= 36000"}}))
    assert "unknown for the task of a session" in without.failures[0]


def test_a_promise_that_a_model_does_not_fit_is_kept_by_a_small_machine() -> None:
    data = {"models": ["Llama-3.1-70B"], "machines": [{"ram_gb": 2, "disk_gbs": 1}],
            "runtime": "vLLM", "promises": {"fits": False, "decode_tps": ">= 20"}}  # fmt: skip
    (result,) = run(scenarios(data))
    assert result.failures == ()


def test_the_low_end_is_stricter_than_the_middle() -> None:
    (result,) = run(scenarios(PLAIN))
    assert result.best is not None
    assert result.best.decode is not None
    between = (float(result.best.decode.low) + float(result.best.decode.value)) / 2
    assert failures({"min_decode_tps": between}) == []
    assert len(failures({"min_decode_tps_low": between})) == 1


def test_a_machine_by_name_a_split_and_money_are_inputs_of_a_file() -> None:
    data = {
        "models": [{"name": "Llama-3.1-70B", "format": "Q4_K_M"}],
        "machines": [
            "Mac Studio M3 Ultra 512GB",
            {"gpu": "RTX 3090", "ram_gb": "64GB", "gpu_layers": 20},
        ],
        "request": {"runtime": "llama.cpp", "context": "16k", "usd_per_kwh": 0.36},
    }
    named, split = run(scenarios(data))
    assert named.machine == "Mac Studio M3 Ultra 512GB"
    assert split.best is not None
    assert split.best.placement is not None
    assert float(split.best.placement.gpu_layers) == 19  # beside the output head, as `-ngl 20`
    assert float(split.best.work.context) == 16_384


def test_a_month_costs_its_rent() -> None:
    # 30.4375 days of 2 hours at $3 an hour
    mine = {**PLAIN["machines"][0], "rented_at": 3}
    use = {"rented_hours_per_day": 2}
    for most, failed in ((182, ("$183 a month, more than $182",)), (183, ())):
        data = {**PLAIN, "machines": [mine], "request": use}
        (result,) = run(scenarios({**data, "conditions": {"max_usd_per_month": most}}))
        assert result.failures == failed


def test_a_model_that_no_runtime_runs_fails() -> None:
    data = {"models": ["Llama-3.1-70B"], "machines": [{"ram_gb": 2, "disk_gbs": 1}]}
    results = list(run(scenarios({**data, "runtime": "vLLM"})))
    assert [result.failures for result in results] == [("nothing that was tried runs it",)]


def test_conditions_of_a_machine_take_precedence_over_those_of_the_file() -> None:
    own = {**PLAIN["machines"][0], "conditions": {"min_decode_tps": 1e6}}
    data = {**PLAIN, "machines": [PLAIN["machines"][0], own]}
    data["conditions"] = {"min_decode_tps": 1, "max_ttft_s": 1e6}
    free, strict = run(scenarios(data))
    assert free.failures == ()
    assert len(strict.failures) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"models": []}, "models is '[]'; it should be a list with entries"),
        ({"models": "Llama-3.1-8B"}, "models is 'Llama-3.1-8B'"),
        ({"models": [{"format": "Q4_K_M"}]}, "models[0]"),
        (
            {"models": [{"name": 8}]},
            "models[0].name is '8'; it should be text: write \"8\" in quotes",
        ),
        ({"models": [8]}, "models[0].name is '8'; it should be text: write \"8\" in quotes"),
        ({"machines": [{"gpu": "RTX 4090", "ram": 64}]}, "did you mean ram_gb"),
        (
            {"machines": [{"ram_gb": "lots"}]},
            "machines[0].ram_gb: 'lots' cannot be read; give memory",
        ),
        ({"machines": [{"ram_gb": -1}]}, "machines[0]: RAM (--ram-gb) is -1; allowed is"),
        ({"machines": [{"gpu": "RTX 4909"}]}, "Did you mean RTX 4090"),
        ({"machines": ["mine"]}, "machines[0]: No machine is called 'mine'"),
        (
            {"machines": [4090]},
            "machines[0].machine is '4090'; it should be text: write \"4090\" in",
        ),
        (
            {"machines": [{"gpu": 4090}]},
            "gpu is '4090'; it should be text: write \"4090\" in quotes",
        ),
        ({"machines": [[8]]}, "machines[0] is '[8]'; it should be keys with values"),
        ({"request": {"gpu_layers": True}}, "request.gpu_layers is 'True'; it should be a whole"),
        ({"request": {"currency": "VND"}}, "request: --currency VND needs --usd-rate"),
        ({"conditions": {"min_decode": 3}}, "did you mean min_decode_tps"),
        ({"conditions": {"min_decode_tps": True}}, "it should be a number"),
        ({"conditions": {"placement": "cloud"}}, "allowed are gpu-resident"),
        ({"promises": {"decode_tps": 20}}, 'it should be a bound such as ">= 20"'),
        ({"promises": {"decode_tps": ">= inf"}}, 'it should be a bound such as ">= 20"'),
        ({"promises": {"fits": "yes"}}, "it should be true or false"),
        ({"promises": {"tps": ">= 2"}}, "promises has the key 'tps', which nothing reads"),
        ({"workload": {"users": 0}}, "workload: Users (--users) is 0; allowed is"),
        ({"workload": {"kv_type": 8}}, "workload.kv_type is '8'; it should be text"),
        ({"runtime": "llama-cop"}, "Did you mean llama.cpp"),
        ({"scenario": []}, "has the key 'scenario', which nothing reads"),
        ({"models": ["Llama-3.1-8B"] * 2001}, "models times machines is 2,001"),
    ],
)
def test_a_wrong_file_is_refused_by_the_name_of_its_key(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError) as refused:
        read_scenarios(written(tmp_path, {**PLAIN, **change}))
    assert words in str(refused.value)
    assert "docs/scenarios.md" in str(refused.value)


@pytest.mark.parametrize(
    "content", [b"models: [", b"\xff\xfe\x00", b"!!python/object:os.system {}", b"- 1", b""]
)
def test_a_file_that_is_no_scenario_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"file\.yaml"):
        read_scenarios(path)


@pytest.mark.parametrize(
    ("conditions", "code"), [({"min_decode_tps": 1}, 0), ({"min_decode_tps": 1e6}, 1)]
)
def test_the_exit_code_tells_a_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], conditions: dict[str, float], code: int
) -> None:
    path = written(tmp_path, {**PLAIN, "conditions": conditions})
    assert main(["report", "run", str(path), "--json"]) == code
    answer = json.loads(capsys.readouterr().out)
    assert answer["holds"] is (code == 0)
    assert answer["results"][0]["estimate"]["fits"] is True
    assert main(["report", "run", str(path)]) == code
    assert capsys.readouterr().out.endswith(f"{1 - code} of 1 hold.\n")


def test_a_wrong_file_is_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "run", str(tmp_path / "absent.yaml")]) == 2
    assert "absent.yaml cannot be read" in capsys.readouterr().err


def test_the_documentation_names_every_key_and_its_example_runs(tmp_path: Path) -> None:
    text = DOCS.read_text(encoding="utf-8")
    for name in (*CONDITIONS, *PROMISED, *INPUTS):
        assert f"`{name}`" in text, name
    example = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert example is not None
    path = tmp_path / "example.yaml"
    path.write_text(example[1], encoding="utf-8")
    pairs = read_scenarios(path)
    assert len(pairs) == 6
    assert pairs[-1].machine == "Mac Studio M3 Ultra 512GB"
