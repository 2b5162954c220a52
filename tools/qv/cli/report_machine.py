# SPDX-License-Identifier: GPL-2.0-only
"""The parts of `qvctl report` that need no module: machine, files of configuration, journal."""

from __future__ import annotations

import os
from html import escape

from .. import dropin, version
from ..errors import Refused
from ..words import cpu_list, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from ..facts import Facts
    from ..system import System

LINES = 300  # of the journal: the last ones
SETTINGS = "etc/qv/qv.conf"
# messages of qvctl and systemd about QV's units, without the output of consoles
UNITS = ("--unit=qv*", "--identifier=qvctl", "--identifier=systemd", f"--lines={LINES}")


def machine(facts: Facts) -> list[tuple[str, str]]:
    """Returns the rows of the table of the machine."""
    here, module = facts.machine, facts.module_info
    models = (line.partition(": ") for line in facts.read("proc/cpuinfo").splitlines())
    model = next((value for key, _, value in models if key.strip() == "model name"), "")
    installed = version.shown(module.get("version", "?"), module.get("commit", ""))
    return [
        ("processor", model or facts.cpu_maker or "not known"),
        ("CPUs", cpu_list(sorted(here.cpus))),
        ("memory", f"{size(here.mem_total)}, of which {size(here.mem_available)} are available"),
        ("kernel", facts.release),
        ("its command line", facts.read("proc/cmdline").strip()),
        ("installed module", installed if module else "none"),
    ]


def not_loaded(refusal: Refused) -> str:
    """Returns the paragraph for the state, without a module."""
    return (
        f'<p class="fail">{escape(refusal.sentence)}. So this page has no state of QV, no cells, '
        f"no numbers and no log of the monitor.</p>\n<p>{escape(refusal.remedy)}</p>\n"
    )


def files(root: str, shown: Container[str], pre: Callable[[str], str]) -> str:
    """Returns the files of cells that are not `shown` yet, and the settings."""
    names = [name for name in dropin.names(root) if name not in shown]
    parts = []
    for path in [*(os.path.join(dropin.CELLS, f"{name}.yaml") for name in names), SETTINGS]:
        try:
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as stream:
                parts.append(f"<h3>/{escape(path)}</h3>\n{pre(stream.read())}")
        except OSError as error:
            why = (error.strerror or "error").lower()
            parts.append(f"<p>/{escape(path)} cannot be read: {escape(why)}</p>\n")
    return "".join(parts)


def _of_module(lines: Iterator[str]) -> list[str]:
    return [line for line in lines if " qv: " in line][-LINES:]


def journal(system: System, pre: Callable[[str], str]) -> str:
    """Returns the last lines of the units, and those of the module since the boot."""
    try:
        units = list(system.journal(*UNITS))
        module = _of_module(system.journal("--dmesg", "--lines=all"))
    except Refused as refusal:
        return f"<p>{escape(refusal.sentence)} ({escape(refusal.remedy)})</p>\n"
    parts = [("Units", units), ("The module, since the boot", module)]
    return "".join(
        f"<h3>{title}</h3>\n{pre(''.join(lines)) if lines else '<p>nothing</p>'}\n"
        for title, lines in parts
    )
