"""`mcp`: the commands as tools of an assistant, over stdio (Model Context Protocol).

A tool runs the command of the same answer, so that an assistant reads the digits that a person
would. Its inputs are those of the registry (data/inputs.csv). It measures and saves nothing, and
reads no file unless `--allow-files` is given.

Reference: https://modelcontextprotocol.io/specification/2025-11-25/server/tools, read 2026-11-23.
"""

import argparse
import io
import json
import threading
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import advisor
from advisor.catalog.inputs import INPUTS, Input, Kind
from advisor.cli import main as command_line_program
from advisor.errors import InputError
from advisor.model.resolve import ReferenceKind, way
from advisor.request import command_line
from advisor.request.values import from_values

Schema: TypeAlias = dict[str, Any]
"""JSON Schema of an input or a tool."""
MOST_ROWS = 20
"""Rows of a list that an assistant is given; the rest is counted."""
TYPES: Mapping[Kind, Schema] = {
    Kind.NAME: {"type": "string"},
    Kind.NUMBER: {"type": "number"},
    Kind.WHOLE: {"type": "integer"},
    Kind.SWITCH: {"type": "boolean"},
    Kind.OFF: {"type": "boolean"},
    Kind.PRICES: {"type": "object", "additionalProperties": {"type": "number"}},
    Kind.SIZES: {"type": "array", "items": {"type": "number"}},
}
"""Schema of a value, by the kind of its input."""


@dataclass(frozen=True, kw_only=True)
class AdvisorTool:
    """A command as a tool."""

    command: str  # name of the command
    about: str  # what the tool answers, for the assistant that chooses among tools
    groups: tuple[str, ...] = command_line.DESCRIBED  # groups of the registry whose inputs it takes
    without: tuple[str, ...] = ()  # inputs of those groups that it does not take
    required: tuple[str, ...] = ("model",)  # inputs that must be given
    positional: tuple[str, ...] = ()  # inputs that the command takes without an option
    # numbers beside the registry, with their descriptions
    further: Mapping[str, str] = field(default_factory=dict)
    rows: str = ""  # name of its list, where the command answers with one


TOOLS: Mapping[str, AdvisorTool] = {
    "estimate": AdvisorTool(
        command="estimate",
        about="Speed, memory and first token of a language model on a machine, for each runtime "
        "(llama.cpp, Ollama, vLLM ...) and placement (in the GPU, offloaded to RAM, to NVMe).",
        groups=(*command_line.DESCRIBED, "session"),
        rows="estimates",
    ),
    "advise": AdvisorTool(
        command="advise",
        about="How fast a model runs on a machine, whether that is enough, and what would be "
        "better: another model, a smaller format, a bigger GPU with its cost, rent or an API.",
        groups=command_line.FULL,
    ),
    "what_can_i_run": AdvisorTool(
        command="find",
        about="Models that run well on a machine, ranked by published quality, with their speed.",
        groups=tuple(group for group in command_line.FULL if group != "load"),
        without=("model", "format", "placement", "form", "resale", "rented_at"),
        required=(),
        rows="models",
    ),
    "find_machines": AdvisorTool(
        command="find",
        about="Machines to buy or rent, and APIs, on which a model reaches a speed, cheapest "
        "first.",
        groups=("what", "work", "draft", "money", "currency", "target"),
        without=("machine", "placement", "cached_share"),
        required=("model", "min_tps"),
        rows="offers",
    ),
    "diagnose": AdvisorTool(
        command="diagnose",
        about="Why a measured speed is lower than it should be: the likeliest causes in order, "
        "each with a test and a fix.",
        without=("placement",),
        required=("model", "measured"),
        further={
            "measured": "Measured decode speed of one user [tokens/s].",
            "measured_prompt": "Measured speed of the prompt [tokens/s].",
            "measured_prompt_tokens": "Length of that prompt [tokens].",
        },
    ),
    "describe_model": AdvisorTool(
        command="model",
        about="Size of a model in a format, bytes read for each token, and its cache.",
        groups=("what", "work"),
        without=("machine", "runtime", "placement"),
        positional=("model",),
    ),
    "describe_machine": AdvisorTool(
        command="machine",
        about="Hardware that a name in anybody's words is taken for, with memory and bandwidth.",
        groups=(),
        required=("name",),
        positional=("name",),
        further={"name": "GPU, processor, whole machine or cloud instance, in any usual words."},
    ),
}
"""Tools by name."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser("mcp", help="serve these commands to an assistant, over stdio")
    parser.set_defaults(command=_mcp)
    parser.add_argument(
        "--allow-files", action="store_true", help="models may be files of this machine"
    )


def _mcp(args: argparse.Namespace) -> None:
    """Serve until the assistant closes the connection."""
    import anyio

    anyio.run(_serve, args.allow_files)


async def _serve(allow_files: bool) -> None:
    import mcp_types as types
    from anyio import to_thread
    from mcp.server.lowlevel.server import Server
    from mcp.server.stdio import stdio_server

    async def listed(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, description=tool.about, input_schema=schema(tool))
                for name, tool in TOOLS.items()
            ]
        )

    async def called(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            text, record = await to_thread.run_sync(
                answer, params.name, params.arguments or {}, allow_files
            )
        except InputError as error:
            sentence = types.TextContent(text=str(error))
            return types.CallToolResult(content=[sentence], is_error=True)
        shown = types.TextContent(text=text)
        return types.CallToolResult(content=[shown], structured_content=record)

    server: Any = Server(
        "offload-advisor", version=advisor.__version__, on_list_tools=listed, on_call_tool=called
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def schema(tool: AdvisorTool) -> Schema:
    """JSON Schema of a tool's inputs, with units and limits."""
    numbers = {
        name: {"type": "number", "description": about} for name, about in tool.further.items()
    }
    if tool.command == "machine":
        numbers["name"]["type"] = "string"
    properties = {entry.name: _property(entry) for entry in inputs_of(tool)}
    return {
        "type": "object",
        "properties": properties | numbers,
        "required": list(tool.required),
        "additionalProperties": False,
    }


def inputs_of(tool: AdvisorTool) -> list[Input]:
    """Inputs of the registry that a tool takes."""
    return [
        entry for entry in INPUTS if entry.group in tool.groups and entry.name not in tool.without
    ]


def _property(entry: Input) -> Schema:
    unit = f" [{entry.unit}]" if entry.unit else ""
    limits = {"minimum": entry.low, "maximum": entry.high} if entry.limits else {}
    about = f"{entry.sentence.removesuffix('.')}{unit}."
    return {**TYPES[Kind(entry.kind)], **limits, "title": entry.label, "description": about}


_ALONE = threading.Lock()
"""What a command prints is caught for the whole process, so that one runs at a time."""


def answer(name: str, values: Mapping[str, Any], allow_files: bool) -> tuple[str, Any]:
    """Text and record of a tool's answer.

    Raises:
        InputError: no such tool or input, or whatever the command cannot answer, in a sentence.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise InputError(f"No tool is called {name[:40]!r}; there are {', '.join(TOOLS)}.")
    words = _words(tool, values, allow_files)
    with _ALONE:
        text = _printed([tool.command, *words])
        record = json.loads(_printed([tool.command, "--json", *words]))
    return text.strip(), _cut({tool.rows: record} if tool.rows else record)


def _words(tool: AdvisorTool, values: Mapping[str, Any], allow_files: bool) -> list[str]:
    """Words of the command that gives the answer."""
    missing = [name for name in tool.required if values.get(name) in (None, "")]
    if missing:
        raise InputError(f"{' and '.join(missing)} must be given.")
    taken = {entry.name for entry in inputs_of(tool)}
    unknown = values.keys() - taken - tool.further.keys()
    if unknown:
        raise InputError(f"{min(unknown)!r} is no input of this tool.")
    if not allow_files:
        _check_no_file(values)
    stated = {name: value for name, value in values.items() if name in taken - {*tool.positional}}
    further = [
        word
        for name in tool.further
        if name not in tool.positional and values.get(name) is not None
        for word in (f"--{name.replace('_', '-')}", str(values[name]))
    ]
    placed = [str(values[name]) for name in tool.positional]
    return [
        *command_line.to_argv(from_values(stated)),
        *further,
        *(("--", *placed) if placed else ()),
    ]


def _check_no_file(values: Mapping[str, Any]) -> None:
    """Refuse models that are files."""
    for name in ("model", "draft"):
        text = values.get(name)
        if isinstance(text, str) and text and way(text) is ReferenceKind.PATH:
            raise InputError(
                f"{name} is the path of a file, which this server does not read; give a name, or "
                "start it with --allow-files."
            )


def _printed(words: list[str]) -> str:
    """What a command prints, notes first."""
    printed, notes = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(notes):
        try:
            code = command_line_program.main(words)
        except SystemExit as end:
            code = 2 if end.code else 0
    noted = notes.getvalue().strip()
    if code:
        raise InputError(
            noted.splitlines()[-1].removeprefix("advisor: ") if noted else "No answer."
        )
    if "--json" in words:
        return printed.getvalue()
    return f"{noted}\n\n{printed.getvalue()}" if noted else printed.getvalue()


def _cut(record: Any) -> Any:
    """A record whose long lists have their first rows and a count of the rest."""
    cut = dict(record)
    for name, value in record.items():
        if isinstance(value, list) and len(value) > MOST_ROWS:
            cut[name] = value[:MOST_ROWS]
            cut[f"{name}_left_out"] = len(value) - MOST_ROWS
    return cut
