# SPDX-License-Identifier: GPL-2.0-only
"""`owner` and `mode` of a channel: the users that may open its device in Linux."""

from __future__ import annotations

from .. import abi
from ..words import shown
from .key import Context, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..nodes import Node

GROUP = "qv"  # owns the devices of channels that say nothing else, if the group exists
RIGHT = "USER, USER:GROUP or :GROUP"
MODES = "a mode such as 0640, in octal, of the bits of 0666"
NUMBER = r"[0-9]{1,9}"


def _id(name: str, look: Callable[[str], int]) -> int | None:
    """Returns the number of a user or group; None: no such user or group exists."""
    if matched(NUMBER, name):
        return int(name)
    try:
        return look(name)
    except KeyError:
        return None


def _user(name: str) -> int | None:
    import pwd

    return _id(name, lambda user: pwd.getpwnam(user).pw_uid)


def _group(name: str) -> int | None:
    import grp

    return _id(name, lambda group: grp.getgrnam(group).gr_gid)


def owner(values: dict[str, Node], context: Context) -> tuple[int, int] | None:
    """Returns user and group of the device. The group that is not said is `qv`, if it exists, else
    that of root."""
    usual = _group(GROUP) or 0
    if "owner" not in values:
        return 0, usual
    node = values["owner"]
    raw = scalar(node, context, RIGHT, ("str", "int"))
    if raw is None:
        return None
    user, colon, group = raw.partition(":")
    if not (user or colon) or (colon and not group):
        context.bad(node, f"`{shown(raw)}` is wrong here", RIGHT)
        return None
    uid, gid = _user(user) if user else 0, _group(group) if group else usual
    for kind, name, number in (("user", user, uid), ("group", group, gid)):
        if number is None:
            context.bad(
                node, f"there is no {kind} `{shown(name)}`", f"a {kind} that exists, or its number"
            )
    return None if uid is None or gid is None else (uid, gid)


def mode(values: dict[str, Node], context: Context) -> int | None:
    if "mode" not in values:
        return abi.CHANNEL_MODE
    node = values["mode"]
    raw = scalar(node, context, MODES, ("int", "str"))
    if raw is None:
        return None
    number = int(raw, 8) if matched(r"0?[0-7]{3}", raw) else 0
    if not number or number & ~0o666:
        context.bad(node, f"{shown(raw)} is wrong here", MODES)
        return None
    return number


def owner_text(uid: int, gid: int) -> str:
    """As `owner` would be written."""
    import grp
    import pwd

    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = str(uid)
    try:
        group = grp.getgrgid(gid).gr_name
    except KeyError:
        group = str(gid)
    return f"{user}:{group}"


def mode_text(bits: int) -> str:
    return f"{bits or abi.CHANNEL_MODE:04o}"
