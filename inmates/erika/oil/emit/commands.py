# SPDX-License-Identifier: GPL-2.0-only
"""compile_commands.json: how the application is compiled, for editors."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from ..model import Application

WITHOUT_FLOATS = "-mgeneral-regs-only"


def text(application: Application, sources: list[Path], compiler: str) -> str:
    """Returns the compilation database for files of the current folder. `compiler` is the command
    without its file, as a shell would read it."""
    words = [
        word for word in shlex.split(compiler) if word != WITHOUT_FLOATS or not application.floats
    ]
    words += [word for flags in application.cflags for word in flags.split()]
    return (
        json.dumps(
            [
                {
                    "directory": str(Path.cwd()),
                    "file": str(path),
                    "arguments": [*words, "-c", str(path)],
                }
                for path in dict.fromkeys(sources)
            ],
            indent=1,
        )
        + "\n"
    )
