"""Commands for PowerShell, from those for a POSIX shell.

The commands of this program use three things that PowerShell spells otherwise: variables before a
command, a text that is written into a file, and `&&` (about_Environment_Variables, Set-Content;
`&&` is missing in Windows PowerShell 5.1, about_Pipeline_Chain_Operators; read 2026-11-28).
"""

import re
import shlex
from collections.abc import Iterator

VARIABLES = re.compile(r"((?:[A-Z_][A-Z0-9_]*=\S+ )+)(.+)")
WRITTEN = re.compile(r"printf ('.*') > (\S+) && (.+)")


def powershell(text: str) -> str:
    """Lines of PowerShell for lines of a POSIX shell."""
    return "\n".join(map(_line, text.splitlines()))


def _line(line: str) -> str:
    if writing := WRITTEN.fullmatch(line):
        written, file, rest = writing.groups()
        lines = shlex.split(written)[0].replace(r"\n", "\n").splitlines()
        return f"{', '.join(map(_quoted, lines))} | Set-Content {file}; {rest}"
    if setting := VARIABLES.fullmatch(line):
        variables, rest = setting.groups()
        return "; ".join([*_assigned(variables), rest])
    return line


def _assigned(variables: str) -> Iterator[str]:
    """Assignments of variables, from `NAME=value` words."""
    for word in shlex.split(variables):
        name, _, value = word.partition("=")
        yield f"$env:{name} = {_quoted(value)}"


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
