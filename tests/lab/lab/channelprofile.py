# SPDX-License-Identifier: GPL-2.0-only
"""Says in which parts of the library the instructions of an item are: programs/chansteps.c steps
through one item, and the compiler's line tables name the function of each instruction."""

import re
from collections import Counter

from . import channelbench, enter, roots
from .errors import LabError

MEMCPY = re.compile(r"__mem\w+|\?\?")  # of the C library: another function on each processor, behind a jump
# The functions of each part. The first part counts that has one of an instruction's functions: an
# inlined function is a part of its callers.
PARTS: dict[str, set[str]] = {
    "the copy": {"shared_copy_in", "shared_copy_out", "memcpy"},
    "the life word of the other end": {"end_life", "ring_writer_peer"},
    "whether to ring": {"ring_after", "qv_end_rings"},
    "counts: is there room, or an item": {"ring_claim", "ring_find", "ring_reload", "shm_wait", "shm_wake"},
    "the words of the slot, and the new count": {"ring_write", "ring_read", "shm_send", "shm_receive"},
    "checks of the call and its end": {"qv_end_write", "qv_end_read", "check_and_read"},
    "libqv: does the channel exist, has it to wait": {"qv_write", "qv_read"},
    "the benchmark's loop": {"channel_send", "channel_receive", "pass_items", "mark"},
}
WAYS = {"shared-memory-polled": "shared memory", "ring-polled": "ring", "ring-bell": "ring with bells"}
STEP = re.compile(r"(?m)^(\d+) (send|receive) 0x([0-9a-f]+)$")


def part(functions: list[str]) -> str:
    """Returns the part of an instruction, whose functions are named from the innermost on."""
    of = {"memcpy" if MEMCPY.fullmatch(function) else function for function in functions}
    for name, members in PARTS.items():
        if members & of:
            return name
    raise LabError(f"the instructions of {' in '.join(functions)} belong to no part", "add it to PARTS")


def functions_of(listed: str) -> dict[int, list[str]]:
    """Reads the output of `addr2line -a -f -i`: an address, then two lines for each function."""
    found: dict[int, list[str]] = {}
    of: list[str] = []
    lines = iter(listed.splitlines())
    for line in lines:
        if line.startswith("0x"):
            of = found.setdefault(int(line, 16), [])
        else:
            of.append(line)
            next(lines)
    return found


def profile() -> dict[tuple[str, str, str], Counter[str]]:
    """Returns the instructions in each part by way, size and `send` or `receive`."""
    root, program = roots.ensure("tool"), channelbench.compiled("chansteps", "-g")
    found: dict[tuple[str, str, str], Counter[str]] = {}
    for way in WAYS:
        done = enter.run(root, [str(program), way])
        if done.returncode:
            raise LabError(f"chansteps ended with status {done.returncode}:\n{done.stdout}", "see what it says")
        steps = [(size, what, int(at, 16)) for size, what, at in STEP.findall(done.stdout)]
        listed = enter.run(root, ["addr2line", "-a", "-f", "-i", "-e", str(program),
                                  *(hex(at) for at in sorted({at for _, _, at in steps}))])
        functions = functions_of(listed.stdout)
        for size, what, at in steps:
            found.setdefault((way, size, what), Counter())[part(functions[at])] += 1
    return found


def rows(found: dict[tuple[str, str, str], Counter[str]]) -> list[tuple[str, ...]]:
    """Rows by part: the instructions to send and to receive an item of 64 bytes, by way. With 4096
    bytes only the copy differs, which has a row of its own."""
    columns = [(way, what) for way in WAYS for what in ("send", "receive")]
    lines = [(name, *(str(found[way, "64", what][name] or "-") for way, what in columns))
             for name in PARTS]
    copy = next(iter(PARTS))
    return [*lines, ("all", *(str(sum(found[way, "64", what].values())) for way, what in columns)),
            (f"{copy} of 4096 bytes", *(str(found[way, "4096", what][copy]) for way, what in columns))]


def labels() -> list[str]:
    return [f"{label}: {what}" for label in WAYS.values() for what in ("SEND", "RECEIVE")]
