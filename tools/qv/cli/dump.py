# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell dump: an ELF core of a cell that has failed or was shut down."""

from __future__ import annotations

import shlex

from .. import abi, core, output, words
from .show import image_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from ..system import System
    from .command import Arguments

SCREEN, PAGE = 0xB8000, 0x1000  # QV_SCREEN_GPA: where an inmate sees its console pages
INFO = 1  # console page in whose place the inmate sees its info page, which is RAM


def _console_pages(name: str, system: System) -> dict[int, bytes]:
    """Returns the pages of the console by their guest-physical address, if it has one."""
    transcript = system.transcript(name)
    if not transcript:
        return {}
    content = transcript.pages()
    transcript.close()
    return {
        SCREEN + at: content[at : at + PAGE]
        for at in range(0, len(content), PAGE)
        if at != INFO * PAGE
    }


def dump(args: Arguments, system: System) -> int:
    device = system.device()
    device.memory(args.name, 0)  # takes the cell from the monitor, or is refused
    info: abi.CellInfo = device.info(args.name)
    path = args.file or f"{args.name}.core"
    found: list[core.Core] = []

    def fill(stream: IO[bytes]) -> None:
        found.append(
            core.write(
                stream,
                info,
                lambda at: device.memory(args.name, at),
                _console_pages(args.name, system),
            )
        )

    output.save_by(path, fill, 0o600)
    at, paging = info.failure, found[0].paging
    if args.json:
        output.as_json(
            {
                "name": args.name,
                "file": path,
                "memory": info.memory,
                "cpu": at.cpu,
                "rip": f"{at.rip:#x}",
                "paging": paging,
                "whole": found[0].whole,
            }
        )
        return 0
    image = words.text(info.image_name)
    output.line(
        f"{path} has the {words.size(info.memory)} of cell {args.name}, "
        f"and CPU {at.cpu} at {at.rip:#x}: "
        f"{shlex.join(['gdb', image_of(image, system) or image, path])}"
    )
    if not found[0].whole:
        output.line(
            "its page tables have more pages than a core has segments: "
            "it lacks some virtual addresses"
        )
    return 0
