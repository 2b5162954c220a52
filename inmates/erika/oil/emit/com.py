# SPDX-License-Identifier: GPL-2.0-only
"""Tables of messages."""

from __future__ import annotations

from ..model import Application, Filter, Message
from .text import action, count, of_user, ram, row, string, table

WIDE = ("mask", "x", "min", "max")


def messages(application: Application) -> str:
    found = application.messages
    data = "".join(_data(message) for message in found)
    rows = [_row(message) for message in found]
    hook = "COMErrorHook" if application.hooks.com_error else "NULL"
    start = "StartCOMExtension" if application.hooks.com_start else "NULL"
    return (
        data
        + table("struct os_message_conf", "os_message_conf", rows)
        + ram("struct os_message", "os_messages", len(rows))
        + count("os_num_messages", len(rows))
        + f"void (*const os_com_error_hook)(StatusType error) = {hook};\n"
        + f"StatusType (*const os_com_extension)(void) = {start};\n"
        + count("os_num_com_modes", max(len(application.com_modes), 1))
        + f"const bool os_com_extended = {'true' if application.com_extended else 'false'};\n"
    )


def _items(message: Message) -> int:
    return message.length or 1


def _data(message: Message) -> str:
    """Returns what a row points to: receivers, buffer, first value."""
    lines = ""
    if message.receivers:
        names = ", ".join(message.receivers)
        lines += f"static const MessageIdentifier os_receivers_{message.name}[] = {{ {names} }};\n"
    if message.ctype and message.kind != "SEND":
        lines += of_user(
            f"static {message.ctype} os_buffer_{message.name}[{_items(message)}];\n", message.place
        )
    if message.initial:
        value = f"({message.ctype}){message.initial}ull"
        lines += of_user(
            f"static const {message.ctype} os_initial_{message.name} = {value};\n", message.place
        )
    return lines


def _row(message: Message) -> str:
    sends = message.kind == "SEND"
    line = row(
        message.name,
        {
            "name": string(message.name),
            "kind": f"OS_MESSAGE_{message.kind}",
            "size": f"sizeof({message.ctype})" if message.ctype else 0,
            "num_receivers": len(message.receivers) or None,
            "receivers": f"os_receivers_{message.name}" if message.receivers else None,
            "buffer": f"os_buffer_{message.name}" if message.ctype and not sends else None,
            "length": message.length or None,
            "initial": f"&os_initial_{message.name}" if message.initial else None,
            "filter": None if sends else _filter(message.filter, message),
            "notify": action(message.notify, message.name) if message.notify else None,
        },
    )
    return of_user(line, message.place) if message.ctype else line


def _filter(found: Filter, message: Message) -> str | None:
    if found.kind == "ALWAYS":
        return None
    fields = [f".kind = OS_FILTER_{found.kind}"]
    if message.signed:
        fields.append(".is_signed = true")
    for name, number in found.numbers.items():
        # A number of a signed type is extended, as the kernel compares 64 bits.
        wide = f"(uint64_t)({message.ctype}){number}ull" if message.signed else f"{number}ull"
        fields.append(f".{name} = {wide if name in WIDE else f'{number}u'}")
    return "{ " + ", ".join(fields) + " }"
