"""`mcp`: the commands as tools of an assistant, over stdio (Model Context Protocol).

A tool runs the command of the same answer, so that an assistant reads the digits that a person
would. Its inputs are those of the registry (data/inputs.csv); the list of tools describes the usual
ones, and the tool `inputs` all. An answer is short unless a detail is asked for, since an assistant
reads every character. It measures and saves nothing, and reads no file unless `--allow-files` is
given.

Reference: https://modelcontextprotocol.io/specification/2025-11-25/server/tools, read 2026-11-23.
"""

import argparse
import io
import json
import threading
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, TypeAlias

import advisor
from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.inputs import INPUTS, Input, Kind
from advisor.cli.command import collected
from advisor.cli.main import run as run_command
from advisor.cli.parser import COMMANDS, CommandOption, options_of
from advisor.errors import AdvisorError, InputError
from advisor.permission import EVERYTHING, Permission, narrowed
from advisor.request import command_line
from advisor.request.values import from_values

Schema: TypeAlias = dict[str, Any]  # JSON Schema of an input or a tool
MOST_ROWS = 20  # rows of a list that an assistant is given; the rest is counted
TYPES: Mapping[Kind, Schema] = {
    Kind.NAME: {"type": "string"},
    Kind.NUMBER: {"type": "number"},
    Kind.WHOLE: {"type": "integer"},
    Kind.SWITCH: {"type": "boolean"},
    Kind.OFF: {"type": "boolean"},
    Kind.PRICES: {"type": "object", "additionalProperties": {"type": "number"}},
    Kind.SIZES: {"type": "array", "items": {"type": "number"}},
    Kind.TEXTS: {"type": "array", "items": {"type": "string"}},
}
"""Schema of a value, by the kind of its input."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AdvisorTool:
    """Command as a tool, a row of data/commands/tools.csv; lists are separated by blanks."""

    tool: str  # name of the tool
    command: str  # name of the command
    groups: str  # groups of the registry whose inputs it takes
    without: str  # inputs of those groups that it does not take
    required: str  # inputs that must be given
    further: str  # options of the command that it takes beside the registry
    rows: str  # name of its list, where the command answers with one
    described: str  # inputs of the registry that its schema describes
    short: str  # option of the command for a short answer; empty for none
    kept: str  # values of each row that a short answer keeps; empty for all
    about: str  # what the tool answers, for the assistant that chooses among tools


TOOLS: Mapping[str, AdvisorTool] = {
    row.tool: row for row in read(DATA / "commands/tools.csv", AdvisorTool)
}
"""Tools by name."""


def run(args: argparse.Namespace) -> None:
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
        except AdvisorError as error:
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
    further = {
        name: {
            "type": "number" if option.kind == "number" else "string",
            "description": f"{option.help[:1].upper()}{option.help[1:]}.",
        }
        for name, option in further_of(tool).items()
    }
    usual = tool.described.split()
    properties = {
        entry.name: _property(entry)
        for entry in INPUTS.of(tool.groups, tool.without).values()
        if entry.name in usual
    }
    detail = {DETAIL: DETAILED} if tool.short or tool.kept else {}
    return {
        "type": "object",
        "properties": properties | further | detail,
        "required": tool.required.split(),
        "additionalProperties": bool(tool.groups),
    }


DETAIL = "detail"  # input of a tool whose answer is short without it
ALL = "all"
DETAILED: Schema = {
    "type": "string",
    "description": "A list of the whole answer (options, estimates, what_ifs), or all.",
}


def further_of(tool: AdvisorTool) -> dict[str, CommandOption]:
    """Options of a tool that are not in the registry, by name."""
    named = {
        option.name.removeprefix("--").replace("-", "_"): option
        for option in options_of(tool.command)
    }
    return {name: named[name] for name in tool.further.split()}


def _property(entry: Input) -> Schema:
    unit = f" [{entry.unit}]" if entry.unit else ""
    about = f"{entry.sentence.removesuffix('.')}{unit}."
    return {**TYPES[Kind(entry.kind)], "description": about}


WITHOUT_FILES = Permission(
    files=False,
    network=False,
    instead="give the name of a model or a repository, or start the server with --allow-files",
)
"""What an assistant's names may open."""
_ALONE = threading.Lock()
"""What a command prints is caught for the whole process, so that one runs at a time."""


def answer(name: str, values: Mapping[str, Any], allow_files: bool) -> tuple[str, Any]:
    """Text and record of a tool's answer.

    Raises:
        AdvisorError: no such tool or input, or whatever the command cannot answer, in a sentence.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise InputError(f"No tool is called {name[:40]!r}; there are {', '.join(TOOLS)}.")
    given = dict(values)
    detail = str(given.pop(DETAIL, "") or "") if tool.short or tool.kept else ""
    words = _words(tool, given)
    if tool.short and not detail:
        words = [tool.short, *words]
    notes = io.StringIO()
    with (
        _ALONE,
        narrowed(EVERYTHING if allow_files else WITHOUT_FILES),
        collected() as answers,
        redirect_stdout(notes),
        redirect_stderr(notes),
    ):
        run_command([*tool.command.split(), "--json", *words])
    record, text = answers[0]
    plain = json.loads(json.dumps(record, allow_nan=False))
    told = "\n\n".join(filter(None, (notes.getvalue().strip(), text))).strip()
    whole = {tool.rows: plain} if tool.rows else plain
    if detail not in ("", ALL):
        return told, _cut(_part(whole, detail))
    if tool.kept and not detail:
        keys = tool.kept.split()
        whole = {tool.rows: [{key: row[key] for key in keys if key in row} for row in plain]}
    return told, _cut(whole)


def _part(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """List of a record by its name; raises InputError of none."""
    lists = [key for key, value in record.items() if isinstance(value, list)]
    if name not in lists:
        raise InputError(f"{DETAIL} is {name[:40]!r}; allowed are {', '.join((*lists, ALL))}.")
    return {name: record[name]}


def _words(tool: AdvisorTool, values: Mapping[str, Any]) -> list[str]:
    """Words of the command that gives the answer."""
    missing = [name for name in tool.required.split() if values.get(name) in (None, "")]
    if missing:
        raise InputError(f"{' and '.join(missing)} must be given.")
    further = further_of(tool)
    taken = {entry.name for entry in INPUTS.of(tool.groups, tool.without).values()}
    if unknown := values.keys() - taken - further.keys():
        raise InputError(f"{min(unknown)!r} is no input of this tool.")
    (row,) = (row for row in COMMANDS if row.command == tool.command)
    positional = row.positional.split()
    inputs = {name: value for name, value in values.items() if name in taken - {*positional}}
    words = command_line.to_argv(from_values(inputs))
    placed = [values[name] for name in positional]
    for name, option in further.items():
        if values.get(name) is not None and option.name.startswith("--"):
            words += [option.name, str(values[name])]
        elif values.get(name) is not None:
            placed.append(values[name])
    return [*words, *(("--", *map(str, placed)) if placed else ())]


def _cut(record: Any) -> Any:
    """Record with its long lists cut to their first rows, and the number of the others."""
    cut = dict(record)
    for name, value in record.items():
        if isinstance(value, list) and len(value) > MOST_ROWS:
            cut[name] = value[:MOST_ROWS]
            cut[f"{name}_left_out"] = len(value) - MOST_ROWS
    return cut
