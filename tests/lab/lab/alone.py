# SPDX-License-Identifier: GPL-2.0-only
"""
python3 -m lab.alone xapic|x2apic KERNEL COMMAND...

Runs Quest alone on an emulated machine whose clock counts instructions. Prints the output of each
command as one JSON object.

The processor is that of the lab's AMD machines without SVM, in xAPIC or x2APIC mode.
"""
import json
import re
import sys

from . import bare as m

READY = r"(?m)^> "
# Limit of a command on a busy host. With x2APIC the emulator runs instruction by instruction.
SECONDS = 600

# With x2APIC QEMU aborts with "Bad icount read", unless it runs instruction by instruction.
MODES = {
    "xapic": ("EPYC-v4,-x2apic", "tcg"),
    "x2apic": ("EPYC-v4,+x2apic", "tcg,one-insn-per-tb=on"),
}


def ask(machine: m.Machine, line: str) -> str:
    """Returns what the shell prints between the line and its next prompt."""
    machine.send(line + "\r")
    machine.expect(re.escape(line) + "\n", SECONDS)
    start = machine.seen
    end = machine.expect(READY, SECONDS).start()
    return machine.text[start:end]


def said(mode: str, kernel: str, commands: list[str]) -> dict[str, str]:
    cpu, accel = MODES[mode]
    with m.Machine("-cpu", cpu, "-icount", "shift=0,sleep=off", "-kernel", kernel, accel=accel) as machine:
        machine.expect(READY, SECONDS)
        return {command: ask(machine, command) for command in commands}


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in MODES:
        sys.exit(__doc__)
    print(json.dumps(said(sys.argv[1], sys.argv[2], sys.argv[3:])))
