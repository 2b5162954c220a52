# SPDX-License-Identifier: GPL-2.0-only
"""Reads the attacks of a cell from the headers under rows/, which the inmate includes."""

import re
from fnmatch import fnmatchcase
from dataclasses import dataclass
from pathlib import Path

ROWS = Path(__file__).resolve().parent / "rows"
BEGIN = re.compile(r"^ATTACK\(", re.MULTILINE)
ROW = re.compile(r'ATTACK\("(?P<name>[a-z0-9-]+)", (?P<function>\w+), (?P<a>\w+), (?P<b>\w+),\s+'
                 r'"(?P<expected>[^"]+)", "(?P<flags>[^"]*)",\s+"(?P<what>[^"]+)"\)$', re.MULTILINE)
VENDORS = ("amd", "intel")
FLAGS = {*VENDORS, "xapic", "x2apic", "direct", "smp", "quesh", "shutdown", "watchdog", "fresh", "channel", "outsider", "open",
         "kills"}
# The outcome of these families may depend on the APIC mode. The other families run in one mode
# only, except for rows with the flag x2apic.
BOTH = {"msr", "interrupts", "floods", "second"}
# The attacks of a cell in x2APIC mode while Linux is in xAPIC mode, besides those with the flag
# x2apic. In that mode the cell has no APIC page.
MIXED = ("icr-*", "lvt-*", "smp-*", "xapic-*")
NO_PAGE = ("failed:memory",)
# Attacks that show what still holds with direct IPIs, besides those with the flag direct
DIRECT = ("mem-read-ioapic", "mem-write-msi", "mem-write-1g", "msr-apic-base-*", "ins-call-*",
          "port-pci-*")
VECTORS = {0: "de", 1: "db", 2: "nmi", 3: "bp", 6: "ud", 7: "nm", 8: "df", 10: "ts", 11: "np", 12: "ss", 13: "gp",
           14: "pf", 16: "mf", 17: "ac", 18: "mc", 19: "xf"}


@dataclass(frozen=True)
class Row:
    """One attack; rows/all.h describes the fields."""

    name: str
    family: str
    expected: tuple[str, ...]
    flags: frozenset[str]
    what: str
    function: str = ""

    @property
    def open(self) -> bool:
        return bool(self.flags & {"open", "kills"})

    def on(self, vendor: str, x2apic: bool, mixed: bool = False, direct: bool = False) -> bool:
        """Whether this attack is run on such a machine."""
        if self.flags & set(VENDORS) - {vendor}:
            return False
        if direct or "direct" in self.flags:
            also = any(fnmatchcase(self.name, name) for name in DIRECT)
            return direct and ("direct" in self.flags or also)
        if mixed:
            return "x2apic" in self.flags or any(fnmatchcase(self.name, name) for name in MIXED)
        if x2apic and vendor == VENDORS[0]:
            return "x2apic" in self.flags or (self.family in BOTH and "xapic" not in self.flags)
        return "x2apic" not in self.flags

    def there(self, vendor: str, mixed: bool = False) -> list[str]:
        """Returns the outcomes expected on a vendor's machine, without the prefix amd: or intel:."""
        if mixed and "xapic" in self.flags:
            return [*NO_PAGE]
        found = [(e.partition(":") if e.startswith(tuple(f"{v}:" for v in VENDORS)) else ("", "", e)) for e in self.expected]
        return [outcome for whose, _, outcome in found if whose in ("", vendor)]

    def met(self, outcome: str, vendor: str, mixed: bool = False) -> bool:
        """Whether an outcome such as "failed:memory@0x400000" is among the expected outcomes."""
        return any(outcome == e or outcome.startswith(e + "@") for e in self.there(vendor, mixed))


def family(file: Path) -> list[Row]:
    rows = []
    text = file.read_text()
    for begin in BEGIN.finditer(text):
        number = text.count("\n", 0, begin.start()) + 1
        found = ROW.match(text, begin.start())
        if not found:
            raise ValueError(f"{file.name}:{number}: not a row: {text.splitlines()[number - 1]}")
        flags = frozenset(found["flags"].split())
        if not flags <= FLAGS:
            raise ValueError(f"{file.name}:{number}: no such flag: {sorted(flags - FLAGS)}")
        rows.append(Row(found["name"], file.stem, tuple(found["expected"].split("|")), flags, found["what"],
                        found["function"]))
    return rows


def every() -> list[Row]:
    """Returns all rows in the order of rows/all.h. Each name may appear once."""
    names = re.findall(r'^#include "(\w+\.h)"', (ROWS / "all.h").read_text(), re.MULTILINE)
    rows = [row for name in names for row in family(ROWS / name)]
    twice = {row.name for row in rows if sum(r.name == row.name for r in rows) > 1}
    if twice:
        raise ValueError(f"named twice: {sorted(twice)}")
    return rows


def outcome(result: dict) -> str:
    """Returns the outcome in the words of the attack table."""
    kind = result["outcome"]
    if kind == "failed":
        failure = result["failure"]
        return f"failed:{failure['reason']}@{failure['address']}"
    if kind == "fault":
        vector = int(result["detail"].split()[0])
        return f"fault:{VECTORS.get(vector, vector)}"
    return {"survived": "harmless", "silent": "stopped"}.get(kind, kind)
