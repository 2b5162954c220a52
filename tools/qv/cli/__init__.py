# SPDX-License-Identifier: GPL-2.0-only
"""The command line of qvctl: from its words to an exit status."""

from __future__ import annotations

import os
import sys

from .. import output, version
from ..errors import Failed, Interrupted, Refused
from .command import Arguments
from .help import help_text
from .line import find, parse
from .table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..system import System

# If these modules' commands are interrupted, qvctl reports the state of the cells
REPORTING = ("monitor", "create", "life", "check")


def _help(words: Sequence[str]) -> int:
    path = " ".join(word for word in words if not word.startswith("-"))
    if path and not any(f"{command.path} ".startswith(f"{path} ") for command in COMMANDS):
        find(path.split(" "))
    output.line(help_text(path))
    return 0


def run(words: Sequence[str], system: System | None, ready: Callable[[], object]) -> int:
    """Loads the modules of the command, then calls `ready`, then the command."""
    if words and words[0] in ("--version", "version"):
        output.line(f"qvctl {version.own()}")
        return 0
    if words and words[0] in ("help", "-h", "--help"):
        return _help(words[1:])
    if (
        len(words) == 2
        and words[1] in ("-h", "--help")
        and words[0] in ("cell", "channel", "config")
    ):
        return _help(words[:1])
    args = Arguments()
    command = parse(words, args)
    if args.help:
        return _help(command.path.split(" "))
    if system is None:
        from ..system import System

        system = System()
    module, _, function = command.run.partition(".")
    code: Callable[[Arguments, System], int] = getattr(
        __import__(f"{__package__}.{module}", fromlist=(function,)), function
    )
    try:
        ready()
        return code(args, system)
    except KeyboardInterrupt:
        if module not in REPORTING:
            raise
        from .acting import how_things_stand

        raise Interrupted(
            f"interrupted: {how_things_stand(getattr(args, 'names', []), system)}"
        ) from None


def _unexpected(error: Exception) -> Refused:
    """A mistake in qvctl itself."""
    if "QVCTL_TRACE" in os.environ:
        raise error
    if isinstance(error, ModuleNotFoundError) and error.name == "yaml":
        return Refused(
            "Python's YAML parser is missing: no file of a cell can be read",
            "apt install python3-yaml",
        )
    return Refused(
        f"qvctl met something that it does not know: {type(error).__name__}: {error}",
        "QVCTL_TRACE=1 in the environment shows where; please report that",
    )


def main(
    argv: Sequence[str] | None = None,
    system: System | None = None,
    ready: Callable[[], object] = lambda: None,
) -> int:
    words = sys.argv[1:] if argv is None else argv
    json = "--json" in words
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # the terminal may support only ASCII
    try:
        status = run(words, system, ready)
    except Failed as failure:
        status = output.fail(failure, json)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        output.silence()  # the reader of the output has ended (`qvctl log | head`)
        return 0
    except Exception as error:
        status = output.fail(_unexpected(error), json)
    if status:
        output.flush_or_silence()
    return status
