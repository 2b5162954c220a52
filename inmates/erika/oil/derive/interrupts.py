# SPDX-License-Identifier: GPL-2.0-only
"""Interrupts: their vectors, and the classes of the local APIC that order them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..check import Checked, Item
from ..model import (
    BELL_CLASS,
    HIGHEST_CLASS,
    LOWEST_CLASS,
    MOST_PINS,
    PIN_CLASS,
    TIMER_CLASS,
    Counter,
    Isr,
    Source,
)
from ..problems import Place, Problems, shown
from .system import c_word, os_values
from .timers import action

DOORBELL = "DOORBELL"
FIRST_VECTOR, LAST_VECTOR = 0x20, 0xEF
LAST_LINE = 23  # the last pin of the I/O APIC
# The last vector of each class is kept for the kernel: the system timer has that of its class.
KERNEL_S = 15
# Vectors that QV gives to the pins of a cell's devices
PINS = range(PIN_CLASS * 16, PIN_CLASS * 16 + MOST_PINS)
MOST_MESSAGES = 2048  # of a table of MSI-X
DEVICE_WORDS = ("IRQ", "PIN", "MSI", "MSIX", "BELL")
DEVICES = "MSI 8086:10D3, MSIX 8086:10D3 1, PIN 8086:10D3, IRQ 8, or BELL channel"
# Linux's doorbell of a cell. An ISR gets this vector only if its SOURCE says so.
DOORBELL_VECTOR = 0x21
# Vectors that QV gives to bells, and that the kernel does not have itself
BELLS = range(BELL_CLASS * 16 + 2, BELL_CLASS * 16 + KERNEL_S)
# All that a cell's file may give to a bell of the OIL file
BELL_VECTORS = {BELL_CLASS * 16, *BELLS}
MOST_NAME = 31  # bytes of a channel's name
VECTORS = f"a vector from {FIRST_VECTOR:#x} to {LAST_VECTOR:#x}, or DOORBELL"


@dataclass
class Placed:
    isrs: list[Isr]
    timer_class: int


def isrs(checked: Checked, counters: list[Counter], problems: Problems) -> Placed:
    """Returns the ISRs with their vectors. An ISR without a vector gets a free one, in a class by
    the rank of its priority."""
    items = list(checked.of("ISR").values())
    sources = {item.name: _device(item, problems) for item in items}
    foreign = _is_foreign(checked)
    vectors = {
        item.name: None if sources[item.name] else _given_vector(item, foreign, problems)
        for item in items
    }
    _place_pins(items, sources, vectors, problems)
    channels = list(checked.of("CHANNEL").values())
    bells = _place_bells(items, channels, sources, vectors, problems)
    ranked = [item for item in items if vectors[item.name] is None]
    ranks = _ranks(checked, ranked)
    _warn_of_one_class(ranked, ranks, problems)
    timer = _timer_class(checked, counters, ranks)
    highest_2 = max([timer] if any(counter.tick_ns for counter in counters) else [0])
    highest_2 = max(highest_2, BELL_CLASS if bells else 0)
    taken = {vector for vector in vectors.values() if vector is not None} | set(PINS)
    taken |= {DOORBELL_VECTOR} | (BELL_VECTORS if bells else set())
    found: list[Isr] = []
    for item in sorted(items, key=lambda item: -(item.values.number("CATEGORY") or 1)):
        vector = vectors[item.name]
        category = item.values.number("CATEGORY") or 1
        if vector is None:
            wanted = ranks[item.values.number("PRIORITY") or 0]
            wanted = max(wanted, highest_2 + 1) if category == 1 else wanted
            vector = _free_vector(item, min(wanted, HIGHEST_CLASS), taken, problems)
            taken.add(vector)
        level = vector // 16 if vector else LOWEST_CLASS
        highest_2 = max(highest_2, level) if category == 2 else highest_2
        found.append(_isr(item, vector, level, sources[item.name], problems))
    _check(checked, found, highest_2, problems)
    found += [_bell(checked, item, bells[item.name], problems) for item in channels]
    order = {item.name: number for number, item in enumerate([*items, *channels])}
    return Placed(sorted(found, key=lambda isr: order[isr.name]), timer)


def _isr(item: Item, vector: int, level: int, source: Source | None, problems: Problems) -> Isr:
    values = item.values
    handler = values.text("HANDLER")
    if handler:
        c_word(handler, values.place_of("HANDLER"), f"ISR {item.name}: HANDLER", problems)
    return Isr(
        item.name,
        values.number("CATEGORY") or 1,
        handler or item.name,
        vector,
        level,
        values.text("ACKNOWLEDGE") != "BEFORE",
        values.texts("RESOURCE"),
        source,
    )


def _device(item: Item, problems: Problems) -> Source | None:
    """Returns the device that SOURCE names, or None."""
    text = item.values.text("SOURCE").strip()
    word, _, rest = text.upper().partition(" ")
    place = item.values.place_of("SOURCE")
    if word == "BELL":
        return _channel(f"ISR {item.name}: SOURCE", text.partition(" ")[2].strip(), place, problems)
    if word not in DEVICE_WORDS:
        return None
    line = re.fullmatch(r"\s*([0-9]{1,3})", rest) if word == "IRQ" else None
    number = r"(?:\s+([0-9]{1,4}))?" if word == "MSIX" else "()"
    ids = (
        re.fullmatch(rf"\s*([0-9A-F]{{4}}):([0-9A-F]{{4}}){number}", rest)
        if word != "IRQ"
        else None
    )
    if not line and not ids:
        problems.error(place, f"ISR {item.name}: {shown(text)} names no device", DEVICES)
        return None
    if line and int(line[1]) > LAST_LINE:
        problems.error(
            place, f"ISR {item.name}: the I/O APIC has no pin {line[1]}", f"0 to {LAST_LINE}"
        )
    if ids and int(ids[3] or 0) >= MOST_MESSAGES:
        problems.error(
            place, f"ISR {item.name}: no device has a message {ids[3]}", f"0 to {MOST_MESSAGES - 1}"
        )
    if word == "PIN" and item.values.text("ACKNOWLEDGE") == "BEFORE":
        problems.error(
            item.values.place_of("ACKNOWLEDGE"),
            f"ISR {item.name}: a pin stays active until the handler clears its cause",
            "ACKNOWLEDGE = AFTER",
        )
    if line:
        return Source("LINE", int(line[1]))
    return Source(word, int(ids[3] or 0), int(ids[1], 16), int(ids[2], 16)) if ids else None


def _place_pins(
    items: list[Item],
    sources: dict[str, Source | None],
    vectors: dict[str, int | None],
    problems: Problems,
) -> None:
    """Gives the ISRs of pins vectors of their class. No other ISR may have one of these."""
    pins = [item for item in items if (source := sources[item.name]) and source.kind == "PIN"]
    for item in items:
        if pins and vectors[item.name] in PINS:
            problems.error(
                item.values.place_of("SOURCE"),
                f"ISR {item.name}: {vectors[item.name]:#x} may be the vector of a pin",
                f"a vector other than {PINS[0]:#x} to {PINS[-1]:#x}",
            )
    for item, vector in zip(pins, PINS):
        vectors[item.name] = vector
    for item in pins[MOST_PINS:]:
        problems.error(item.place, f"ISR {item.name}: there are more than {MOST_PINS} pins")
        vectors[item.name] = PINS[0]


def _channel(owner: str, name: str, place: Place, problems: Problems) -> Source:
    """Returns the source of the bell of a channel."""
    if not re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{MOST_NAME - 1}}}", name):
        problems.error(
            place,
            f"{owner}: {shown(name) or 'nothing'} is no name of a channel",
            f"1 to {MOST_NAME} letters, digits, `-`, `_` and `.`",
        )
    return Source("BELL", channel=name)


def _place_bells(
    items: list[Item],
    channels: list[Item],
    sources: dict[str, Source | None],
    vectors: dict[str, int | None],
    problems: Problems,
) -> dict[str, int]:
    """Returns vectors for the rows of bells, and gives them to the ISRs of bells. The cell's file
    decides which ones they have. No other ISR may have one of these."""
    of_isrs = [item for item in items if (source := sources[item.name]) and source.kind == "BELL"]
    bells = [*of_isrs, *channels]
    for item in items:
        if bells and vectors[item.name] in BELL_VECTORS:
            problems.error(
                item.values.place_of("SOURCE"),
                f"ISR {item.name}: {vectors[item.name]:#x} may be the vector of a bell",
                f"a vector other than {min(BELL_VECTORS):#x} and {BELLS[0]:#x} to {BELLS[-1]:#x}",
            )
    _check_channels(bells, sources, problems)
    for item in bells[len(BELLS) :]:
        problems.error(
            item.place, f"{item.kind} {item.name}: there are more than {len(BELLS)} bells"
        )
    placed = {item.name: BELLS[number % len(BELLS)] for number, item in enumerate(bells)}
    vectors.update({item.name: placed[item.name] for item in of_isrs})
    return placed


def _check_channels(
    bells: list[Item], sources: dict[str, Source | None], problems: Problems
) -> None:
    """Checks that each channel has one object, since its bell has one vector."""
    owners: dict[str, Item] = {}
    for item in bells:
        source = sources.get(item.name) if item.kind == "ISR" else None
        channel = source.channel if source else item.values.text("NAME") or item.name
        if channel in owners:
            other = owners[channel]
            problems.error(
                item.place,
                f"{item.kind} {item.name}: {other.kind} {other.name} has the bell of "
                f"channel {shown(channel)} already",
                "one object for each channel",
            )
        owners.setdefault(channel, item)


def _bell(checked: Checked, item: Item, vector: int, problems: Problems) -> Isr:
    """Returns the ISR of a CHANNEL."""
    owner, values = f"CHANNEL {item.name}", item.values
    name = values.text("NAME") or item.name
    source = _channel(owner, name, values.place_of("NAME"), problems)
    done = [action(owner, checked, value, problems) for value in values.many("NOTIFICATION")]
    return Isr(item.name, 2, f"os_bell_{item.name}", vector, BELL_CLASS, True, [], source, done[0])


def _is_foreign(checked: Checked) -> bool:
    """Returns whether the file is for another processor, whose numbers of interrupts are no
    vectors."""
    data = os_values(checked).many("CPU_DATA")
    return bool(data) and all(value.value != "X86_64" for value in data)


def _given_vector(item: Item, foreign: bool, problems: Problems) -> int | None:
    """Returns the vector that SOURCE gives, 0 for the doorbell, or None."""
    source = item.values.text("SOURCE").strip()
    if source.upper() == DOORBELL:
        return 0
    if foreign or not re.fullmatch(r"0[xX][0-9A-Fa-f]{1,8}|[0-9]{1,8}", source):
        if source and source.split()[0].upper() not in DEVICE_WORDS:
            problems.warn_once(
                f"SOURCE {item.name}",
                item.values.place_of("SOURCE"),
                f"ISR {item.name}: {shown(source)} is no device here, so only TriggerISR() "
                "requests it",
            )
        return None
    vector = int(source, 16 if source[:2] in ("0x", "0X") else 10)
    if vector % 16 == KERNEL_S and vector < LAST_VECTOR + 16:
        problems.error(
            item.values.place_of("SOURCE"),
            f"ISR {item.name}: {shown(source)} is a vector of the kernel",
            f"such as {vector - 1:#x}",
        )
    elif not FIRST_VECTOR <= vector <= LAST_VECTOR:
        problems.error(
            item.values.place_of("SOURCE"),
            f"ISR {item.name}: {shown(source)} is no vector for an ISR",
            VECTORS,
        )
        return None  # no second error of two such ISRs
    return vector


def _ranks(checked: Checked, items: list[Item]) -> dict[int, int]:
    """Returns the class of each priority: 2 and up, in the order of the priorities."""
    wanted = {item.values.number("PRIORITY") or 0 for item in items}
    for item in checked.of("COUNTER").values():
        found = (item.values.number("PRIORITY"), item.values.inside("TYPE").number("PRIORITY"))
        wanted |= {priority for priority in found if priority is not None}
    return {
        priority: min(LOWEST_CLASS + rank, HIGHEST_CLASS)
        for rank, priority in enumerate(sorted(wanted))
    }


def _warn_of_one_class(items: list[Item], ranks: dict[int, int], problems: Problems) -> None:
    """Warns of priorities for which no class is left. They have the highest one together."""
    shared = sorted(ranks)[HIGHEST_CLASS - LOWEST_CLASS :]
    for item in items if len(shared) > 1 else ():
        if item.values.number("PRIORITY") in shared[1:]:
            problems.warn_once(
                "one class",
                item.values.place_of("PRIORITY"),
                f"ISR {item.name}: there are {HIGHEST_CLASS - LOWEST_CLASS + 1} classes of "
                f"interrupts, so it does not preempt ISRs of PRIORITY {shared[0]}",
            )


def _timer_class(checked: Checked, counters: list[Counter], ranks: dict[int, int]) -> int:
    """Returns the class of the system timer: that of the highest PRIORITY of a hardware counter."""
    hardware = {counter.name for counter in counters if counter.tick_ns}
    given = [
        ranks[priority]
        for name, item in checked.of("COUNTER").items()
        if name in hardware
        for values in (item.values, item.values.inside("TYPE"))
        if (priority := values.number("PRIORITY")) is not None
    ]
    return max(given, default=TIMER_CLASS)


def _free_vector(item: Item, wanted: int, taken: set[int], problems: Problems) -> int:
    every = range(wanted * 16, wanted * 16 + KERNEL_S)
    # the bells of a cell's first channels, which the OIL file need not name, last
    for vector in [every[0], *reversed(every[1:])] if wanted == BELL_CLASS else every:
        if vector not in taken:
            return vector
    problems.error(
        item.place,
        f"ISR {item.name}: class {wanted} has no free vector",
        "another PRIORITY, or a SOURCE with a vector",
    )
    return wanted * 16


def _check(checked: Checked, found: list[Isr], highest_2: int, problems: Problems) -> None:
    """Checks what OSEK forbids: category 2 interrupts category 1, category 1 uses objects."""
    owners: dict[int, str] = {}
    for isr in found:
        values = checked.of("ISR")[isr.name].values
        vector = isr.vector or DOORBELL_VECTOR
        if vector in owners:
            problems.error(
                values.place_of("SOURCE"),
                f"ISR {isr.name}: {owners[vector]} has the same SOURCE",
                "a source of its own",
            )
        owners[vector] = isr.name
        if isr.category == 2:
            continue
        if isr.interrupt_class <= highest_2:
            problems.error(
                values.place_of("SOURCE"),
                f"ISR {isr.name}: category 2 could interrupt it, since its class (vector / 16) is "
                f"{isr.interrupt_class} and category 2 reaches class {highest_2}",
                f"a vector from {(highest_2 + 1) * 16:#x}"
                if highest_2 < HIGHEST_CLASS
                else "lower vectors for category 2",
            )
        for name in ("RESOURCE", "MESSAGE"):
            if values.many(name):
                problems.error(
                    values.place_of(name),
                    f"ISR {isr.name}: category 1 cannot use a {name}",
                    "CATEGORY = 2",
                )
