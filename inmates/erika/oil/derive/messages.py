# SPDX-License-Identifier: GPL-2.0-only
"""Messages of OSEK COM 3.0.3: internal communication."""

from __future__ import annotations

import re

from ..check import Checked, Item, Value, Values
from ..model import Filter, Message
from ..problems import Place, Problems, shown
from .timers import action

SENDERS = ("SEND_STATIC_INTERNAL", "SEND_ZERO_INTERNAL")
KINDS = {
    "SEND_STATIC_INTERNAL": "SEND",
    "SEND_ZERO_INTERNAL": "SEND",
    "RECEIVE_ZERO_INTERNAL": "UNQUEUED",
    "RECEIVE_UNQUEUED_INTERNAL": "UNQUEUED",
    "RECEIVE_QUEUED_INTERNAL": "QUEUED",
    "RECEIVE_ZERO_SENDERS": "UNQUEUED",
}
# Types of whole numbers: their bits
UNSIGNED = {
    "unsigned char": 8,
    "unsigned short": 16,
    "unsigned int": 32,
    "unsigned long": 64,
    "unsigned": 32,
    "uint8_t": 8,
    "uint16_t": 16,
    "uint32_t": 32,
    "uint64_t": 64,
    "uint8": 8,
    "uint16": 16,
    "uint32": 32,
    "uint64": 64,
    "u8": 8,
    "u16": 16,
    "u32": 32,
    "u64": 64,
    "boolean": 8,
    "EE_UINT8": 8,
    "EE_UINT16": 16,
    "EE_UINT32": 32,
    "TaskType": 32,
    "TickType": 32,
    "AlarmType": 32,
    "StatusType": 8,
}
SIGNED = {
    "char": 8,
    "signed char": 8,
    "short": 16,
    "int": 32,
    "long": 64,
    "int8_t": 8,
    "int16_t": 16,
    "int32_t": 32,
    "int64_t": 64,
    "sint8": 8,
    "sint16": 16,
    "sint32": 32,
    "sint64": 64,
    "s8": 8,
    "s16": 16,
    "s32": 32,
    "s64": 64,
    "EE_INT8": 8,
    "EE_INT16": 16,
    "EE_INT32": 32,
}
# The meaning of such a name, if neither C nor the kernel defines it
MEANINGS = {
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "boolean": "uint8_t",
    "float32": "float",
    "float64": "double",
    "sint8": "int8_t",
    "sint16": "int16_t",
    "sint32": "int32_t",
    "sint64": "int64_t",
    "s8": "int8_t",
    "s16": "int16_t",
    "s32": "int32_t",
    "s64": "int64_t",
    "EE_UINT8": "uint8_t",
    "EE_UINT16": "uint16_t",
    "EE_UINT32": "uint32_t",
    "EE_INT8": "int8_t",
    "EE_INT16": "int16_t",
    "EE_INT32": "int32_t",
    "char": "char",
}
# The name of a type, or a struct or union without a name
TYPE = re.compile(r"[\w *]+|(struct|union) ?\{[\w *;,\[\]]+\}", re.ASCII)
FREE_FILTERS = ("ALWAYS", "NEVER", "ONEEVERYN")


def messages(checked: Checked, problems: Problems) -> list[Message]:
    items = checked.of("MESSAGE")
    found = [_message(checked, item, problems) for item in items.values()]
    by_name = {message.name: message for message in found}
    for name, item in items.items():
        sender = item.values.inside("MESSAGEPROPERTY").text("SENDINGMESSAGE")
        if sender in by_name:
            by_name[sender].receivers.append(name)
    _check_flags(items, problems)
    return found


def _property(item: Item) -> str:
    return item.values.text("MESSAGEPROPERTY")


def _type(checked: Checked, item: Item, problems: Problems) -> tuple[str, Place]:
    """Returns the type in C of a message, which is its own or that of its sender, and its place.
    It is empty if the message has none."""
    inside = item.values.inside("MESSAGEPROPERTY")
    sender = inside.get("SENDINGMESSAGE")
    owner = item
    if sender:
        owner = checked.of("MESSAGE").get(str(sender.value), item)
        wanted = (
            "SEND_ZERO_INTERNAL"
            if _property(item) == "RECEIVE_ZERO_INTERNAL"
            else "SEND_STATIC_INTERNAL"
        )
        if _property(owner) != wanted and owner.name == sender.value:
            problems.error(
                sender.place,
                f"MESSAGE {item.name}: {owner.name} is no {wanted}",
                "a message that is sent",
            )
    inside = owner.values.inside("MESSAGEPROPERTY")
    return " ".join(inside.text("CDATATYPE").split()), inside.place_of("CDATATYPE")


def _message(checked: Checked, item: Item, problems: Problems) -> Message:
    inside, kind = item.values.inside("MESSAGEPROPERTY"), _property(item)
    ctype, place = _type(checked, item, problems)
    _check_type(item, ctype, problems)
    found = Message(
        item.name,
        KINDS.get(kind, "SEND"),
        MEANINGS.get(ctype, ctype),
        ctype in SIGNED if ctype in SIGNED or ctype in UNSIGNED else None,
        SIGNED.get(ctype) or UNSIGNED.get(ctype) or 0,
        length=inside.number("QUEUESIZE") or 0,
        place=place,
    )
    found.initial = _number(item, inside, "INITIALVALUE", found, problems)
    if found.initial and found.signed is None:
        problems.error(
            inside.place_of("INITIALVALUE"),
            f"MESSAGE {item.name}: {shown(ctype)} is no type of whole numbers, so it begins with "
            "zeros",
            "INITIALVALUE = 0",
        )
    if inside.get("FILTER"):
        found.filter = _filter(item, inside, found, problems)
    wanted = item.values.get("NOTIFICATION")
    if wanted and wanted.value != "NONE":
        found.notify = action(f"MESSAGE {item.name}", checked, wanted, problems)
        _check_notified(item, wanted, kind, problems)
    return found


def _number(item: Item, values: Values, name: str, message: Message, problems: Problems) -> int:
    """Returns a number as the message's type has it. A signed type takes a number below 0, and its
    bits as a number without sign. A limit of a filter may be larger than an unsigned type."""
    number, bits = values.number(name) or 0, message.bits
    if not bits:
        return number
    if message.signed and number >= 2**63:
        number -= 2**64
    low = -(2 ** (bits - 1)) if message.signed else 0
    if number < low or number >= 2**bits and (message.signed or name == "INITIALVALUE"):
        most = 2 ** (bits - 1 if message.signed else bits) - 1
        problems.error(
            values.place_of(name),
            f"MESSAGE {item.name}: {name} = {number} does not fit into {message.ctype}",
            f"{low} to {most}",
        )
    return number - 2**bits if message.signed and number >= 2 ** (bits - 1) else number


def _check_type(item: Item, ctype: str, problems: Problems) -> None:
    inside = item.values.inside("MESSAGEPROPERTY")
    if inside.get("CDATATYPE") and not TYPE.fullmatch(ctype):
        problems.error(
            inside.place_of("CDATATYPE"),
            f"MESSAGE {item.name}: {shown(ctype) or 'an empty string'} is no type in C",
            'such as "uint32_t" or "struct speed"',
        )


def _filter(item: Item, inside: Values, message: Message, problems: Problems) -> Filter:
    kind, numbers = inside.text("FILTER"), inside.inside("FILTER")
    if kind not in FREE_FILTERS and message.signed is None:
        problems.error(
            inside.place_of("FILTER"),
            f"MESSAGE {item.name}: the filter {kind} compares whole numbers, and "
            f"{shown(message.ctype) or 'no data'} is none",
            " or ".join(FREE_FILTERS),
        )
    found = Filter(
        kind,
        {
            field: number
            for field in ("mask", "x", "period", "offset")
            if (number := numbers.number(field.upper())) is not None
        },
    )
    if numbers.get("MIN"):
        low, high = (_number(item, numbers, name, message, problems) for name in ("MIN", "MAX"))
        found.numbers |= {"min": low, "max": high}
        if low > high:
            problems.error(numbers.place_of("MIN"), f"MESSAGE {item.name}: MIN is larger than MAX")
    period = found.numbers.get("period")
    if period and found.numbers.get("offset", 0) >= period:
        problems.error(
            numbers.place_of("OFFSET"),
            f"MESSAGE {item.name}: no value ever has this OFFSET in a PERIOD of {period}",
            f"0 to {period - 1}",
        )
    return found


def _check_notified(item: Item, wanted: Value, kind: str, problems: Problems) -> None:
    if kind in SENDERS:
        problems.error(
            wanted.place, f"MESSAGE {item.name}: only a received message has a NOTIFICATION", "NONE"
        )


def _check_flags(items: dict[str, Item], problems: Problems) -> None:
    owners: dict[str, str] = {}
    for name, item in items.items():
        inside = item.values.inside("NOTIFICATION")
        flag = inside.text("FLAGNAME")
        if flag and flag in owners:
            problems.error(
                inside.place_of("FLAGNAME"),
                f"MESSAGE {name}: {owners[flag]} has the flag {flag} already",
            )
        owners.setdefault(flag, name)
