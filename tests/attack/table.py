#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Generates Documentation/reference/attacks.md from the tables of attacks (`table.py --write`)."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "Documentation/reference/attacks.md"
sys.path.insert(0, str(HERE.parent / "lab"))  # pytest has this from pyproject.toml
sys.dont_write_bytecode = True

FAMILIES = {
    "memory": "Memory outside the cell", "channels": "Channels", "keys": "Channels at run time", "outsider": "A third cell and channels of two others", "msr": "Model-specific registers", "instructions": "Instructions, control registers, storms",
    "interrupts": "Interrupts", "ports": "I/O ports", "shared": "What Linux reads of a cell", "floods": "Floods",
    "second": "Cells with two CPUs", "direct": "Direct IPIs",
}
HEAD = """\
<!-- SPDX-License-Identifier: GPL-2.0-only -->
<!-- Made by tests/attack/table.py --write
     from tests/attack/rows/*.h and tests/attack/front/*.py -->
# The attacks

`make attack` runs all of them on an AMD machine with xAPIC. It repeats those for which it matters
on an AMD machine with x2APIC and on an Intel machine: of attacks that differ only in a number the
first, and a part of the attacks of Linux (`--thorough`: all). Attacks by interrupts and on the APIC
are repeated with cells in x2APIC mode under a Linux in xAPIC mode (*mixed*; there each touch of the
APIC's page must end the cell). Attacks marked *direct*, and some others, run in a cell with
[direct IPIs](../explanation/security-model.md#direct-ipis), or under a Linux that has them. An
attack that names a vendor is tried there only. Each runs next to a *witness* cell that beats every
millisecond and a program of Linux that does the same. After each attack, whatever its own outcome:
both continue to beat, Linux's memory and the MSRs of its CPUs are as before, its kernel has not
complained, and Linux can take the attacker's CPU back. The last line says how many attacks were run
and contained; `build/attacks.json` has the outcome of each.

    tests/lab/qvlab test tests/attack -k msr-hsave-write      # one row
    tests/lab/qvlab test tests/attack -k "port- and xapic"    # a family, on one machine
    tests/lab/qvlab test tests/attack -k intel                # all that is tried on Intel's

By hand: a cell with `image: attack.elf` (`make -C tests/attack/inmate`) and `cmdline: NAME` runs
that attack, and prints its outcome on its screen and in its stream: `quesh CELL --dump`.

| expected | meaning |
|---|---|
| **failed** | the monitor stops the cell, with this reason (and address) in its record |
| **fault** | the inmate gets this exception as on a machine without QV, and continues |
| **harmless** | the cell continues and nothing has changed |
| **stopped** | the attack does not end by itself, and Linux ends it by force |
| several of them | the processor or the machine decides |
"""
RACES = """\
## Races

In `tests/attack/test_races.py` two CPUs of a hostile Linux race (module
`tests/lab/modules/qvrace`), next to a cell that must not be disturbed. One CPU, the runner,
creates, starts, stops and destroys cells in sequence, by hypercalls of its own. Another CPU, the
kicker, acts at random moments meanwhile:

| Act | What must happen |
|---|---|
| INIT, SIPI, NMI, fixed and other interrupts to APIC ids outside running Linux, physical and logical | dropped while the CPU belongs to a cell, or is caught: it never executes Linux's code |
| stores to a cell's memory and block, once, or repeatedly by a translation that the CPU keeps | dropped while they belong to the cell |
| loads from them and from the manager's block | ones, or data that Linux wrote itself |
| a word of the request changes while the monitor reads it | the request as checked is carried out, or refused |
| the cell's channel with Linux: stores anywhere in its 2 MiB, and the call that gives it back, at any time | dropped or #GP, except in the section of Linux; refused while the cell uses it |
| calls: doorbells, locks, numbers and instances that do not exist, bad requests | refused, or without effect |
| in one life of four also START, STOP, RECLAIM of the runner's cell, and a second cell of the same CPUs and memory | an answer of each; all can be given back |

During the race the cell finds its memory as it wrote it, and beats. Afterwards its memory and block
are zeros except where the kicker wrote, and Linux starts each CPU by INIT and SIPI. The monitor's
log has only denials and the messages of the cells' lives. In a second test the driver manages a
cell under the same kicks. `make check` does over 10^3 kicks; `--thorough` does 10^5 with xAPIC,
with x2APIC and on Intel processors. The seed is printed, and `QV_SEED=N` in the environment repeats
it (the CPUs run freely, so not each step).

    tests/lab/qvlab test tests/attack/test_races.py -s
    tests/lab/qvlab test tests/attack/test_races.py --machine intel --thorough -s

`test_forged_block_is_not_read`: a CPU of Linux disappears before a cell is destroyed, so it does
not answer a flush. The cell's memory, block and CPUs come back, and data that Linux then writes
into the block is not read.
"""
NAMES = {"amd": "AMD", "intel": "Intel"}
OPEN_NOTE = "*open: recorded, not asserted*"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def expected(row: "rows.Row") -> str:
    """Returns the expected outcome in words, for each vendor if they differ."""
    import rows

    there = {vendor: " or ".join(row.there(vendor)) for vendor in rows.VENDORS if not row.flags & set(rows.VENDORS) - {vendor}}
    words = [f"{NAMES[vendor]}: {what}" for vendor, what in there.items()] if len(set(there.values())) > 1 else [*there.values()][:1]
    return "; ".join(words) + (f"; {OPEN_NOTE}" if row.open else "")


def inmates() -> list[str]:
    import rows

    lines = ["## From inside a cell", ""]
    for family, title in FAMILIES.items():
        lines += [f"### {title}", "", "| Attack | What it does | What must happen |", "|---|---|---|"]
        for row in rows.every():
            if row.family != family:
                continue
            flags = row.flags & {*rows.VENDORS, "xapic", "x2apic", "direct", "smp"}
            where = " ".join(NAMES.get(flag, flag) for flag in sorted(flags))
            lines.append(f"| `{row.name}`{f' ({where})' if where else ''} | {cell(row.what)} | {cell(expected(row))} |")
        lines.append("")
    return lines


def front() -> list[str]:
    from front import ROWS

    lines = ["## From Linux", "", "| Attack | What it does | What must happen |", "|---|---|---|"]
    for row in ROWS:
        where = f" ({NAMES.get(row.where, row.where)})" if row.where else ""
        expected = row.expected + (f"; *open: {row.open}*" if row.open else "")
        lines.append(f"| `{row.name}`{where} | {cell(row.what)} | {cell(expected)} |")
    return lines


def known() -> list[str]:
    import answers

    lines: list[str] = []
    for title, table in (("The list A1-A20", answers.ATTACKS), ("The 22 leaks of the field", answers.LEAKS)):
        lines += ["", f"## {title}", "", "| What | Where it is tried |", "|---|---|"]
        lines += [f"| {what} | {', '.join(a if a.startswith(answers.OPEN) else f'`{a}`' for a in named)} |"
                  for what, named in table.items()]
    return lines


def page() -> str:
    return "\n".join([HEAD, *inmates(), *front(), "", RACES.rstrip("\n"), *known()]) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page())
    else:
        print(page(), end="")
