# SPDX-License-Identifier: GPL-2.0-only
"""From the application to files. Each module makes one file or one kind of table."""

from __future__ import annotations

from ..model import Application
from . import commands, gdb, header, make, map as map_file, orti, tables

# The names of the generated files, and the function that makes each
MAKERS = {
    "os_config.h": header.text,
    "os_config.c": tables.text,
    "os_config.orti": orti.text,
    "os_config.gdb": gdb.text,
    "os_config.json": map_file.text,
    "os_config.mk": make.text,
}
COMMANDS = "compile_commands.json"


def files(application: Application, origin: str) -> dict[str, str]:
    """Returns the text of each generated file. `origin` is the name of the OIL file."""
    return {name: maker(application, origin) for name, maker in MAKERS.items()}


__all__ = ["COMMANDS", "MAKERS", "commands", "files"]
