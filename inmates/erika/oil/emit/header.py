# SPDX-License-Identifier: GPL-2.0-only
"""os_config.h: the identifiers of objects, for the application."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import DEFAULT_TICK_NS, Application, Counter
from ..names import DEFAULT_MODE
from .text import head

MOST_INT, MOST_UNSIGNED = 0x7FFFFFFF, 0xFFFFFFFF
UNITS = (("NS", 1), ("US", 1_000), ("MS", 1_000_000), ("SEC", 1_000_000_000))


def text(application: Application, origin: str) -> str:
    return "".join(
        (
            head(origin),
            "#ifndef OS_CONFIG_H\n#define OS_CONFIG_H\n",
            *_parts(application),
            "\n#endif\n",
        )
    )


def _parts(application: Application) -> Iterator[str]:
    yield _enum("Tasks", _numbered(task.name for task in application.tasks))
    yield _enum("Interrupts", _numbered(isr.name for isr in application.isrs))
    yield _enum(
        "Resources; 0 is RES_SCHEDULER", _numbered((r.name for r in application.resources[1:]), 1)
    )
    if application.extended_status:  # in standard status, the compiler finds what no service checks
        yield _enum(
            "Internal resources; GetResource() of one is E_OS_ID",
            _numbered(application.internal, len(application.resources)),
        )
    for name, mask in application.events.items():
        # `-pedantic` refuses enumerators wider than int, unless __extension__ precedes them
        wide = "__extension__ " if mask > MOST_INT else ""
        items = [f"{name} = {mask:#x}ull"]
        if MOST_INT < mask <= MOST_UNSIGNED:
            # else the type would have 32 bits and no sign, and ~name no event above them
            items.append(f"os_wide_{name} = ~0ull")
        yield _enum(f"Event {name}", items, wide)
    yield _enum("Counters", _numbered(counter.name for counter in application.counters))
    yield _enum("Alarms", _numbered(alarm.name for alarm in application.alarms))
    yield _enum("Schedule tables", _numbered(table.name for table in application.tables))
    yield _enum("Messages", _numbered(message.name for message in application.messages))
    modes = [
        f"{name} = {number}"
        for number, name in enumerate(application.modes)
        if name != DEFAULT_MODE
    ]
    yield _enum("Application modes; 0 is OSDEFAULTAPPMODE", modes)
    yield _enum("Application modes of COM", _numbered(application.com_modes))
    for counter in application.counters:
        yield _counter(counter)
    yield _system_counter(application.counters)
    yield _flags(application)


def _numbered(names: Iterable[str], first: int = 0) -> list[str]:
    return [f"{name} = {number}" for number, name in enumerate(names, first)]


def _enum(title: str, items: list[str], before: str = "") -> str:
    """Returns an enumeration. Each kind has its own, so that a wide event widens no other."""
    if not items:
        return ""
    return (
        f"\n/* {title} */\n{before}enum {{\n" + "".join(f"\t{item},\n" for item in items) + "};\n"
    )


def _counter(counter: Counter) -> str:
    lines = [
        f"#define OSMAXALLOWEDVALUE_{counter.name}\t{counter.most}u",
        f"#define OSTICKSPERBASE_{counter.name}\t{counter.base}u",
        f"#define OSMINCYCLE_{counter.name}\t{counter.least_cycle}u",
    ]
    if counter.tick_ns:
        lines += [
            f"#define OS_TICKS2{unit}_{counter.name}(ticks)\t"
            f"((PhysicalTimeType)(ticks) * {counter.tick_ns}ull / {ns}u)"
            for unit, ns in UNITS
        ]
    return f"\n/* Counter {counter.name} */\n" + "".join(f"{line}\n" for line in lines)


def _system_counter(counters: list[Counter]) -> str:
    """Returns the constants of the system counter: the first on the system timer. They always
    exist, as the standard says."""
    found = next((counter for counter in counters if counter.tick_ns), None)
    if found is None:
        return (
            "\n/* No counter is on the system timer: as if one were, with a tick of 1 ms */\n"
            f"#define OSMAXALLOWEDVALUE\t{MOST_UNSIGNED}u\n#define OSTICKSPERBASE\t\t1u\n"
            f"#define OSMINCYCLE\t\t1u\n#define OSTICKDURATION\t\t{DEFAULT_TICK_NS}u\n"
        )
    return (
        "\n/* The system counter; OSTICKDURATION is in ns */\n"
        f"#define OSMAXALLOWEDVALUE\tOSMAXALLOWEDVALUE_{found.name}\n"
        f"#define OSTICKSPERBASE\t\tOSTICKSPERBASE_{found.name}\n"
        f"#define OSMINCYCLE\t\tOSMINCYCLE_{found.name}\n"
        f"#define OSTICKDURATION\t\t{found.tick_ns}u\n"
    )


def _flags(application: Application) -> str:
    lines = ""
    for message in application.messages:
        if message.notify and message.notify.kind == "flag":
            name = message.notify.target
            lines += (
                f"#define ReadFlag_{name}()\tos_com_flag({message.name})\n"
                f"#define ResetFlag_{name}()\tos_com_reset_flag({message.name})\n"
            )
    return f"\n/* Flags of messages */\n{lines}" if lines else ""
