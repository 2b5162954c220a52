# SPDX-License-Identifier: GPL-2.0-only
"""Messages of OSEK COM 3.0.3: internal communication."""

from __future__ import annotations

from ..check import Checked, Item, Value, Values
from ..model import Filter, Message
from ..problems import Problems, shown
from .timers import action

SENDERS = ("SEND_STATIC_INTERNAL", "SEND_ZERO_INTERNAL")
KINDS = {
    "SEND_STATIC_INTERNAL": "SEND",
    "SEND_ZERO_INTERNAL": "SEND",
    "RECEIVE_ZERO_INTERNAL": "UNQUEUED",
    "RECEIVE_UNQUEUED_INTERNAL": "UNQUEUED",
    "RECEIVE_QUEUED_INTERNAL": "QUEUED",
    "RECEIVE_ZERO_SENDERS": "UNQUEUED"
}
# Types of whole numbers, and whether they have a sign
INTEGERS = {
    name: False
    for name in ("unsigned char", "unsigned short", "unsigned int", "unsigned long", "unsigned",
                 "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint8", "uint16", "uint32",
                 "uint64", "u8", "u16", "u32", "u64", "boolean", "EE_UINT8", "EE_UINT16",
                 "EE_UINT32", "TaskType", "TickType", "AlarmType", "StatusType")
}
INTEGERS.update((name, True)
                for name in ("char", "signed char", "short", "int", "long", "int8_t", "int16_t",
                             "int32_t", "int64_t", "sint8", "sint16", "sint32", "sint64", "s8",
                             "s16", "s32", "s64", "EE_INT8", "EE_INT16", "EE_INT32"))
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
    "char": "char"
}
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


def _type(checked: Checked, item: Item, problems: Problems) -> str:
    """Returns the type in C of a message: its own, or that of its sender; empty if it has none."""
    inside = item.values.inside("MESSAGEPROPERTY")
    sender = inside.get("SENDINGMESSAGE")
    owner = item
    if sender:
        owner = checked.of("MESSAGE").get(str(sender.value), item)
        wanted = "SEND_ZERO_INTERNAL" if _property(
            item) == "RECEIVE_ZERO_INTERNAL" else "SEND_STATIC_INTERNAL"
        if _property(owner) != wanted and owner is not item:
            problems.error(sender.place, f"MESSAGE {item.name}: {owner.name} is no {wanted}",
                           "a message that is sent")
    return " ".join(owner.values.inside("MESSAGEPROPERTY").text("CDATATYPE").split())


def _message(checked: Checked, item: Item, problems: Problems) -> Message:
    inside, kind = item.values.inside("MESSAGEPROPERTY"), _property(item)
    ctype = _type(checked, item, problems)
    _check_type(item, ctype, problems)
    found = Message(item.name,
                    KINDS.get(kind, "SEND"),
                    MEANINGS.get(ctype, ctype),
                    INTEGERS.get(ctype),
                    length=inside.number("QUEUESIZE") or 0,
                    initial=inside.number("INITIALVALUE") or 0)
    if found.initial and found.signed is None:
        problems.error(
            inside.place_of("INITIALVALUE"),
            f"MESSAGE {item.name}: {shown(ctype)} is no type of whole numbers, so it begins with "
            "zeros",
            "INITIALVALUE = 0")
    if inside.get("FILTER"):
        found.filter = _filter(item, inside, found, problems)
    wanted = item.values.get("NOTIFICATION")
    if wanted and wanted.value != "NONE":
        found.notify = action(f"MESSAGE {item.name}", checked, wanted, problems)
        _check_notified(item, wanted, kind, problems)
    return found


def _check_type(item: Item, ctype: str, problems: Problems) -> None:
    inside = item.values.inside("MESSAGEPROPERTY")
    plain = all(c.isascii() and (c.isalnum() or c in " _*") for c in ctype)
    if inside.get("CDATATYPE") and (not ctype or not plain):
        problems.error(inside.place_of("CDATATYPE"),
                       f"MESSAGE {item.name}: {shown(ctype) or 'an empty string'} is no type in C",
                       'such as "uint32_t" or "struct speed"')


def _filter(item: Item, inside: Values, message: Message, problems: Problems) -> Filter:
    kind, numbers = inside.text("FILTER"), inside.inside("FILTER")
    if kind not in FREE_FILTERS and message.signed is None:
        problems.error(
            inside.place_of("FILTER"),
            f"MESSAGE {item.name}: the filter {kind} compares whole numbers, and "
            f"{shown(message.ctype) or 'no data'} is none", " or ".join(FREE_FILTERS))
    names = {
        "MASK": "mask",
        "X": "x",
        "MIN": "min",
        "MAX": "max",
        "PERIOD": "period",
        "OFFSET": "offset"
    }
    found = Filter(kind, {
        field: number
        for name, field in names.items() if (number := numbers.number(name)) is not None
    })
    if found.numbers.get("min", 0) > found.numbers.get("max", 0):
        problems.error(numbers.place_of("MIN"), f"MESSAGE {item.name}: MIN is larger than MAX")
    return found


def _check_notified(item: Item, wanted: Value, kind: str, problems: Problems) -> None:
    if kind in SENDERS:
        problems.error(wanted.place,
                       f"MESSAGE {item.name}: only a received message has a NOTIFICATION", "NONE")
    if wanted.value == "FLAG" and kind == "RECEIVE_QUEUED_INTERNAL":
        problems.error(wanted.place, f"MESSAGE {item.name}: a queued message has no FLAG",
                       "ACTIVATETASK, SETEVENT or COMCALLBACK")


def _check_flags(items: dict[str, Item], problems: Problems) -> None:
    owners: dict[str, str] = {}
    for name, item in items.items():
        inside = item.values.inside("NOTIFICATION")
        flag = inside.text("FLAGNAME")
        if flag and flag in owners:
            problems.error(inside.place_of("FLAGNAME"),
                           f"MESSAGE {name}: {owners[flag]} has the flag {flag} already")
        owners.setdefault(flag, name)
