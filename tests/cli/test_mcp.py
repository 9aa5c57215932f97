"""The tools of an assistant, called by the SDK's own client over stdio."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from advisor.cli import mcp
from advisor.cli.main import main
from advisor.errors import InputError

ROOT = Path(__file__).parents[2]
DESKTOP = {"gpu": "RTX 3090", "ram_gb": 64}
CALLS = {
    "estimate": {"model": "Llama-3.1-8B", **DESKTOP, "runtime": "llama.cpp"},
    "advise": {"model": "Llama-3.1-8B", **DESKTOP},
    "what_can_i_run": {"machine": "Mac mini M4 Pro 64GB"},
    "find_machines": {"model": "Qwen3-32B", "min_tps": 15, "max_usd_per_month": 200},
    "diagnose": {"model": "Llama-3.1-8B", **DESKTOP, "measured": 20},
    "share_run": {"model": "Llama-3.1-8B", **DESKTOP, "printed": "eval rate: 87.96 tokens/s"},
    "describe_model": {"model": "Qwen3-32B", "context": 32768},
    "describe_machine": {"name": "Mac Studio M3 Ultra 512GB"},
    "inputs": {"group": "placement"},
}
WRONG = {
    "no such model": ("estimate", {"model": "nobody-at-all", **DESKTOP}, "No model is called"),
    "out of limits": ("estimate", {"model": "Llama-3.1-8B", "context": -5}, "Context"),
    "no such input": ("estimate", {"model": "Llama-3.1-8B", "vram": 4}, "'vram' is no input"),
    "nothing printed": ("share_run", {"model": "Llama-3.1-8B", "printed": "hello"}, "printed"),
    "neither printed nor known": ("share_run", {"model": "Llama-3.1-8B", **DESKTOP}, "--known"),
    "nothing given": ("advise", {}, "model must be given"),
    "a file": ("describe_model", {"model": "/etc/passwd"}, "not read here"),
    "a file of known speeds": (
        "estimate",
        {"model": "Llama-3.1-8B", "known_file": "bench.json", **DESKTOP},
        "not read here",
    ),
    "a file that drafts": (
        "estimate",
        {"model": "Llama-3.1-8B", "draft": "./a.gguf", "acceptance": 0.5, **DESKTOP},
        "not read here",
    ),
    "a text for a number": ("estimate", {"model": "Llama-3.1-8B", "users": "many"}, "many"),
}


def test_an_assistant_lists_and_calls_every_tool(tmp_path: Path) -> None:
    async def talk() -> dict[str, Any]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "advisor", "mcp"],
            cwd=ROOT,
            env={"ADVISOR_DATA_DIR": str(tmp_path), "ADVISOR_OFFLINE": "1"},
        )
        async with (
            stdio_client(server) as (incoming, outgoing),
            ClientSession(incoming, outgoing) as session,
        ):
            await session.initialize()
            listed = (await session.list_tools()).tools
            wrong = await session.call_tool("describe_model", {"model": "nobody-at-all"})
            called = {name: await session.call_tool(name, values) for name, values in CALLS.items()}
        return {"listed": listed, "called": called, "wrong": wrong}

    with ThreadPoolExecutor(1) as apart:  # a browser of other tests may run a loop in this thread
        talked = apart.submit(anyio.run, talk).result()
    assert {tool.name for tool in talked["listed"]} == set(CALLS) == set(mcp.TOOLS)
    for tool in talked["listed"]:
        described = tool.input_schema["properties"]
        assert described.keys() >= CALLS[tool.name].keys()
        assert all(entry["description"].endswith(".") for entry in described.values())
    for name, result in talked["called"].items():
        assert not result.is_error, f"{name}: {result.content}"
        assert result.content[0].text
        assert isinstance(result.structured_content, dict), name
    assert talked["wrong"].is_error
    assert "No model is called" in talked["wrong"].content[0].text


@pytest.mark.parametrize("name", ["estimate", "describe_machine", "diagnose"])
def test_a_tool_gives_the_digits_of_the_command(name: str, capsys: pytest.CaptureFixture) -> None:
    commands = {
        "estimate": [
            "estimate",
            "--model",
            "Llama-3.1-8B",
            "--gpu",
            "RTX 3090",
            "--ram-gb",
            "64",
            "--runtime",
            "llama.cpp",
        ],
        "describe_machine": ["machine", "Mac Studio M3 Ultra 512GB"],
        "diagnose": [
            "diagnose",
            "--model",
            "Llama-3.1-8B",
            "--gpu",
            "RTX 3090",
            "--ram-gb",
            "64",
            "--measured",
            "20",
        ],
    }
    detail = {"detail": "all"} if name == "estimate" else {}
    text, record = mcp.answer(name, {**CALLS[name], **detail}, False)
    capsys.readouterr()
    assert main(commands[name]) == 0
    assert text.endswith(capsys.readouterr().out.strip())
    assert main([*commands[name], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (record["estimates"] if name == "estimate" else record) == printed


def test_what_cannot_be_answered_is_a_sentence() -> None:
    unlike = {}
    for case, (name, values, words) in WRONG.items():
        try:
            unlike[case] = mcp.answer(name, values, False)[0]
        except InputError as error:
            if words not in str(error) or "\n" in str(error):
                unlike[case] = str(error)
    assert unlike == {}


def test_files_are_read_where_they_are_allowed(tmp_path: Path) -> None:
    sample = ROOT / "tests" / "samples" / "configs" / "Qwen3-0.6B.json"
    config = tmp_path / "config.json"
    config.write_text(json.dumps(json.loads(sample.read_text(encoding="utf-8"))["config"]))
    with pytest.raises(InputError, match="not read here"):
        mcp.answer("describe_model", {"model": str(config)}, False)
    _, record = mcp.answer("describe_model", {"model": str(config)}, True)
    assert record["layers"] == 28


def test_a_long_list_is_cut_and_counted() -> None:
    _, record = mcp.answer("advise", {**CALLS["advise"], "detail": "options"}, False)
    assert record.keys() == {"options", "options_left_out"}
    assert len(record["options"]) == mcp.MOST_ROWS
    assert record["options_left_out"] > 0


def size(*parts: object) -> int:
    return sum(len(part if isinstance(part, str) else json.dumps(part)) for part in parts)


@pytest.mark.parametrize(
    "values",
    [
        CALLS["advise"],
        {"model": "Kimi-K2", "machine": "4090 64gb"},
        {"model": "Qwen3.6-27B", "machine": "laptop 4060 16gb"},
        {"model": "gpt-oss-120b", "machine": "Mac Studio M4 Max 64GB", "context": 32768},
    ],
)
def test_advice_is_short_and_whole_where_it_is_asked_for(values: dict[str, Any]) -> None:
    text, record = mcp.answer("advise", values, False)
    assert size(text, record) < 4000
    assert record.keys() >= {"verdict", "judgement", "placements", "ways", "command"}
    assert len(record["placements"]) == 3
    _, whole = mcp.answer("advise", {**values, "detail": "all"}, False)
    assert whole["verdict"] == record["verdict"]
    assert whole["estimates"]


def test_the_list_of_tools_is_short() -> None:
    listed = [
        {"name": name, "description": tool.about, "inputSchema": mcp.schema(tool)}
        for name, tool in mcp.TOOLS.items()
    ]
    assert size(listed) < 12_000


def test_an_input_that_the_list_leaves_out_is_taken_and_described() -> None:
    assert "pcie_gen" not in mcp.schema(mcp.TOOLS["estimate"])["properties"]
    values = {**CALLS["estimate"], "pcie_gen": 3}
    assert mcp.answer("estimate", values, False)[1]["estimates"]
    _, record = mcp.answer("inputs", {"group": "machine"}, False)
    told = {row["name"]: row for row in record["inputs"]}
    assert told["pcie_gen"]["about"].endswith(".")
    assert told["ram_gbs"]["unit"] == "GB/s"


def test_a_detail_that_does_not_exist_is_named() -> None:
    with pytest.raises(InputError, match=r"allowed are .*estimates"):
        mcp.answer("advise", {**CALLS["advise"], "detail": "everything"}, False)


def test_a_known_speed_is_shared_without_what_a_tool_printed() -> None:
    values = {"model": "Llama-3.1-8B", **DESKTOP, "known": ["Llama-3.1-8B Q4_K_M 87.9"]}
    _, record = mcp.answer("share_run", values, False)
    assert record["tg_tps"] == "87.9"
    assert record["output"] == "87.9 tokens/s"
    assert record["prediction"]
